"""The folder of a recording, which is written atomically."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

from tfprof import atomic_files
from tfprof.errors import CaptureError
from tfprof.sources.capture_folder import is_recording, partial_path, replaced_path


class RecordingFolder:
    """A partial folder next to the final one; it is renamed when the recording is complete."""

    def __init__(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        self.path = Path(os.path.abspath(path))  # noqa: PTH100 -- does not resolve links
        self.partial = partial_path(self.path)
        self._overwrites = overwrite

    def make(self) -> None:
        """Make the partial folder; raises CaptureError if the final one is not empty."""
        self._recover()
        self.require_room()
        try:
            self.partial.mkdir(parents=True)
            self._claim = atomic_files.Claim(self.partial)
        except FileExistsError:
            raise CaptureError(
                f"{self.path}: another recording is in progress; if it was interrupted, "
                f"remove {self.partial}."
            ) from None
        except OSError as error:
            raise CaptureError(f"{self.partial}: cannot be created: {error.strerror}.") from None

    def _recover(self) -> None:
        """Undo what a program that was killed left: an unfinished recording, a moved old one."""
        atomic_files.remove_abandoned(self.partial)
        old = replaced_path(self.path)
        if old.is_dir() and not self.path.exists() and not self.partial.exists():
            with suppress(OSError):
                old.rename(self.path)

    def require_room(self) -> None:
        """Raise CaptureError if the folder is not empty, unless it may be overwritten."""
        if self._is_free():
            return
        if not self._overwrites:
            raise CaptureError(
                f"{self.path}: already exists; remove it, choose another folder, or replace it "
                "with --overwrite (in Python: overwrite=True)."
            )
        if not is_recording(self.path):
            raise CaptureError(
                f"{self.path}: is not a recording, or also contains other files; it is not "
                "overwritten. Remove it or choose another folder."
            )

    def _is_free(self) -> bool:
        try:
            return not self.path.exists() or not any(self.path.iterdir())
        except OSError:
            return False

    def discard(self) -> None:
        """Remove the partial folder."""
        self._claim.release()
        shutil.rmtree(self.partial, ignore_errors=True)

    def publish(self) -> None:
        """Move the complete recording to its final place; a recording there is removed."""
        old = replaced_path(self.path)
        try:
            self.require_room()
            if not self._is_free():
                shutil.rmtree(old, ignore_errors=True)  # left by a program that was killed
                self.path.rename(old)
            self._claim.release()
            self.partial.rename(self.path)
        except (OSError, CaptureError) as error:
            if old.is_dir() and not self.path.exists():
                old.rename(self.path)
            problem = getattr(error, "strerror", None) or "it is not empty"
            raise CaptureError(
                f"{self.path}: cannot be written: {problem}; see {self.partial}."
            ) from None
        shutil.rmtree(old, ignore_errors=True)
