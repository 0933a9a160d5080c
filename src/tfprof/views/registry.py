"""Table of views, and the traits by which outputs and notes treat their rows.

The module of a view has its name and is imported when the view is first built: the table needs no
numpy.
"""

from __future__ import annotations

from enum import Flag, auto
from typing import NamedTuple


class Trait(Flag):
    """What holds for the rows of a view."""

    # Rows are within each other, below the root, and a total covers the rows below. Without it
    # rows are side by side, the root is not shown, and a total covers a row and all after it.
    NESTED = auto()
    GATHERED = auto()  # a row may stand for many ops
    CODE = auto()  # rows are the lines of code of `views.code`
    TIMED = auto()  # rows are single ops, which can be drawn when they ran
    MARKS_HIDDEN = auto()  # tables show where ops are hidden, if `num_hidden_ops` is selected


class ViewKind(NamedTuple):
    """One row of the table."""

    sentence: str  # what its rows and their totals are
    traits: Trait


VIEWS: dict[str, ViewKind] = {
    "scope": ViewKind(
        "Ops by name scope: a scope's total holds everything below it.", Trait.NESTED
    ),
    "graph": ViewKind(
        "Ops by what feeds them: an op's total holds its inputs below it.",
        Trait.NESTED | Trait.TIMED | Trait.MARKS_HIDDEN,
    ),
    "code": ViewKind(
        "Ops by the line of code that made them: a line's total holds the calls below it.",
        Trait.NESTED | Trait.GATHERED | Trait.CODE,
    ),
    "op": ViewKind(
        "Ops by kind: own numbers, with the share from this row to the last, and the row's own.",
        Trait.GATHERED,
    ),
}
