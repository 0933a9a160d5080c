"""Runs a program as Python would, and records what TensorFlow or PyTorch does in it.

Recording starts after the program has imported the framework, so that settings it makes before the
import, such as environment variables, take effect.
"""

from __future__ import annotations

import runpy
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from tfprof.capture import keras_layers
from tfprof.capture.kept_functions import watch_layers
from tfprof.capture.recording import RECORDERS, Capture, first_imported, report
from tfprof.capture.torch_steps import OptimizerSteps
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
        """Run it to its end.

        Python makes `__file__` absolute, because the program may change its folder. `runpy` makes
        the first entry of `sys.argv` the same.
        """
        runpy.run_path(str(Path.cwd() / self.path), run_name="__main__")


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


class Window(NamedTuple):
    """The steps of a PyTorch program to record; `recorded` 0 is all after the skipped ones."""

    skipped: int = 0
    recorded: int = 0


ALL_STEPS = Window()


def run(
    program: Script | Module,
    arguments: Sequence[str],
    folder: str = "",
    *,
    overwrite: bool = False,
    all_threads: bool = False,
    window: Window = ALL_STEPS,
) -> int:
    """Run and record a program with its arguments; returns the exit status of the program.

    `folder` defaults to the name of the program: `train.capture` for `train.py`.
    """
    program.require()
    make = partial(
        Capture,
        folder or f"{program.label}.capture",
        overwrite=overwrite,
        all_threads=all_threads,
    )
    make().require_room()
    trigger = _Trigger(make, window)
    sys.meta_path.insert(0, trigger)
    try:
        status = _run(program, arguments)
    finally:
        sys.meta_path.remove(trigger)
        _finish(trigger, program.path)
    return status


def _finish(trigger: _Trigger, program: str) -> None:
    """Finish the recording; problems are only reported, to keep the program's exit status."""
    capture = trigger.finish()
    for problem in trigger.problems:
        report(problem)
    if capture is None:
        if not trigger.problems:
            report(f"{program} imported neither TensorFlow nor PyTorch: nothing was recorded.")
        return
    for note in capture.notes:
        report(note)
    report(f"wrote {capture.folder}; to view it: tfprof layers {capture.folder}")


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
    # An error in the syntax of the program itself has no frame.
    trace = None if isinstance(error, SyntaxError) else error.__traceback__
    inner = error.__traceback__
    while inner is not None and inner.tb_frame.f_globals.get("__name__") != "__main__":
        inner = inner.tb_next
    if inner is None and isinstance(program, Module) and isinstance(error, ImportError):
        report(str(error))  # there is no such module
    else:
        traceback.print_exception(type(error), error, inner or trace)


class _Trigger(MetaPathFinder):
    """Starts recording once a framework has been imported, and watches layers once Keras has."""

    def __init__(self, make: Callable[..., Capture], window: Window) -> None:
        self.problems: list[str] = []
        self._make, self._window = make, window
        self._capture: Capture | None = None  # the one in progress, or complete
        self._steps: OptimizerSteps | None = None
        self._is_triggered = False
        self._actions: dict[str, Callable[[], None]] = {
            name: partial(self._start, name) for name in RECORDERS
        }
        self._actions[keras_layers.MODULE] = watch_layers
        for name in RECORDERS:
            if name in sys.modules:
                self._start(name)

    def _start(self, framework: str) -> None:
        """Start recording; an error must not stop the program, so it is kept in `problems`."""
        if self._is_triggered or framework != first_imported():
            return
        self._is_triggered = True
        with self._kept_problems():
            if framework == "torch" and self._window != ALL_STEPS:
                first, count = self._window
                capture = self._make(framework=framework, first_step=first)
                self._steps = OptimizerSteps(capture, first, first + count if count else 0)
                return
            if self._window != ALL_STEPS:
                self.problems.append(
                    "`skip_steps` and `steps` apply to PyTorch; all steps were recorded."
                )
            self._capture = self._make(framework=framework).start()

    def finish(self) -> Capture | None:
        """The complete recording, if there is one."""
        with self._kept_problems():
            if self._steps is not None:
                return self._steps.finish()
            if self._capture is not None:
                self._capture.stop()
                return self._capture
        return None

    @contextmanager
    def _kept_problems(self) -> Iterator[None]:
        try:
            yield
        except CaptureError as error:
            self.problems.append(str(error))

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
