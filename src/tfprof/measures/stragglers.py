"""Hosts that take clearly longer than the others, with robust statistics.

The time of a host in a step is compared with the median of all hosts in the same step, so what
slows all hosts down does not count. Medians are not affected by the few hosts that are slow, and
the noise is estimated from median deviations. `own_ns` is the time of each host (a row) in each
step (a column) without waiting for other hosts; NaN if the host did not record the step.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import exp, lgamma, log, log1p

import numpy as np
import numpy.typing as npt

from tfprof.columns import Floats

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
# Some host has as many slow steps by chance with at most this probability.
_CHANCE = 0.005
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


@dataclass(frozen=True, slots=True, eq=False)
class _Noise:
    """The median excess of each host, and the standard deviation of single steps around it."""

    levels: Floats  # the median excess of each host
    of_steps: float
    hosts: int
    steps: Floats  # the excess of all steps of all hosts, ascending

    @classmethod
    def of(cls, excess: Floats) -> _Noise:
        level = _medians(excess)
        return cls(
            level,
            _OF_DEVIATION * _median(np.abs(excess - level[:, None])),
            int((~np.isnan(level)).sum()),
            np.sort(excess[~np.isnan(excess)]),
        )

    @property
    def _factor(self) -> float:
        return _DEVIATIONS + _MORE_FOR_FEW / max(self.hosts, 1)

    def of_others(self, host: int) -> float:
        """The standard deviation of the median excess of the other hosts."""
        others = np.delete(self.levels, host)
        return _OF_DEVIATION * _median(np.abs(others - _median(others)))

    def limit(self, host: int, steps: int) -> float:
        """The smallest median excess of a host over that many steps that is not noise."""
        of_median = _OF_MEDIAN * self.of_steps / np.sqrt(max(steps, 1))
        return max(_LEAST_EFFECT, self._factor * max(self.of_others(host), float(of_median)))

    def step_limit(self, host: int) -> float:
        """The smallest excess of a slow step of a host."""
        of_hosts = self._factor * self.of_others(host)
        return max(_LEAST_STEP_EFFECT, _STEP_DEVIATIONS * self.of_steps, of_hosts)

    def is_chance(self, mine: Floats, chosen: Floats, limit: float, ways: int = 1) -> bool:
        """Whether some host may have so many chosen steps above `limit`, as often as others do.

        `chosen` are some of the steps `mine` of a host, which can be chosen in so many `ways`.
        """
        others = len(self.steps) - len(mine)
        above = len(self.steps) - int(np.searchsorted(self.steps, limit, side="right"))
        share = (above - int((mine > limit).sum()) + 1) / (others + 1)
        likely = _likely(int((chosen > limit).sum()), len(chosen), share)
        return ways * self.hosts * likely > _CHANCE


def _likely(count: int, trials: int, share: float) -> float:
    """The probability of at least `count` in `trials`, each with the probability `share`."""
    if count <= share * trials or share >= 1:
        return 1.0
    total = 0.0
    for one in range(count, trials + 1):
        ways = lgamma(trials + 1) - lgamma(one + 1) - lgamma(trials - one + 1)
        total += exp(ways + one * log(share) + (trials - one) * log1p(-share))
    return total


def _of_host(excess: Floats, host: int, noise: _Noise) -> Iterator[Straggler]:
    columns = np.flatnonzero(~np.isnan(excess[host]))
    mine = excess[host, columns]
    if len(mine) < LEAST_STEPS:
        return
    level = float(np.median(mine))
    if (place := _slow_since(mine, host, noise)) is not None:
        steps = tuple(columns[place:].tolist())
        since = float(np.median(mine[place:]))
        yield Straggler(host, steps, steps[0], is_some=False, excess=since)
    elif level > _LEAST_EFFECT and _is_slow(mine, level, host, noise):
        yield Straggler(host, tuple(columns.tolist()), 0, is_some=False, excess=level)
    elif len(slow := _slow_now_and_then(mine, host, noise)):
        steps = tuple(columns[slow].tolist())
        yield Straggler(host, steps, 0, is_some=True, excess=float(np.median(mine[slow])))


def _is_slow(mine: Floats, level: float, host: int, noise: _Noise) -> bool:
    is_noise = level <= noise.limit(host, len(mine))
    return not is_noise and not noise.is_chance(mine, mine, level / 2)


def _slow_now_and_then(mine: Floats, host: int, noise: _Noise) -> npt.NDArray[np.int64]:
    """The places of the slow steps, if the host has more of them than by chance."""
    least = max(_LEAST_SLOW_STEPS, _LEAST_SLOW_SHARE * len(mine))
    nothing = np.zeros(0, np.int64)
    if (mine > _LEAST_STEP_EFFECT).sum() < least:
        return nothing
    limit = noise.step_limit(host)
    slow = np.flatnonzero(mine > limit)
    return nothing if len(slow) < least or noise.is_chance(mine, mine, limit) else slow


def _slow_since(mine: Floats, host: int, noise: _Noise) -> int | None:
    """The place from which on a host is slow, if it was not slow before."""
    place = _boundary(mine, float(np.median(mine[_change(mine) :])) / 2)
    before, since = mine[:place], mine[place:]
    if len(before) < _LEAST_BEFORE or len(since) < LEAST_STEPS:
        return None
    late = float(np.median(since))
    if late <= _FOR_CHANGE * _LEAST_EFFECT or np.median(before) >= _BEFORE * late:
        return None
    if late <= _FOR_CHANGE * noise.limit(host, len(since)):
        return None
    return None if noise.is_chance(mine, since, late / 2, ways=len(mine)) else place


def _boundary(values: Floats, limit: float) -> int:
    """The place before which most values are below the limit, and after it most are above."""
    is_above = values > limit
    below, above = np.cumsum(~is_above), np.cumsum(is_above[::-1])[::-1]
    return int(np.argmax(np.append(0, below) + np.append(above, 0)))


def _change(values: Floats) -> int:
    """The place at which the values divide into two parts with the most different mean ranks.

    Ranks, and not the values, because a single large value is not a change (Pettitt's test).
    """
    count = len(values)
    rank = np.empty(count)
    rank[np.argsort(values, kind="stable")] = np.arange(count)
    sizes = np.arange(1, count)
    until = np.cumsum(rank)[:-1]
    means = (rank.sum() - until) / (count - sizes) - until / sizes
    return 1 + int(np.argmax(means * np.sqrt(sizes * (count - sizes))))
