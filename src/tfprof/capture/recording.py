"""Recording what TensorFlow runs, into a folder that appears whole or not at all."""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from pathlib import Path
from types import TracebackType
from typing import Self

from tfprof.capture import recorded_graph
from tfprof.capture.kept_functions import KeptFunctions
from tfprof.errors import CaptureError
from tfprof.frameworks import tensorflow
from tfprof.sources.capture_folder import partial_path


def capture(folder: str | os.PathLike[str]) -> Capture:
    """Record what runs within: `with tfprof.capture("runs/a"): train_step()`."""
    return Capture(folder)


class Capture:
    """A recording through `tf.profiler.experimental`, and the graph of the functions that ran.

    Until it is whole it stands in a folder beside, whose name says so; `tfprof scope FOLDER` and
    `tfprof.load(FOLDER)` read it. `notes` says what it lacks, once it is stopped.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(os.path.abspath(folder))  # noqa: PTH100 -- links are to stay
        self.notes: tuple[str, ...] = ()
        self._partial = partial_path(self.folder)

    def start(self) -> Self:
        """Begin to record; refused where there is something at the folder's place already."""
        tf = tensorflow()
        self._make_room()
        kept = KeptFunctions()
        try:
            tf.profiler.experimental.start(str(self._partial))
        except Exception as error:
            kept.release()
            shutil.rmtree(self._partial, ignore_errors=True)
            raise CaptureError(f"TensorFlow's profiler does not start: {error}") from error
        self._kept = kept
        return self

    def _make_room(self) -> None:
        self.require_room()
        try:
            self._partial.mkdir(parents=True)
        except FileExistsError:
            raise CaptureError(
                f"{self.folder}: somebody records to it, or was ended half-way; if so, remove "
                f"{self._partial}."
            ) from None
        except OSError as error:
            raise CaptureError(f"{self._partial}: cannot be made: {error.strerror}.") from None

    def require_room(self) -> None:
        """Refuse a place where there is something already."""
        try:
            is_free = not self.folder.exists() or not any(self.folder.iterdir())
        except OSError:
            is_free = False
        if not is_free:
            raise CaptureError(
                f"{self.folder}: there is something already; remove it or name another folder."
            )

    def stop(self) -> None:
        """End the recording and put the folder in its place."""
        try:
            tensorflow().profiler.experimental.stop()
            self.notes = recorded_graph.write(self._partial, self._kept)
        except Exception as error:
            raise CaptureError(f"TensorFlow's profiler leaves no recording: {error}") from error
        finally:
            self._kept.release()
        try:
            self._partial.rename(self.folder)
        except OSError as error:
            raise CaptureError(
                f"{self.folder}: cannot be put in place: {error.strerror}; see {self._partial}."
            ) from None

    def warn(self) -> None:
        """Give out `notes` as warnings."""
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
        """What was recorded is kept, whether the block ended well or not."""
        try:
            self.stop()
            self.warn()
        except CaptureError as trouble:
            if error is None:
                raise
            # The program's own error is the one to be seen.
            error.add_note(f"tfprof: {trouble}")


def say(sentence: str) -> None:
    """Print what somebody who records should know."""
    print("tfprof:", sentence, file=sys.stderr)
