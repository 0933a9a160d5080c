"""Records what PyTorch runs, with the modules that ran."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tfprof.capture import torch_modules
from tfprof.capture.torch_events import PythonEvents, python_events
from tfprof.capture.torch_live import LiveModules
from tfprof.capture.torch_threads import UnrecordedThreads
from tfprof.errors import CaptureError
from tfprof.frameworks import torch
from tfprof.model.notes import Note, Subject
from tfprof.sources import torch_modules_file
from tfprof.sources.capture_folder import MODULES, TRACE
from tfprof.sources.kineto.belonging import STEP_END
from tfprof.units import counted, format_bytes

_LARGE = 1 << 29  # bytes of a trace
_RUNS = Subject.OPS | Subject.TIME | Subject.MEMORY | Subject.FLOAT_OPS
_LEVEL = 3  # of gzip: higher ones take several times as long for a few percent


class Recorder:
    """A recording by `torch.profiler`, with shapes, Python calls and allocations.

    The profiler records either all threads or allocations.
    """

    title = "PyTorch"

    def __init__(self, *, all_threads: bool, usual_step_ns: int) -> None:
        self._torch = torch()
        self._usual_step_ns = usual_step_ns
        self._records_all_threads = all_threads

    def start(self, folder: Path) -> None:  # noqa: ARG002 -- it is written at the end
        """Start recording."""
        if self._torch.autograd.profiler._is_profiler_enabled:  # noqa: SLF001 -- not public
            raise CaptureError(
                "PyTorch's profiler is already running; record the program without it."
            )
        profile = self._torch.profiler.profile(
            record_shapes=True,
            with_stack=True,
            profile_memory=True,
            experimental_config=self._all_threads() if self._records_all_threads else None,
        )
        self._live = LiveModules()
        self._threads = UnrecordedThreads()
        try:
            profile.start()
        except BaseException:
            self._release()
            raise
        self._profile = profile

    def step(self, number: int) -> None:
        """Mark the end of a step."""
        with self._torch.profiler.record_function(f"{STEP_END}{number}"):
            pass

    def stop(self, folder: Path) -> tuple[str, ...]:
        """Stop recording and write the trace and the modules; returns what to know about them."""
        try:
            self._profile.stop()
            found = torch_modules.recorded(self._live, self._events())
        finally:
            self._release()
        found = found._replace(
            notes=[*found.notes, *self._on_threads()], usual_step_ns=self._usual_step_ns
        )
        size = self._write_trace(folder / TRACE)
        (folder / MODULES).write_bytes(torch_modules_file.encoded(found))
        notes = list(map(str, found.notes))
        if size > _LARGE:
            notes.append(
                f"the trace has {format_bytes(size)}; record only a few steps, after the first "
                "ones."
            )
        return tuple(notes)

    def _release(self) -> None:
        self._live.release()
        self._threads.release()

    def _on_threads(self) -> Iterator[Note]:
        """What is missing if the program computed in threads that it started meanwhile.

        The profiler notes Python calls only in threads that exist when it starts.
        """
        count = self._threads.count
        if not count:
            return
        if self._records_all_threads:
            threads = counted(count, "thread that ran ops", "threads that ran ops")
            yield Note(
                f"{threads} started during the recording: the modules, parameters and code lines "
                "of these ops are unknown; start the threads before.",
                _RUNS | Subject.PARAMS | Subject.CODE,
            )
        else:
            threads = counted(count, "thread that ran ops was", "threads that ran ops were")
            yield Note(
                f"{threads} not recorded; all_threads=True (tfprof run --all_threads) records "
                "them, without allocations.",
                _RUNS,
            )

    def _all_threads(self) -> Any:
        """The setting that records all threads."""
        try:
            config = self._torch._C._profiler._ExperimentalConfig  # noqa: SLF001 -- not public yet
            return config(profile_all_threads=True)
        except (AttributeError, TypeError):
            raise CaptureError(
                "this version of PyTorch cannot record all threads; record one, or update it."
            ) from None

    def _events(self) -> PythonEvents:
        results: Any = self._profile.profiler.kineto_results
        types = self._torch._C._profiler._EventType  # noqa: SLF001 -- there is no public one
        return python_events(results.experimental_event_tree(), types)

    def _write_trace(self, path: Path) -> int:
        """Write the trace, compressed; returns its size before."""
        plain = path.with_suffix("")
        self._profile.export_chrome_trace(str(plain))
        with plain.open("rb") as source, gzip.open(path, "wb", compresslevel=_LEVEL) as target:
            shutil.copyfileobj(source, target, 1 << 20)
        size = plain.stat().st_size
        plain.unlink()
        return size
