"""Where a slow host loses its time: in which part of the step, and in which scopes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tfprof.columns import Bools, Floats, Ints
from tfprof.measures.collectives import is_collective
from tfprof.measures.host_steps import PARTS, HostSteps
from tfprof.measures.run_sums import run_sums
from tfprof.model.ops import Phase
from tfprof.model.profile import ProfileColumns

# A part or a few scopes are named if they explain this share of the difference.
_LEAST_PART = 0.2
_MOST_OF_IT = 0.8
_MOST_SCOPES = 3
# Several scopes are named instead of one around them only if that has much else in it.
_MUCH_SMALLER = 0.6
# A step is usual if it differs from the median by at most this many median deviations.
_NEAR = 3.0
# So many hosts are enough to compare with.
_MOST_OTHERS = 32


@dataclass(frozen=True, slots=True)
class LostTime:
    """A part of the step in which a host takes longer than the others, and by how much.

    `part` is one of `PARTS` except `communication`; `scope` is where ops take longer, or empty.
    """

    part: str
    scope: str
    nanos: int  # per step


def losses(
    profile: ProfileColumns, hosts: HostSteps, host: int, columns: Sequence[int], slow: Bools
) -> list[LostTime]:
    """Where a host loses time in these steps, most first; `slow` flags hosts not to compare with.

    Only usual steps of each host are compared: a single long step has another cause. Without
    another host that recorded the steps there is nothing to compare with.
    """
    here = np.array(columns)
    is_usual = _usual(hosts.own_ns[:, here])
    others = np.flatnonzero(~slow & is_usual.any(axis=1))
    if not len(others):
        return []
    found: list[LostTime] = []
    parts = [part for part in PARTS if part != "communication"]
    more = {
        part: _excess(np.where(is_usual, hosts.parts[part][:, here], np.nan), host, others)
        for part in parts
    }
    steps = np.where(is_usual, hosts.step[:, here], -1)
    whole = sum(max(nanos, 0) for nanos in more.values())
    for part in sorted(parts, key=lambda part: -more[part]):
        if more[part] > 0 and more[part] >= _LEAST_PART * whole:
            if part == "compute":
                found += _in_scopes(profile, steps, (host, others), more[part])
            else:
                found.append(LostTime(part, "", round(more[part])))
    return found


def _usual(own_ns: Floats) -> Bools:
    """Which steps of each host are near the median step of that host; at least half of them."""
    known = ~np.isnan(own_ns)
    found = np.zeros(own_ns.shape, np.bool_)
    for host in np.flatnonzero(known.any(axis=1)).tolist():
        mine = own_ns[host, known[host]]
        away = np.abs(mine - np.median(mine))
        found[host, known[host]] = away <= _NEAR * np.median(away)
    return found


def _excess(part: Floats, host: int, others: Ints) -> float:
    """How much longer the host takes per step, compared with the median of the others."""
    usual = np.median(np.nanmean(part[others], axis=1))
    return float(np.nanmean(part[host]) - usual)


def _in_scopes(
    profile: ProfileColumns, steps: Ints, where: tuple[int, Ints], nanos: float
) -> list[LostTime]:
    """The scopes in which the ops of the host take longer; `steps` are those to compare, or -1."""
    host, others = where
    some = np.linspace(0, len(others) - 1, min(len(others), _MOST_OTHERS)).astype(np.int64)
    mine = _mean_nanos(profile, steps[host])
    usual = _mean_nanos(profile, steps[others[some]].ravel())
    root = _tree(profile, mine - usual, usual)
    found = _pinpointed(root) if root.excess > 0 else [root]
    whole = sum(one.excess for one in found)
    return [
        LostTime("compute", one.name, round(nanos * (one.excess / whole if whole > 0 else 1.0)))
        for one in sorted(found, key=lambda one: -one.excess)
    ]


def _mean_nanos(profile: ProfileColumns, steps: Ints) -> Floats:
    """The time of each op per step, without collectives and input."""
    steps = np.sort(steps[steps >= 0])
    total = run_sums(profile).totals("nanos", steps)
    is_own = ~is_collective(profile) & (profile.phase != Phase.INPUT)
    return np.where(is_own, total, 0) / max(len(steps), 1)


@dataclass(slots=True)
class _Scope:
    """A scope or op: how much longer it takes than usual, and how long it usually takes."""

    name: str
    excess: float = 0.0
    usual: float = 0.0
    inside: dict[str, _Scope] = field(default_factory=dict)


def _tree(profile: ProfileColumns, excess: Floats, usual: Floats) -> _Scope:
    root = _Scope("")
    ran = np.flatnonzero((excess != 0) | (usual != 0))
    rows = zip(profile.ops.name.take(ran), excess[ran].tolist(), usual[ran].tolist(), strict=True)
    for name, more, base in rows:
        place = root
        place.excess += more
        place.usual += base
        end = 0
        while end >= 0:
            end = name.find("/", end + 1)
            path = name if end < 0 else name[:end]
            place = place.inside.setdefault(path, _Scope(path))
            place.excess += more
            place.usual += base
    return root


def _pinpointed(scope: _Scope) -> list[_Scope]:
    """The smallest scopes in it that explain most of the excess."""
    while True:
        inside = sorted(scope.inside.values(), key=lambda one: -one.excess)
        if not inside:
            return [scope]
        if inside[0].excess < _MOST_OF_IT * scope.excess:
            break
        scope = inside[0]
    parts: list[_Scope] = []
    for one in inside[:_MOST_SCOPES]:
        parts += _pinpointed(one) if one.excess > 0 else []
        if sum(part.excess for part in parts) >= _MOST_OF_IT * scope.excess:
            is_smaller = sum(part.usual for part in parts) < _MUCH_SMALLER * scope.usual
            return parts if is_smaller and len(parts) <= _MOST_SCOPES else [scope]
    return [scope]
