"""Registry of views, with the traits that outputs and notes check.

Each view has a module of the same name, which is imported when the view is first built, so that
this module does not import numpy.
"""

from __future__ import annotations

from enum import Flag, auto
from typing import NamedTuple


class Trait(Flag):
    """A property of the rows of a view."""

    # Rows are nested below the root, and a total covers a row and the rows below it. Otherwise rows
    # are a flat list, the root is not shown, and a total covers a row and all later rows.
    NESTED = auto()
    GATHERED = auto()  # a row may represent many ops
    CODE = auto()  # rows are the lines of code of `views.code`
    EDGES = auto()  # rows are below the ops that use their outputs
    TIMED = auto()  # rows are single ops, so they can be drawn on a timeline
    MARKS_HIDDEN = auto()  # tables mark hidden ops if `num_hidden_ops` is selected
    ALIGNED = auto()  # tables align the totals of rows in columns, and end with those of the root


class ViewKind(NamedTuple):
    """A view: what its rows and totals are, in a sentence, and its traits."""

    sentence: str
    traits: Trait
    # The module of the view has a function `columns`, which returns what is selected by default,
    # and rows are in the order of its arrangement by default.
    has_own_defaults: bool = False


VIEWS: dict[str, ViewKind] = {
    "scope": ViewKind(
        "Ops by name scope: a scope's total includes everything below it.", Trait.NESTED
    ),
    "graph": ViewKind(
        "Ops by graph structure: an op's total includes the inputs below it.",
        Trait.NESTED | Trait.EDGES | Trait.TIMED | Trait.MARKS_HIDDEN,
    ),
    "code": ViewKind(
        "Ops by the line of code that created them: a line's total includes the calls below it.",
        Trait.NESTED | Trait.GATHERED | Trait.CODE,
    ),
    "op": ViewKind(
        "Ops by kind: own numbers (share of this and all later rows, share of this row).",
        Trait.GATHERED,
    ),
    "layers": ViewKind(
        "Ops by layer of the model: a layer's total includes the layers in it.",
        Trait.NESTED | Trait.GATHERED | Trait.ALIGNED,
        has_own_defaults=True,
    ),
}
