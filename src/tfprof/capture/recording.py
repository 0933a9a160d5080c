"""Records what TensorFlow runs, into a folder that is written atomically."""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from tfprof import atomic_files
from tfprof.capture import recorded_graph
from tfprof.capture.kept_functions import KeptFunctions
from tfprof.errors import CaptureError, one_line
from tfprof.frameworks import tensorflow
from tfprof.sources.capture_folder import is_recording, partial_path, replaced_path


def capture(folder: str | os.PathLike[str], *, overwrite: bool = False) -> Capture:
    """Record a block of code: `with tfprof.capture("runs/a"): train_step()`.

    With `overwrite`, a recording that already exists is replaced once the new one is complete.
    """
    return Capture(folder, overwrite=overwrite)


class Capture:
    """A recording by `tf.profiler.experimental`, with the graph of the functions that ran.

    It is written to a partial folder next to `folder`, which is renamed when complete; then
    `tfprof scope FOLDER` and `tfprof.load(FOLDER)` read it. After `stop`, `notes` lists what is
    missing.
    """

    def __init__(self, folder: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        self.folder = Path(os.path.abspath(folder))  # noqa: PTH100 -- does not resolve links
        self.notes: tuple[str, ...] = ()
        self._partial = partial_path(self.folder)
        self._overwrites = overwrite

    def start(self) -> Self:
        """Start recording; raises CaptureError if the folder is not empty."""
        tf = tensorflow()
        self._make_room()
        kept = KeptFunctions()
        try:
            tf.profiler.experimental.start(str(self._partial))
        except Exception as error:
            kept.release()
            self._discard()
            raise CaptureError(f"TensorFlow's profiler cannot be started: {error}") from error
        self._kept = kept
        return self

    def _make_room(self) -> None:
        self._recover()
        self.require_room()
        try:
            self._partial.mkdir(parents=True)
            self._claim = atomic_files.Claim(self._partial)
        except FileExistsError:
            raise CaptureError(
                f"{self.folder}: another recording is in progress; if it was interrupted, "
                f"remove {self._partial}."
            ) from None
        except OSError as error:
            raise CaptureError(f"{self._partial}: cannot be created: {error.strerror}.") from None

    def _recover(self) -> None:
        """Undo what a program that was killed left: an unfinished recording, a moved old one."""
        atomic_files.remove_abandoned(self._partial)
        old = replaced_path(self.folder)
        if old.is_dir() and not self.folder.exists() and not self._partial.exists():
            with suppress(OSError):
                old.rename(self.folder)

    def require_room(self) -> None:
        """Raise CaptureError if the folder is not empty, unless it may be overwritten."""
        if self._is_free():
            return
        if not self._overwrites:
            raise CaptureError(
                f"{self.folder}: already exists; remove it, choose another folder, or replace it "
                "with --overwrite (in Python: overwrite=True)."
            )
        if not is_recording(self.folder):
            raise CaptureError(
                f"{self.folder}: is not a recording, or also contains other files; it is not "
                "overwritten. Remove it or choose another folder."
            )

    def _is_free(self) -> bool:
        try:
            return not self.folder.exists() or not any(self.folder.iterdir())
        except OSError:
            return False

    def stop(self) -> None:
        """Stop recording and move the folder to its final place."""
        try:
            tensorflow().profiler.experimental.stop()
            self.notes = recorded_graph.write(self._partial, self._kept)
        except BaseException as error:
            self._discard()
            if not isinstance(error, Exception):  # such as Ctrl-C
                raise
            raise CaptureError(f"TensorFlow's profiler wrote no recording: {error}") from error
        finally:
            self._kept.release()
        self._publish()

    def _discard(self) -> None:
        self._claim.release()
        shutil.rmtree(self._partial, ignore_errors=True)

    def _publish(self) -> None:
        """Move the complete recording to its final place; a recording there is removed."""
        old = replaced_path(self.folder)
        try:
            self.require_room()
            if not self._is_free():
                shutil.rmtree(old, ignore_errors=True)  # left by a program that was killed
                self.folder.rename(old)
            self._claim.release()
            self._partial.rename(self.folder)
        except (OSError, CaptureError) as error:
            if old.is_dir() and not self.folder.exists():
                old.rename(self.folder)
            problem = getattr(error, "strerror", None) or "it is not empty"
            raise CaptureError(
                f"{self.folder}: cannot be written: {problem}; see {self._partial}."
            ) from None
        shutil.rmtree(old, ignore_errors=True)

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


def report(message: str) -> None:
    """Print a message to standard error."""
    print("tfprof:", one_line(message), file=sys.stderr)
