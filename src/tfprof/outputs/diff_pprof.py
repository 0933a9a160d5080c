"""Encode a comparison as a pprof file, like the one that `pprof -diff_base` computes.

Samples of the base are negative and have the label `pprof::base`, so pprof shows the difference.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tfprof.columns import Ints, Ragged, Strings, constant
from tfprof.comparison.compared import Compared
from tfprof.comparison.diff import DiffView
from tfprof.comparison.numbers import Number
from tfprof.errors import OptionError
from tfprof.outputs import stacks
from tfprof.outputs.pprof import file
from tfprof.outputs.proto import one_number
from tfprof.units import Unit

_BASE = ("pprof::base", "true")
_UNITS = {Unit.MICROS: "nanoseconds", Unit.BYTES: "bytes", Unit.COUNT: "count"}


def unit_of(number: Number) -> str:
    """The unit of a number, spelled out."""
    return _UNITS[number.unit]


def require_numbers(view: DiffView) -> None:
    """Refuse a comparison without numbers."""
    if not view.numbers:
        raise OptionError("There is no number to compare; -select one, such as params.")


def encode(compared: Compared) -> Iterator[bytes]:
    """The file, compressed."""
    require_numbers(compared.view)
    return file.compressed(_messages(compared.view))


def _messages(view: DiffView) -> Iterator[bytes]:
    numbers = view.numbers
    names = Strings([view.name(row) for row in range(len(view))])
    fixed = ["", *_BASE, *(number.key for number in numbers), *map(unit_of, numbers)]
    types = np.arange(3, 3 + len(numbers))
    yield file.sample_types(types.tolist(), (types + len(numbers)).tolist())
    for is_base in (True, False):
        yield from _samples(view, is_base=is_base)
    rows = np.arange(len(view))
    yield from file.locations(rows + 1, rows + 1, constant(0, len(rows)))
    yield from file.functions(
        rows + 1, rows + len(fixed), constant(0, len(rows)), constant(0, len(rows))
    )
    yield from file.strings(Strings(fixed))
    yield from file.strings(names)
    yield one_number(14, int(types[0]))


def _samples(view: DiffView, *, is_base: bool) -> Iterator[bytes]:
    """A sample for each row of a side that has any number of its own."""
    own: list[Ints] = [
        -view.own_before(number.key) if is_base else view.own_after(number.key)
        for number in view.numbers
    ]
    rows = np.flatnonzero(np.any(own, axis=0))
    label = 2 if is_base else 0
    for block, chains in stacks.stacks(view.tree, rows):
        ids = Ragged(chains.offsets, chains.values + 1)  # location numbers start at 1
        values = [column[rows[block]] for column in own]
        yield file.samples(ids, values, 1, constant(label, len(rows[block])))
