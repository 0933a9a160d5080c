"""Which ops are not what they were: added, removed, of another kind or type, or with other work."""

from __future__ import annotations

import numpy as np

from tfprof.columns import Bools, Floats, Ints
from tfprof.comparison.pair import Pair, op_pairs
from tfprof.measures.numbers import EVERYTHING, in_parts, per_op
from tfprof.memo import remembered
from tfprof.model.profile import ProfileColumns

# The attributes of TensorFlow's ops that state the type of their elements.
_TYPES = ("T", "dtype", "DstT")
# An op whose runs per step differ by more than this share does other work.
_LARGEST_VARIATION = 0.1
# Reading attributes takes a while, so only those of the ops that take most of the time are read.
_MOST_OPS = 500


@remembered
def changed_ops(pair: Pair) -> tuple[Bools, Bools]:
    """Which ops of the base, and of the new profile, differ from their pair or have none."""
    new_of = op_pairs(pair)
    old = np.flatnonzero(new_of >= 0)
    new = new_of[old]
    base, other = (per_op(side, EVERYTHING) for side in (pair.base, pair.new))
    before, after = (_runs(side) for side in (pair.base, pair.new))
    is_same = _runs_as_often(before[old], after[new])
    for key in ("float_ops", "params"):
        is_same &= base[key][old] == other[key][new]
    is_same &= _is_same_kind(pair, old, new)
    heavy = heaviest(pair, old, new)
    is_same_type = [
        op_type(pair.base, was) == op_type(pair.new, op)
        for was, op in zip(old[heavy].tolist(), new[heavy].tolist(), strict=True)
    ]
    is_same[heavy] &= np.array(is_same_type, np.bool_)
    flags = np.ones(len(pair.base.ops), np.bool_), np.ones(len(pair.new.ops), np.bool_)
    flags[0][old[is_same]] = False
    flags[1][new[is_same]] = False
    return flags


def _runs(profile: ProfileColumns) -> Ints | Floats:
    parts = in_parts(profile, EVERYTHING, "runs")
    return parts.exactly(parts.column)


def _runs_as_often(before: Ints | Floats, after: Ints | Floats) -> Bools:
    """Whether ops run about as often in a step; how often may vary with the input."""
    least, most = np.minimum(before, after), np.maximum(before, after)
    return most - least <= _LARGEST_VARIATION * most


def heaviest(pair: Pair, old: Ints, new: Ints) -> Ints:
    """The places of the pairs of ops that take most of the time, the longest first."""
    before, after = (per_op(side, EVERYTHING)["nanos"] for side in (pair.base, pair.new))
    return np.argsort(~np.maximum(before[old], after[new]), kind="stable")[:_MOST_OPS]


def op_type(profile: ProfileColumns, op: int) -> str:
    """The type of the elements that an op works on; empty if it is unknown."""
    for name in _TYPES:
        if isinstance(value := profile.ops.origins.attribute(op, name), str):
            return value
    return ""


def _is_same_kind(pair: Pair, old: Ints, new: Ints) -> Bools:
    base, other = pair.base.ops.kind, pair.new.ops.kind
    known = {text: code for code, text in enumerate(other.values)}
    codes = np.array([known.get(text, -1) for text in base.values], np.int64)
    return np.asarray(codes[base.codes[old]] == other.codes[new])
