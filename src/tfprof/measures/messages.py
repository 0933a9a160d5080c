"""What ranks send in collectives: how long that takes, and how fast the bus is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tfprof.columns import Floats, Ints, distinct_rows
from tfprof.measures.collectives import collectives
from tfprof.model.profile import ProfileColumns

# How often each byte of a message crosses the bus of a rank, for n ranks: the factors by which
# benchmarks of collectives make different ones comparable.
_ONCE = ("broadcast", "reduce", "send", "recv", "gather", "scatter")
_SPREAD = ("allgather", "all_gather", "reduce_scatter", "alltoall", "all_to_all")
_TWICE = ("allreduce", "all_reduce")


@dataclass(frozen=True, slots=True)
class MessageTime:
    """The collectives of one kind and group; times are nanoseconds."""

    kind: str
    group: str
    runs: int
    nanos: int  # of all runs
    bytes: int  # of a message, the median; 0 if unknown
    bus_bytes: float  # per second, of the median run, waiting included; 0 if unknown


def message_times(profile: ProfileColumns, steps: Ints) -> list[MessageTime]:
    """The collectives in these steps, those that take longest first."""
    found = collectives(profile)
    rows = np.flatnonzero(np.isin(found.step, steps))
    kind, group = found.kind.take(rows), found.group.take(rows)
    took = (found.end_ns - found.start_ns)[rows]
    size = found.bytes[rows]
    bus = _bus_bytes(_factors(found.kind.values, kind.codes, found.ranks[rows]), size, took)
    keys, place = distinct_rows((kind.codes, group.codes))
    answers = []
    for row in range(len(keys)):
        here = place == row
        first = int(np.flatnonzero(here)[0])
        known = bus[here & (bus > 0)]
        answers.append(
            MessageTime(
                kind[first],
                group[first],
                int(here.sum()),
                int(took[here].sum()),
                round(float(np.median(size[here]))),
                float(np.median(known)) if len(known) else 0.0,
            )
        )
    return sorted(answers, key=lambda one: (-one.nanos, one.kind, one.group))


def _bus_bytes(factor: Floats, size: Ints, took: Ints) -> Floats:
    """The bytes that cross the bus of a rank per second; 0 if unknown."""
    return np.where(took > 0, factor * size / np.maximum(took, 1) * 1e9, 0.0)


def _factors(kinds: Sequence[str], codes: Ints, ranks: Ints) -> Floats:
    """How often each byte of these messages crosses the bus; 0 if unknown."""
    share = np.where(ranks > 1, (ranks - 1) / np.maximum(ranks, 1), 0.0)
    weights: Floats = np.array([_weights(kind) for kind in kinds] or [(0.0, 0.0)])
    found: Floats = weights[codes, 0] + weights[codes, 1] * share
    return found


def _weights(kind: str) -> tuple[float, float]:
    """How often a byte crosses, whatever the ranks, and for each (n - 1) / n."""
    name = kind.lower().strip("_")
    if any(part in name for part in _TWICE):
        return 0.0, 2.0
    if any(part in name for part in _SPREAD):
        return 0.0, 1.0
    return (1.0, 0.0) if any(part in name for part in _ONCE) else (0.0, 0.0)
