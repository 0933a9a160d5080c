"""Completion candidates, and how to find them among known words and files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from itertools import islice
from typing import NamedTuple

# A longer menu would not help; typing more narrows the candidates down.
MAX_CANDIDATES = 200
_MAX_FILES_READ = 10_000


class Candidate(NamedTuple):
    """One completion: the text it inserts, its label in a menu and its meaning."""

    text: str
    shown: str
    meaning: str = ""


class Found(NamedTuple):
    """Candidates that replace `typed`, the text just before the cursor."""

    typed: str
    candidates: list[Candidate]


def words(typed: str, known: Mapping[str, str], end: str = " ") -> Found:
    """The `known` words that start with `typed`; `end` is appended to each.

    `known` maps each word to its meaning.
    """
    matching = ((word, meaning) for word, meaning in known.items() if word.startswith(typed))
    return Found(typed, [Candidate(word + end, word, meaning) for word, meaning in matching])


def paths(typed: str) -> Found:
    """The files and folders that start with `typed`, except names with spaces.

    The shell splits lines at spaces, so such names cannot be typed.
    """
    folder, name = os.path.split(typed)
    try:
        with os.scandir(os.path.expanduser(folder) or ".") as entries:  # noqa: PTH111 -- text
            matching = sorted(
                entry.name + "/" * entry.is_dir()
                for entry in islice(entries, _MAX_FILES_READ)
                if entry.name.startswith(name) and _is_offered(entry.name, name)
            )
    except (OSError, ValueError):  # no such folder, or an invalid name
        return Found(typed, [])
    return Found(name, [Candidate(found, found) for found in matching[:MAX_CANDIDATES]])


def _is_offered(found: str, typed: str) -> bool:
    is_hidden = found.startswith(".") and not typed
    return not is_hidden and not any(map(str.isspace, found))
