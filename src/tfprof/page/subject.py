"""What a page is about."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import PurePath

from tfprof.model.profile import ProfileColumns

# Files whose names start like this are parts of a model, whose name is that of the folder.
_PARTS = ("graph", "run_meta", "tfprof_log", "saved_model", "model.ckpt", "checkpoint", "profile")


@dataclass(frozen=True, slots=True)
class Subject:
    """A profile, its name, and the words of a command that load it."""

    profile: ProfileColumns
    title: str = ""  # defaults to the name of the first file
    words: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The title, or else the name of the first file or of its folder."""
        if self.title or not self.words:
            return self.title or "model"
        path = PurePath(self.words[0])
        return path.parent.name or path.name if path.name.startswith(_PARTS) else path.name

    @property
    def command_words(self) -> str:
        """The words that load the profile, quoted for a shell."""
        return shlex.join(self.words)
