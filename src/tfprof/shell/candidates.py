"""Ways to go on with a line, and those that are words of a list or files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from itertools import islice
from typing import NamedTuple

# More than these nobody looks through; what is typed next narrows them down.
MOST = 200
_MOST_FILES = 10_000


class Candidate(NamedTuple):
    """One way to go on: what it puts into the line, how a menu shows it, what it means."""

    text: str
    shown: str
    meaning: str = ""


class Found(NamedTuple):
    """Candidates, each of them in place of `typed`, which ends the line before the cursor."""

    typed: str
    candidates: list[Candidate]


def words(typed: str, known: Mapping[str, str], end: str = " ") -> Found:
    """The known words that begin so, with their meaning, each with `end` behind it."""
    fitting = ((word, meaning) for word, meaning in known.items() if word.startswith(typed))
    return Found(typed, [Candidate(word + end, word, meaning) for word, meaning in fitting])


def paths(typed: str) -> Found:
    """The files and folders that begin so; those with spaces cannot be written in a line."""
    folder, name = os.path.split(typed)
    try:
        with os.scandir(os.path.expanduser(folder) or ".") as entries:  # noqa: PTH111 -- text
            fitting = sorted(
                entry.name + "/" * entry.is_dir()
                for entry in islice(entries, _MOST_FILES)
                if entry.name.startswith(name) and _is_offered(entry.name, name)
            )
    except (OSError, ValueError):  # no such folder, or no such name of one
        return Found(typed, [])
    return Found(name, [Candidate(found, found) for found in fitting[:MOST]])


def _is_offered(found: str, typed: str) -> bool:
    is_hidden = found.startswith(".") and not typed
    return not is_hidden and not any(map(str.isspace, found))
