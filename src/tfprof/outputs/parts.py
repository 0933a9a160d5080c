"""What an output that writes several files gives for each of them, and what became of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Part(NamedTuple):
    """One of the files: what its name ends in, its bytes, and what is to be said of it.

    What is to be said may only be known once all its bytes are there.
    """

    suffix: str
    pieces: Iterable[bytes]
    notes: Sequence[str] = ()


class Written(NamedTuple):
    """A file that was written, and notes on it."""

    path: str
    notes: Sequence[str] = ()
