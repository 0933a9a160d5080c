"""The data of a report: everything the page shows, in sections."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from tfprof.model.profile import ProfileColumns
from tfprof.options import VIEW_OPTIONS
from tfprof.page import numbers, views
from tfprof.version import __version__

SCHEMA = "tfprof/report/1"

# Files with these endings are part of a model, whose name is that of the folder.
_PARTS = frozenset((".gz", ".pb", ".pbtxt", ""))


@dataclass(frozen=True, slots=True)
class Subject:
    """What a report is about: a profile, its name, and the words of a command that load it."""

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
        return path.parent.name or path.name if path.suffix in _PARTS else path.name

    @property
    def command_words(self) -> str:
        """The words that load the profile, quoted for a shell."""
        return shlex.join(self.words)


def content(subject: Subject) -> dict[str, Any]:
    """All sections of a report; `static/types.d.ts` describes them."""
    profile = subject.profile
    built = views.build_views(profile)
    metrics = views.numbers_of(profile)
    return {
        "schema": SCHEMA,
        "version": __version__,
        "title": subject.name,
        "words": subject.command_words,
        "facts": numbers.facts(profile),
        "notes": list(subject.notes),
        "cards": list(numbers.cards(profile, subject.command_words)),
        "bar": None,
        "metrics": views.metrics(profile),
        "ops": views.ops(profile, built),
        "views": {kind: views.section(view, metrics) for kind, view in built.items()},
        "graph": None,
        "timeline": None,
        "memory": None,
        "advice": {"findings": [], "quiet": [], "notes": []},
        "missing": {},
        "options": [
            {"name": option.name, "value": str(option.default), "help": option.help}
            for option in VIEW_OPTIONS.values()
        ],
    }
