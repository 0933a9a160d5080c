"""The answer to a question: rows with their own and total numbers, and what is hidden."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import NamedTuple, Protocol

import numpy as np

from tfprof.columns import Bools, Floats, Ints, Ragged, Strings, offsets_of
from tfprof.errors import OptionError
from tfprof.measures.numbers import Numbers, in_parts, per_op
from tfprof.model.profile import ProfileColumns
from tfprof.model.recordings import ALL_STEPS, USUAL_STEPS, Chosen
from tfprof.options import EVERY_STEP, MemoryOptions, Options, RankOptions, StepOptions
from tfprof.views.registry import Trait
from tfprof.views.tree import Tree

ROOT_NAME = "_TFProfRoot"

# The types whose values a table shows; other types are only in messages and JSON.
TABLE_VALUE_TYPES = frozenset({"float32", "float64", "int32", "int64", "string"})

# Only files that were made to do harm have more bytes of names and indentation.
_MOST_PRINTED = 1 << 32
_MANY_LEVELS, _INDENT = 1000, 2


@dataclass(frozen=True, slots=True, eq=False)
class Hidden:
    """The ops that are accounted for but not shown: how many, and the sums of their numbers."""

    ops: int
    numbers: Mapping[str, int]


class Counted(NamedTuple):
    """The ops that count towards totals, and for each the lowest row shown that contains it."""

    op: Ints
    row: Ints


class Trail(Protocol):
    """Why rows are not shown; see `views/select.py`."""

    @property
    def names(self) -> Strings:
        """The names of all rows that there could be, except the root."""

    @property
    def recounts(self) -> bool:
        """Whether totals cover only the rows shown."""

    def too_deep(self) -> Ints:
        """The depths of the rows that only `max_depth` hides."""

    def unreached(self) -> dict[str, tuple[int, str]]:
        """For each threshold that no row reaches, the largest number and the name of its row."""

    def unmatched(self, option: str) -> list[str]:
        """The regexes of an option for names that match no row."""

    def hidden_by_name(self) -> int:
        """The number of rows that `hide_name_regexes` hides."""


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """Rows in the order in which they are shown, the root first, each followed by those below it.

    `members` are the ops of each row: at most one unless the view gathers ops, and none for a row
    that only groups others. `kind` is just a label; code that handles rows checks `traits`.
    """

    kind: str
    traits: Trait
    profile: ProfileColumns
    options: Options
    tree: Tree
    name: Strings
    own_type: str | None  # the type of rows without an op
    is_accounted: Bools
    members: Ragged
    own: Numbers
    total: Numbers
    hidden: Hidden
    arranged: Ints  # the row of the view's arrangement that each row is
    counted: Callable[[], Counted]  # computes which ops count towards totals
    totals_of: Callable[[Ints], Ints]  # the totals of rows for any number, given per op
    layer: Ints | None = None  # the layer that each row is, -1 for other rows; None in other views
    # The most memory that each row of the arrangement held at one time, -1 if unknown; None in
    # views without this number.
    held: Callable[[], Ints] | None = None
    skipped: Ints | None = None  # the hidden rows between each row and its parent, if requested
    left_out: frozenset[str] = frozenset()  # metrics whose columns a table leaves out
    trail: Trail | None = None  # why other rows are not shown
    noted: Callable[[], tuple[str, ...]] = tuple  # computes `notes`

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know about the answer; computed when it is first read."""
        return self.noted()

    def __len__(self) -> int:
        return len(self.name)

    @property
    def is_gathered(self) -> bool:
        """Whether a row may represent many ops."""
        return Trait.GATHERED in self.traits

    def op_numbers(self, key: str) -> Ints:
        """The number `key` of every op of the profile, in the chosen steps."""
        return per_op(self.profile, chosen_by(self.options))[key]

    def runs(self, parts: Ints) -> Ints | Floats:
        """Sums of the number `runs` as runs of the average step, which may be fractions."""
        return in_parts(self.profile, chosen_by(self.options), "runs").exactly(parts)


def chosen_by(options: Options | MemoryOptions | StepOptions) -> Chosen:
    """The recorded steps that a question covers.

    What shows steps one by one, or the memory of one, shows those that warm up, too.
    """
    step = options.step
    if step < 0:
        is_average = isinstance(options, Options | RankOptions) and step != EVERY_STEP
        step = USUAL_STEPS if is_average else ALL_STEPS
    return Chosen(step, options.recording, options.rank)


def build(kind: str, profile: ProfileColumns, options: Options, only: Ints | None = None) -> View:
    """Build the view of that kind, without notes; `only` are the rows to show, if not all."""
    build_kind: Callable[..., View] = import_module(f"{__package__}.{kind}").build
    # A view that takes no such rows cannot be compared.
    return build_kind(profile, options) if only is None else build_kind(profile, options, only)


def single_members(ops: Ints) -> Ragged:
    """The members of rows that each have one op, or none (-1)."""
    return Ragged(offsets_of((ops >= 0).astype(np.int64)), ops[ops >= 0])


def require_printable(view: View) -> None:
    """Refuse a view whose names and indentation alone would fill a disk."""
    size = int(view.name.lengths.sum())
    if view.options.max_depth > _MANY_LEVELS and not view.tree.is_flat:
        size += _INDENT * int(view.tree.depths.sum())
    if size > _MOST_PRINTED:
        raise OptionError(
            f"The answer has {size:,} bytes of names and indentation, more than the limit of "
            f"{_MOST_PRINTED:,}, because rows are nested {int(view.tree.depths.max()):,} levels "
            "deep: choose a smaller `max_depth`."
        )
