"""Records what a program runs, into a folder that is written atomically."""

from __future__ import annotations

import os
import sys
import warnings
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn, Protocol, Self

from tfprof.capture import torch_ranks
from tfprof.capture.recording_folder import RecordingFolder
from tfprof.errors import CaptureError, OptionError, one_line

# The frameworks whose programs can be recorded, and the modules that do it.
RECORDERS = {
    "tensorflow": "tfprof.capture.tensorflow_recorder",
    "torch": "tfprof.capture.torch_recorder",
}
AUTO = "auto"


class Recorder(Protocol):
    """Records programs of one framework; a module of `RECORDERS` has a class of this name."""

    title: str

    def __init__(self, *, all_threads: bool, usual_step_ns: int) -> None: ...

    def start(self, folder: Path) -> None:
        """Start recording to a folder."""

    def step(self, number: int) -> None:
        """Mark the end of a step."""

    def stop(self, folder: Path) -> tuple[str, ...]:
        """Stop recording and write the rest; returns what is missing from the recording."""


def capture(
    folder: str | os.PathLike[str],
    *,
    overwrite: bool = False,
    framework: str = AUTO,
    all_threads: bool = False,
) -> Capture:
    """Record a block of code: `with tfprof.capture("runs/a"): train_step()`.

    With `overwrite`, a recording that already exists is replaced once the new one is complete.
    `framework` is `tensorflow` or `torch`; by default the one that the program imported, or if it
    imported both, the one that it imported first. PyTorch records this thread and the backward
    pass; with `all_threads` every thread, but no allocations.
    """
    return Capture(folder, overwrite=overwrite, framework=framework, all_threads=all_threads)


class Capture:
    """A recording by the profiler of TensorFlow or PyTorch, with a description of the model.

    It is written to a partial folder next to `folder`, which is renamed when complete; then
    `tfprof scope FOLDER` and `tfprof.load(FOLDER)` read it. After `stop`, `notes` lists what is
    missing. Each rank of a distributed PyTorch program writes a folder inside `folder`.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        overwrite: bool = False,
        framework: str = AUTO,
        all_threads: bool = False,
        first_step: int = 0,
    ) -> None:
        if framework not in (AUTO, *RECORDERS):
            raise OptionError(
                f"`framework` must be {', '.join(RECORDERS)} or {AUTO}, not {framework!r}."
            )
        self.folder = Path(os.path.abspath(folder))  # noqa: PTH100 -- does not resolve links
        self.notes: tuple[str, ...] = ()
        self.usual_step_ns = 0  # how long a step takes that is not recorded, 0 if unknown
        self._overwrites = overwrite
        self._framework = framework
        self._all_threads = all_threads
        self._step = first_step
        self._recorder: Recorder | None = None

    def require_room(self) -> None:
        """Raise CaptureError if the folder is not empty, unless it may be overwritten."""
        self._place().require_room()

    def _place(self) -> RecordingFolder:
        """The folder to write to: each rank of a PyTorch program has its own."""
        part = "" if self._framework == "tensorflow" else torch_ranks.part()
        return RecordingFolder(self.folder / part, overwrite=self._overwrites)

    def start(self) -> Self:
        """Start recording; raises CaptureError if the folder is not empty."""
        name = first_imported() if self._framework == AUTO else self._framework
        make = import_module(RECORDERS[name]).Recorder
        recorder: Recorder = make(all_threads=self._all_threads, usual_step_ns=self.usual_step_ns)
        self._folder = self._place()
        self._folder.make()
        try:
            recorder.start(self._folder.partial)
        except BaseException as error:  # noqa: BLE001 -- raised again
            self._folder.discard()
            _raise(error, f"{recorder.title}'s profiler cannot be started")
        self._recorder = recorder
        return self

    def step(self) -> None:
        """Mark the end of a step of a PyTorch program; steps are counted from 0."""
        if self._recorder is None:
            raise CaptureError("`step` was called outside of a recording; start it first.")
        self._recorder.step(self._step)
        self._step += 1

    def stop(self) -> None:
        """Stop recording and move the folder to its final place."""
        recorder, self._recorder = self._recorder, None
        if recorder is None:
            raise CaptureError("`stop` was called outside of a recording; start it first.")
        try:
            self.notes = recorder.stop(self._folder.partial)
        except BaseException as error:  # noqa: BLE001 -- raised again
            self._folder.discard()
            _raise(error, f"{recorder.title}'s profiler wrote no recording")
        self._folder.publish()

    def warn(self) -> None:
        """Issue `notes` as warnings."""
        for note in self.notes:
            warnings.warn(f"tfprof: {note}", stacklevel=3)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Keep the recording even if the block raised an error."""
        try:
            self.stop()
            self.warn()
        except CaptureError as problem:
            if error is None:
                raise
            # Do not hide the program's own error.
            error.add_note(f"tfprof: {problem}")


def first_imported() -> str:
    """The framework that the program imported first; TensorFlow if it imported none."""
    modules: dict[str, Any] = dict(sys.modules)
    found = [name for name in modules if name in RECORDERS and modules[name] is not None]
    return found[0] if found else "tensorflow"


def _raise(error: BaseException, trouble: str) -> NoReturn:
    """Raise an error as `CaptureError`; Ctrl-C and the like stay what they are."""
    if isinstance(error, CaptureError) or not isinstance(error, Exception):
        raise error
    raise CaptureError(f"{trouble}: {error}") from error


def report(message: str) -> None:
    """Print a message to standard error."""
    print("tfprof:", one_line(message), file=sys.stderr)
