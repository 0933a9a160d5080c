"""Running a program as Python would, and recording what TensorFlow does in it.

The recording begins when the program has imported TensorFlow: what it says to TensorFlow before
that, in the environment for instance, is to count.
"""

from __future__ import annotations

import runpy
import sys
import traceback
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

from tfprof.capture.recording import Capture, say
from tfprof.errors import CaptureError, OptionError

_INTERRUPTED = 130


def run(script: str, arguments: Sequence[str], folder: str = "") -> int:
    """Run `script` with its arguments and record it; the exit status is that of the program.

    Without a word the folder is that of the script's name, `train.capture` for `train.py`.
    """
    if not Path(script).is_file():
        raise OptionError(f"{script}: no such program; name a file of Python: tfprof run train.py.")
    capture = Capture(folder or f"{Path(script).stem}.capture")
    capture.require_room()
    trigger = _Trigger(capture)
    sys.meta_path.insert(0, trigger)
    try:
        status = _run(script, arguments)
    finally:
        sys.meta_path.remove(trigger)
        _finish(trigger, script)
    return status


def _finish(trigger: _Trigger, script: str) -> None:
    """Put the recording in place; trouble with it is said, as the program's own end comes first."""
    if not trigger.has_started:
        say(trigger.trouble or f"{script} did not import TensorFlow: nothing was recorded.")
        return
    try:
        trigger.capture.stop()
    except CaptureError as error:
        say(str(error))
        return
    for note in trigger.capture.notes:
        say(note)
    say(f"wrote {trigger.capture.folder}; ask it: tfprof scope {trigger.capture.folder}")


def _run(script: str, arguments: Sequence[str]) -> int:
    """Run a program as `python script` does, with its words, its path and its name."""
    before = sys.argv, sys.path
    sys.argv = [script, *arguments]
    sys.path = [str(Path(script).resolve().parent), *sys.path]
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as ended:
        return _status(ended.code)
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BaseException as error:  # noqa: BLE001 -- whatever ended the program is shown
        _show(error, script)
        return 1
    finally:
        sys.argv, sys.path = before
    return 0


def _status(code: Any) -> int:
    """The exit status that Python makes of what a program gave to `sys.exit`."""
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF
    print(code, file=sys.stderr)
    return 1


def _show(error: BaseException, script: str) -> None:
    """Print the error as Python would, from the program's own first line on."""
    trace = error.__traceback__
    inner = trace
    while inner is not None and inner.tb_frame.f_code.co_filename != script:
        inner = inner.tb_next
    traceback.print_exception(type(error), error, inner or trace)


class _Trigger(MetaPathFinder):
    """Begins to record as soon as TensorFlow has been imported."""

    def __init__(self, capture: Capture) -> None:
        self.capture = capture
        self.has_started = False
        self.trouble = ""
        if "tensorflow" in sys.modules:
            self.start()

    def start(self) -> None:
        """Begin to record; a program is not to fail because it cannot be recorded."""
        try:
            self.capture.start()
            self.has_started = True
        except CaptureError as error:
            self.trouble = str(error)

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != "tensorflow" or self.has_started:
            return None
        others = [finder for finder in sys.meta_path if finder is not self]
        for finder in others:
            if (spec := finder.find_spec(name, path, target)) is not None:
                if spec.loader is not None:
                    spec.loader = _Started(spec.loader, self)
                return spec
        return None


class _Started(Loader):
    """Loads as another loader does, and then says so."""

    def __init__(self, loader: Loader, trigger: _Trigger) -> None:
        self._loader, self._trigger = loader, trigger

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        self._trigger.start()

    def __getattr__(self, name: str) -> Any:
        """What else the other loader can do, such as reading the package's files."""
        return getattr(self._loader, name)
