"""Runs a program as Python would, and records what TensorFlow does in it.

Recording starts after the program has imported TensorFlow, so that settings it makes before the
import, such as environment variables, take effect.
"""

from __future__ import annotations

import runpy
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import FrameType, ModuleType
from typing import Any

from tfprof.capture import keras_layers
from tfprof.capture.kept_functions import watch_layers
from tfprof.capture.recording import Capture, report
from tfprof.errors import CaptureError, OptionError

_INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class Script:
    """A Python file, run as `python FILE` does."""

    path: str

    @property
    def label(self) -> str:
        """Its name without folder and suffix."""
        return Path(self.path).stem

    @property
    def search_path(self) -> str:
        """The first entry of `sys.path` while it runs."""
        return str(Path(self.path).resolve().parent)

    def require(self) -> None:
        """Raise OptionError if there is no such file."""
        if not Path(self.path).is_file():
            raise OptionError(
                f"{self.path}: no such program; name a Python file: tfprof run train.py."
            )

    def start(self) -> None:
        """Run it to its end."""
        runpy.run_path(self.path, run_name="__main__")

    def contains(self, frame: FrameType) -> bool:
        """Whether the code of a frame is in this file."""
        return frame.f_code.co_filename == self.path


@dataclass(frozen=True, slots=True)
class Module:
    """A module, run as `python -m MODULE` does."""

    path: str

    @property
    def label(self) -> str:
        """Its name without its packages."""
        return self.path.rpartition(".")[2]

    @property
    def search_path(self) -> str:
        """The first entry of `sys.path` while it runs."""
        return str(Path.cwd())

    def require(self) -> None:
        """Modules are only searched for when they run, because this imports their packages."""

    def start(self) -> None:
        """Run it to its end; its file becomes the first entry of `sys.argv`."""
        runpy.run_module(self.path, run_name="__main__", alter_sys=True)

    def contains(self, frame: FrameType) -> bool:
        """Whether a frame belongs to the program, not to tfprof or `runpy`."""
        return frame.f_globals.get("__name__") == "__main__"


def run(
    program: Script | Module, arguments: Sequence[str], folder: str = "", *, overwrite: bool = False
) -> int:
    """Run and record a program with its arguments; returns the exit status of the program.

    `folder` defaults to the name of the program: `train.capture` for `train.py`.
    """
    program.require()
    capture = Capture(folder or f"{program.label}.capture", overwrite=overwrite)
    capture.require_room()
    trigger = _Trigger(capture)
    sys.meta_path.insert(0, trigger)
    try:
        status = _run(program, arguments)
    finally:
        sys.meta_path.remove(trigger)
        _finish(trigger, program.path)
    return status


def _finish(trigger: _Trigger, program: str) -> None:
    """Finish the recording; problems are only reported, to keep the program's exit status."""
    if not trigger.has_started:
        report(trigger.problem or f"{program} did not import TensorFlow: nothing was recorded.")
        return
    try:
        trigger.capture.stop()
    except CaptureError as error:
        report(str(error))
        return
    for note in trigger.capture.notes:
        report(note)
    report(f"wrote {trigger.capture.folder}; to view it: tfprof layers {trigger.capture.folder}")


def _run(program: Script | Module, arguments: Sequence[str]) -> int:
    """Run a program as Python does, with its own `argv`, `path` and `__name__`."""
    before = sys.argv, sys.path
    sys.argv = [program.path, *arguments]
    sys.path = [program.search_path, *sys.path]
    try:
        program.start()
    except SystemExit as ended:
        return _status(ended.code)
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BaseException as error:  # noqa: BLE001 -- any error is shown
        _show(error, program)
        return 1
    finally:
        sys.argv, sys.path = before
    return 0


def _status(code: Any) -> int:
    """The exit status that Python derives from the argument of `sys.exit`."""
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF
    print(code, file=sys.stderr)
    return 1


def _show(error: BaseException, program: Script | Module) -> None:
    """Print the error as Python would, from the first frame of the program on."""
    trace = error.__traceback__
    inner = trace
    while inner is not None and not program.contains(inner.tb_frame):
        inner = inner.tb_next
    if inner is None and isinstance(program, Module) and isinstance(error, ImportError):
        report(str(error))  # there is no such module
    else:
        traceback.print_exception(type(error), error, inner or trace)


class _Trigger(MetaPathFinder):
    """Starts recording once TensorFlow has been imported, and watches layers once Keras has."""

    def __init__(self, capture: Capture) -> None:
        self.capture = capture
        self.has_started = False
        self.problem = ""
        self._actions = {"tensorflow": self.start, keras_layers.MODULE: watch_layers}
        if "tensorflow" in sys.modules:
            self.start()

    def start(self) -> None:
        """Start recording; an error must not stop the program, so it is kept in `problem`."""
        if self.has_started:
            return
        try:
            self.capture.start()
            self.has_started = True
        except CaptureError as error:
            self.problem = str(error)

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        action = self._actions.get(name)
        if action is None:
            return None
        others = [finder for finder in sys.meta_path if finder is not self]
        for finder in others:
            if (spec := finder.find_spec(name, path, target)) is not None:
                if spec.loader is not None:
                    spec.loader = _TriggeringLoader(spec.loader, action)
                return spec
        return None


class _TriggeringLoader(Loader):
    """Wraps a loader, and does something once it has loaded the module."""

    def __init__(self, loader: Loader, action: Callable[[], None]) -> None:
        self._loader, self._action = loader, action

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        self._action()

    def __getattr__(self, name: str) -> Any:
        """Delegate everything else, such as reading package files, to the wrapped loader."""
        return getattr(self._loader, name)
