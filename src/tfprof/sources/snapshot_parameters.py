"""Finds the parameters of a model among blocks of memory, by their sizes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from math import prod
from typing import NamedTuple

import numpy as np

from tfprof.columns import Bools, Ints, ints

_WIDTHS = (4, 2, 8, 1)  # bytes of a value; the first one that fits is used
_MOSTLY = 0.9  # of the parameters
_MOMENTS = 2  # that optimizers such as Adam keep for each parameter


class FoundParameters(NamedTuple):
    """Which blocks are parameters, and which are copies of them that an optimizer keeps."""

    parameters: Bools
    moments: Bools


def parameters_in(
    requested: Ints, is_candidate: Bools, shapes: Iterable[tuple[int, ...]]
) -> FoundParameters | None:
    """The parameters with these shapes among the candidates; None if most have no such block.

    If there are two more blocks for most parameters, they are the moments of an optimizer.
    """
    counts = [count for shape in shapes if (count := prod(shape))]
    rows = np.flatnonzero(is_candidate)
    held = Counter(requested[rows].tolist())
    for width in _WIDTHS if counts else ():
        wanted = Counter(width * count for count in counts)
        if _share(wanted, held, 1) < _MOSTLY:
            continue
        has_moments = _share(wanted, held, 1 + _MOMENTS) >= _MOSTLY
        order = _occurrences(requested[rows])
        times = ints([wanted[size] for size in requested[rows].tolist()])
        found = [np.zeros(len(requested), np.bool_) for _ in range(2)]
        found[0][rows] = order < times
        found[1][rows] = has_moments & ~found[0][rows] & (order < (1 + _MOMENTS) * times)
        return FoundParameters(*found)
    return None


def _share(wanted: Mapping[int, int], held: Mapping[int, int], copies: int) -> float:
    """The share of parameters of which there are that many copies."""
    found = sum(count for size, count in wanted.items() if held.get(size, 0) >= copies * count)
    return found / sum(wanted.values())


def _occurrences(values: Ints) -> Ints:
    """How often the same value occurs before each value."""
    seen: Counter[int] = Counter()
    found = []
    for value in values.tolist():
        found.append(seen[value])
        seen[value] += 1
    return ints(found)
