"""Ranks whose collectives take longer to transfer the same than those of other groups.

All ranks of a group finish a collective together, so a slow link makes it longer for all of them.
Groups that do the same at the same place of the program can be compared; a rank with a slow link
slows all groups that it belongs to.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfprof.columns import Floats, Ints, distinct_rows
from tfprof.measures.arrivals import Meetings, Waits

# Transfers that take less longer than this, or lengthen the step by less, are not worth a remark.
_LEAST_EXCESS = 0.2
_LEAST_SHARE = 0.02
# With fewer meetings of a group the median says little.
_LEAST_MEETINGS = 3
# So many median deviations are no noise.
_DEVIATIONS = 5.0


@dataclass(frozen=True, slots=True)
class SlowLink:
    """A rank with a slow link: its row in `Meetings`, and how much longer its transfers take."""

    host: int
    excess: float  # 0.5 is half as long again
    excess_ns: int  # per step


def slow_links(met: Meetings, waits: Waits, step_ns: float) -> list[SlowLink]:
    """The ranks all of whose groups are slow, the slowest first; steps take about `step_ns`."""
    transfer = _transfers(met, waits)
    _, place = distinct_rows((met.number, met.op, met.order, met.bytes))
    count = np.bincount(place)
    fastest = np.full(len(count), np.inf)
    np.minimum.at(fastest, place, transfer)
    is_compared = (count[place] > 1) & (fastest[place] > 0)
    columns = np.flatnonzero(is_compared)
    excess = transfer[columns] / fastest[place[columns]] - 1
    more = transfer[columns] - fastest[place[columns]]
    steps = max(len(np.unique(met.number)), 1)
    found = []
    for host, took_part in enumerate(met.took_part[:, columns]):
        usual = _least(met.op[columns[took_part]], excess[took_part])
        lost = float(more[took_part].sum()) / steps
        if usual > _LEAST_EXCESS and lost >= _LEAST_SHARE * step_ns:
            found.append(SlowLink(host, usual, round(lost)))
    slowest = max((one.excess for one in found), default=0.0)
    return [one for one in sorted(found, key=lambda one: -one.excess) if one.excess > slowest / 2]


def _transfers(met: Meetings, waits: Waits) -> Floats:
    """How long each meeting took after the last rank had arrived."""
    known = np.where(met.took_part, waits.transfer_ns, np.nan)
    return np.nanmedian(known, axis=0) if known.size else np.zeros(len(met))


def _least(op: Ints, excess: Floats) -> float:
    """The least median excess of the collectives of a rank: that of its fastest group."""
    least = np.inf
    for one in np.unique(op).tolist():
        values = excess[op == one]
        median = float(np.median(values))
        noise = float(np.median(np.abs(values - median)))
        is_noise = median < _DEVIATIONS * noise / np.sqrt(len(values))
        if len(values) >= _LEAST_MEETINGS:
            least = min(least, 0.0 if is_noise else median)
    return 0.0 if least == np.inf else least
