"""The section `kernels`: the table of the kernels of accelerators, over all steps.

Row 0 is all kernels together; the others are those that took the most time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from tfprof.columns import Coded, Ints, Strings
from tfprof.errors import MissingInputError, shortened
from tfprof.model.profile import ProfileColumns
from tfprof.options import KernelOptions
from tfprof.outputs.kernel_columns import shapes_text
from tfprof.page import units
from tfprof.units import Unit, format_shape
from tfprof.views import kernels
from tfprof.views.kernels import KernelTime, KernelTimes

# A trace has a few hundred kernels, unless their names are generated.
MOST_KERNELS = 5_000
# Of a fact, such as the grids of a kernel: the values that took the most time.
MOST_VALUES = 12
_LONGEST = 200  # characters of the shapes of all inputs of an op

_TOTAL = "total"
_UNKNOWN = -1
_MILLION = 1_000_000
_NUMBERS = ("launches", "total_ns", "mean_ns", "min_ns", "max_ns")

_TEXTS: dict[str, Callable[[Any], str]] = {
    "registers": str,
    "shared_memory": lambda size: units.formatted(size, units.NAMES[Unit.BYTES]),
    "grids": format_shape,
    "blocks": format_shape,
    "streams": str,
    "ops": str,
    "modules": str,
    "shapes": lambda shapes: shortened(shapes_text(shapes), _LONGEST),
}


def section(profile: ProfileColumns) -> dict[str, Any]:
    """The kernels, largest total first; `MissingInputError` says why there are none."""
    times = kernels.build(profile, KernelOptions())
    notes = [note[:1].upper() + note[1:] for note in times.notes]
    if not times.launches:
        raise MissingInputError(" ".join(notes))
    shown, left = times.kernels[:MOST_KERNELS], times.kernels[MOST_KERNELS:]
    rows = [_together(times), *shown]
    return {
        "name": Strings([one.short_name for one in rows]),
        "whole": Strings([one.name for one in rows]),
        "numbers": {
            name.removesuffix("_ns"): _ints(getattr(one, name) for one in rows) for name in _NUMBERS
        },
        "occupancy": _ints(map(_millionths, rows)),
        "facts": {
            fact: _values([getattr(one, fact) for one in rows], text)
            for fact, text in _TEXTS.items()
        },
        "left_out": {"kernels": len(left), "nanos": sum(one.total_ns for one in left)},
        "notes": [_scope(profile), *notes],
    }


def _scope(profile: ProfileColumns) -> str:
    """What the numbers are sums over."""
    count = len(profile.recordings)
    of = f" of {count:,} recordings" if count > 1 else ""
    return f"Sums over all steps{of}, without copies and fills of memory."


def _together(times: KernelTimes) -> KernelTime:
    """All kernels as one row, without facts."""
    return KernelTime(
        name=_TOTAL,
        short_name=_TOTAL,
        launches=times.launches,
        total_ns=times.total_ns,
        mean_ns=(2 * times.total_ns + times.launches) // (2 * times.launches),
        min_ns=min(one.min_ns for one in times.kernels),
        max_ns=max(one.max_ns for one in times.kernels),
        share=1.0,
        occupancy=None,
        **dict.fromkeys(_TEXTS, ()),
    )


def _ints(values: Iterable[int]) -> Ints:
    return np.fromiter(values, np.int64)


def _millionths(one: KernelTime) -> int:
    """The occupancy in millionths, -1 if it is unknown."""
    return _UNKNOWN if one.occupancy is None else round(one.occupancy * _MILLION / 100)


def _values(lists: Sequence[Sequence[Any]], text: Callable[[Any], str]) -> dict[str, Any]:
    """A list of texts for each row, and how many of its values are left out."""
    kept = [values[:MOST_VALUES] for values in lists]
    column = Coded.of([text(value) for values in kept for value in values])
    return {
        "lengths": _ints(map(len, kept)),
        "left": _ints(len(values) - len(some) for values, some in zip(lists, kept, strict=True)),
        "codes": column.codes,
        "values": column.values,
    }
