"""The answer to a question: rows with their own and total numbers, and what was left out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module

import numpy as np

from tfprof.columns import Bools, Ints, Ragged, Strings, offsets_of
from tfprof.measures.numbers import Numbers, per_op
from tfprof.model.profile import ProfileColumns
from tfprof.model.recordings import Chosen
from tfprof.options import MemoryOptions, Options
from tfprof.views.registry import Trait
from tfprof.views.tree import Tree

ROOT_NAME = "_TFProfRoot"

# The tensors whose values a table shows; of others it never has, but a message and JSON do.
TABLE_VALUE_TYPES = frozenset({"float32", "float64", "int32", "int64", "string"})


@dataclass(frozen=True, slots=True, eq=False)
class Hidden:
    """Ops that are accounted for but not shown: how many, and the sum of each of their numbers."""

    ops: int
    numbers: Mapping[str, int]


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """Rows in the order they are shown, the root first, each followed by those below it.

    `members` are the ops a row stands for: at most one, unless rows gather ops; none for a row
    that only holds others together. `kind` is a label: what is done with the rows depends on
    `traits`.
    """

    kind: str
    traits: Trait
    profile: ProfileColumns
    options: Options
    tree: Tree
    name: Strings
    own_type: str | None  # what rows that stand for no op go by
    is_accounted: Bools
    members: Ragged
    own: Numbers
    total: Numbers
    hidden: Hidden
    arranged: Ints  # which of all rows that there are each row is
    skipped: Ints | None = None  # hidden rows between a row and the one above it, if asked for
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.name)

    @property
    def is_gathered(self) -> bool:
        """Whether a row may stand for many ops."""
        return Trait.GATHERED in self.traits

    def op_numbers(self, key: str) -> Ints:
        """One number of every op of the profile, in the chosen steps."""
        return per_op(self.profile, chosen_by(self.options))[key]


def chosen_by(options: Options | MemoryOptions) -> Chosen:
    """The recorded steps that a question is about."""
    return Chosen(max(options.step, -1), options.recording, options.rank)


def build(kind: str, profile: ProfileColumns, options: Options) -> View:
    """The view of that kind, with nothing said yet of what it lacks."""
    build_kind: Callable[[ProfileColumns, Options], View]
    build_kind = import_module(f"{__package__}.{kind}").build
    return build_kind(profile, options)


def single_members(ops: Ints) -> Ragged:
    """The members of rows that stand for one op each, or for none (-1)."""
    return Ragged(offsets_of((ops >= 0).astype(np.int64)), ops[ops >= 0])
