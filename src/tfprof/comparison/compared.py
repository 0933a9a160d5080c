"""The answer to a comparison: one view of both profiles, and what changed as a whole."""

from __future__ import annotations

from dataclasses import dataclass

from tfprof.comparison.diff import DiffView
from tfprof.comparison.summary import DiffSummary


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """A view of two profiles, with the words of a command that load each of them."""

    view: DiffView
    summary: DiffSummary
    base: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    unchanged: bool = False  # show rows without change too
    notes: tuple[str, ...] = ()
