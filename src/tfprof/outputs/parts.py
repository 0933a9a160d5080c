"""The files that an output format produces, before and after writing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Part(NamedTuple):
    """A file to write: the suffix of its name, its bytes, and notes for the user.

    Read `notes` after the last of `pieces`; a format may fill them in while it encodes.
    """

    suffix: str
    pieces: Iterable[bytes]
    notes: Sequence[str] = ()


class Written(NamedTuple):
    """The path of a written file, and notes about it."""

    path: str
    notes: Sequence[str] = ()
