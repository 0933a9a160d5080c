"""Hosts that take clearly longer than the others, with robust statistics.

The time of a host in a step is compared with the median of all hosts in the same step, so what
slows all hosts down does not count. Medians are not affected by the few hosts that are slow, and
the noise is estimated from median deviations. `own_ns` is the time of each host (a row) in each
step (a column) without waiting for other hosts; NaN if the host did not record the step.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]

# With fewer hosts there is no usual one, and with fewer steps no usual step.
LEAST_HOSTS = 3
LEAST_STEPS = 3

# A difference of less than this is not worth a remark.
_LEAST_EFFECT = 0.05
# A host is slow if it is this many standard deviations above the median host. With few hosts the
# standard deviation is uncertain, so it takes more.
_DEVIATIONS = 5.0
_MORE_FOR_FEW = 3.0
# A single step of a host is slow if it is this many standard deviations, and this much, too long.
_STEP_DEVIATIONS = 6.0
_LEAST_STEP_EFFECT = 0.15
# Every host has a slow step now and then.
_LEAST_SLOW_STEPS = 3
_LEAST_SLOW_SHARE = 0.1
_MORE_OFTEN = 4
# The place of a change is chosen so that the difference is largest, so it must be larger.
_FOR_CHANGE = 1.4
# Before a change, a host must have lost less than this share of what it loses since.
_BEFORE = 0.4
_LEAST_BEFORE = 2

# The median deviation and the median of a normal distribution, compared with its standard
# deviation and mean.
_OF_DEVIATION = 1.4826
_OF_MEDIAN = 1.2533


@dataclass(frozen=True, slots=True)
class Straggler:
    """A slow host: its row, and the columns of the steps in which it is slow.

    The steps are all that it recorded, all from one on, or some.
    """

    host: int
    steps: tuple[int, ...]
    since: int  # the column of the first of the steps if it was not slow before, otherwise 0
    is_some: bool  # the steps are not contiguous
    excess: float  # how much longer it takes than the median host, in these steps; 0.3 is 30 %


def find(own_ns: Floats) -> list[Straggler]:
    """The slow hosts, the one that loses most first."""
    if own_ns.shape[0] < LEAST_HOSTS or own_ns.shape[1] < LEAST_STEPS:
        return []
    excess = relative_excess(own_ns)
    excess -= _median(_medians(excess))
    noise = _Noise.of(excess)
    found = [one for host in range(len(own_ns)) for one in _of_host(excess, host, noise)]
    return sorted(found, key=lambda one: -one.excess * len(one.steps))


def relative_excess(own_ns: Floats) -> Floats:
    """How much longer each host takes in each step than the median host; 0.3 is 30 % longer."""
    usual = _medians(own_ns.T)
    is_known = usual > 0  # the times of damaged files may be 0
    found = np.where(np.isnan(own_ns), np.nan, 0.0)
    found[:, is_known] = own_ns[:, is_known] / usual[is_known] - 1
    return found


def deviations(excess: Floats) -> Floats:
    """The median excess of each host, compared with that of the median host."""
    level = _medians(excess)
    return level - _median(level)


def _medians(rows: Floats) -> Floats:
    """The median of what is known in each row."""
    known = ~np.isnan(rows).all(axis=1)
    found = np.full(len(rows), np.nan)
    found[known] = np.nanmedian(rows[known], axis=1)
    return found


def _median(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(np.median(known)) if len(known) else 0.0


@dataclass(frozen=True, slots=True)
class _Noise:
    """Standard deviations: of the median excess of hosts, and of single steps around it."""

    of_hosts: float
    of_steps: float
    factor: float  # how many standard deviations are not chance
    step_limit: float  # the smallest excess of a slow step
    slow_steps: int  # of all hosts
    steps: int  # that all hosts recorded

    @classmethod
    def of(cls, excess: Floats) -> _Noise:
        level = _medians(excess)
        hosts = int((~np.isnan(level)).sum())
        of_hosts = _OF_DEVIATION * _median(np.abs(level - _median(level)))
        of_steps = _OF_DEVIATION * _median(np.abs(excess - level[:, None]))
        factor = _DEVIATIONS + _MORE_FOR_FEW / max(hosts, 1)
        limit = max(_LEAST_STEP_EFFECT, _STEP_DEVIATIONS * of_steps, factor * of_hosts)
        slow = int((excess > limit).sum())
        return cls(of_hosts, of_steps, factor, limit, slow, int((~np.isnan(excess)).sum()))

    def limit(self, steps: int) -> float:
        """The smallest median excess over that many steps that is not chance."""
        of_median = _OF_MEDIAN * self.of_steps / np.sqrt(max(steps, 1))
        return max(_LEAST_EFFECT, self.factor * max(self.of_hosts, float(of_median)))


def _of_host(excess: Floats, host: int, noise: _Noise) -> Iterator[Straggler]:
    columns = np.flatnonzero(~np.isnan(excess[host]))
    mine = excess[host, columns]
    if len(mine) < LEAST_STEPS:
        return
    place = _change(mine)
    before, since = mine[:place], mine[place:]
    is_new = len(before) >= _LEAST_BEFORE and len(since) >= LEAST_STEPS
    late = float(np.median(since))
    limit = _FOR_CHANGE * noise.limit(len(since))
    if is_new and late > limit and np.median(before) < _BEFORE * late:
        steps = tuple(columns[place:].tolist())
        yield Straggler(host, steps, steps[0], is_some=False, excess=late)
    elif (level := float(np.median(mine))) > noise.limit(len(mine)):
        yield Straggler(host, tuple(columns.tolist()), 0, is_some=False, excess=level)
    else:
        yield from _sometimes(excess, host, noise)


def _change(values: Floats) -> int:
    """The place at which the values divide into two parts with the most different means."""
    count = len(values)
    sizes = np.arange(1, count)
    until = np.cumsum(values)[:-1]
    means = (values.sum() - until) / (count - sizes) - until / sizes
    return 1 + int(np.argmax(means * np.sqrt(sizes * (count - sizes))))


def _sometimes(excess: Floats, host: int, noise: _Noise) -> Iterator[Straggler]:
    """The host, if single steps of it are slow more often than those of other hosts."""
    mine = np.flatnonzero(excess[host] > noise.step_limit)
    recorded = int((~np.isnan(excess[host])).sum())
    others = (noise.slow_steps - len(mine)) / max(noise.steps - recorded, 1) * recorded
    if len(mine) >= max(_LEAST_SLOW_STEPS, _LEAST_SLOW_SHARE * recorded, _MORE_OFTEN * others):
        yield Straggler(
            host, tuple(mine.tolist()), 0, is_some=True, excess=float(np.median(excess[host, mine]))
        )
