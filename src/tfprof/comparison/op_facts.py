"""What is different in a part of the model besides numbers: kinds, types and devices of ops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from tfprof.columns import Bools, Ints
from tfprof.comparison.changed_ops import heaviest, op_type
from tfprof.comparison.pair import Pair, op_pairs
from tfprof.measures.numbers import EVERYTHING, per_op
from tfprof.model.profile import ProfileColumns
from tfprof.units import format_count

_MOST_KINDS = 3
# A change of float operations is mentioned from this share on.
_LEAST_FLOAT_OPS = 0.01


def changed_facts(pair: Pair, base: Bools, new: Bools) -> Iterator[str]:
    """What is different in the flagged ops of both sides, the most important first."""
    yield from _types(pair, base)
    yield from _float_ops(pair, base, new)
    yield from _kinds(pair, base, new)
    yield from _devices(pair, base)


def _paired(pair: Pair, base: Bools) -> tuple[Ints, Ints]:
    """The flagged ops of the base that still exist, and what they are now."""
    new_of = op_pairs(pair)
    old = np.flatnonzero(base & (new_of >= 0))
    return old, new_of[old]


def _types(pair: Pair, base: Bools) -> Iterator[str]:
    """Kinds of ops whose elements have another type, those that take most time first."""
    old, new = _paired(pair, base)
    first = heaviest(pair, old, new)
    found = dict.fromkeys(
        (pair.new.ops.kind[op], after, before)
        for was, op in zip(old[first].tolist(), new[first].tolist(), strict=True)
        if (before := op_type(pair.base, was))
        and (after := op_type(pair.new, op))
        and before != after
    )
    for kind, after, before in [*found][:_MOST_KINDS]:
        yield f"`{kind}` now runs in {after} instead of {before}"


def _float_ops(pair: Pair, base: Bools, new: Bools) -> Iterator[str]:
    before = int(per_op(pair.base, EVERYTHING)["float_ops"][base].sum())
    after = int(per_op(pair.new, EVERYTHING)["float_ops"][new].sum())
    if abs(after - before) > _LEAST_FLOAT_OPS * max(before, after):
        yield f"its float operations change from {format_count(before)} to {format_count(after)}"


def _kinds(pair: Pair, base: Bools, new: Bools) -> Iterator[str]:
    """How many more or fewer ops of a kind ran, the largest change of time first."""
    (after, new_time), (before, old_time) = (
        _by_kind(side, flags) for side, flags in ((pair.new, new), (pair.base, base))
    )
    changed = {kind: after[kind] - before[kind] for kind in {**after, **before}}
    times = {kind: abs(new_time[kind] - old_time[kind]) for kind in changed}
    kinds = sorted(
        (kind for kind, count in changed.items() if count), key=lambda kind: (-times[kind], kind)
    )
    for kind in kinds[:_MOST_KINDS]:
        count = changed[kind]
        yield f"{abs(count):,} {'more' if count > 0 else 'fewer'} `{kind}`"


def _by_kind(profile: ProfileColumns, flags: Bools) -> tuple[Counter[str], Counter[str]]:
    """How many of the flagged ops of each kind took any time, and how much."""
    nanos, kinds = per_op(profile, EVERYTHING)["nanos"], profile.ops.kind
    counts: Counter[str] = Counter()
    times: Counter[str] = Counter()
    for op in np.flatnonzero(flags & (nanos > 0)).tolist():
        counts[kinds[op]] += 1
        times[kinds[op]] += int(nanos[op])
    return counts, times


def _devices(pair: Pair, base: Bools) -> Iterator[str]:
    """Kinds of ops that run on other devices."""
    old, new = _paired(pair, base)
    found = dict.fromkeys(
        (pair.new.ops.kind[op], before, after)
        for was, op in zip(old.tolist(), new.tolist(), strict=True)
        if (before := _device(pair.base, was))
        and (after := _device(pair.new, op))
        and before != after
    )
    for kind, before, after in [*found][:_MOST_KINDS]:
        yield f"`{kind}` now runs on {after} instead of {before}"


def _device(profile: ProfileColumns, op: int) -> str:
    """The kind and number of the device of an op that ran on one device, such as `gpu:0`."""
    codes = profile.op_devices[op]
    if len(codes) != 1:
        return ""
    return profile.devices.name[int(codes[0])].rpartition("/")[2].removeprefix("device:")
