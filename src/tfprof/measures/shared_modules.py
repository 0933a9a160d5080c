"""The modules that several others call, such as one rotary embedding of all attention layers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tfprof.columns import Bools, Ints
from tfprof.kernels import nesting
from tfprof.measures.layers import model_layers
from tfprof.measures.numbers import per_op
from tfprof.memo import remembered
from tfprof.metrics import BY_KEY
from tfprof.model.layers import NO_LAYER, Layers
from tfprof.model.profile import ProfileColumns
from tfprof.model.recordings import Chosen


class SharedModule(NamedTuple):
    """A module that several others call; its numbers are those of all its calls in a step."""

    name: str  # the layer where its parameters are
    kind: str  # the name of its class
    rows: tuple[str, ...]  # the layers that are this module, one per caller
    callers: int
    calls: int
    params: int
    float_ops: int
    nanos: int


@remembered
def shared_modules(profile: ProfileColumns, chosen: Chosen) -> list[SharedModule]:
    """The modules that several others call, in the order of the layers."""
    table, of_ops, _ = model_layers(profile)
    home = _homes(table)
    callers = _callers(table, home)
    shared = np.flatnonzero(callers > 1)
    if not len(shared):
        return []
    numbers = [
        _of_modules(table, of_ops, home, per_op(profile, chosen)[key])
        for key in ("params", "float_ops", BY_KEY["micros"].exact)
    ]
    calls = np.bincount(home, table.calls, len(table)).astype(np.int64)
    return [
        SharedModule(
            table.name[row],
            table.kind[row],
            tuple(table.name.take(np.flatnonzero((home == row) & (table.calls > 0)))),
            int(callers[row]),
            int(calls[row]),
            *(int(column[row]) for column in numbers),
        )
        for row in shared.tolist()
    ]


def are_shared(profile: ProfileColumns) -> Bools:
    """Which layers are modules that several others call."""
    table = model_layers(profile).table
    home = _homes(table)
    flags: Bools = _callers(table, home)[home] > 1
    return flags


def _homes(table: Layers) -> Ints:
    """For each layer the one that is the same module, with its parameters."""
    return np.where(table.home >= 0, table.home, np.arange(len(table)))


def _callers(table: Layers, home: Ints) -> Ints:
    """How many modules call the module at each row; 0 for rows that are not where it is at home.

    A module with one caller is counted once, even if that one is shared and has several rows.
    """
    is_called = table.calls > 0
    innermost = nesting.inherited(table.parent, np.where(is_called, np.arange(len(table)), -1))
    caller = np.append(innermost, NO_LAYER)[table.parent]
    rows = np.flatnonzero(is_called & (caller >= 0))
    pairs = np.unique(np.stack((home[rows], home[caller[rows]])), axis=1)
    return np.bincount(pairs[0], minlength=len(table))


def _of_modules(table: Layers, of_ops: Ints, home: Ints, numbers: Ints) -> Ints:
    """The sum of a number over the ops inside all rows of the module at each row."""
    found = np.zeros(len(table), np.int64)
    row, above = of_ops, np.append(table.parent, NO_LAYER)
    while (inside := row >= 0).any():
        np.add.at(found, home[row[inside]], numbers[inside])
        row = above[row]
    return found
