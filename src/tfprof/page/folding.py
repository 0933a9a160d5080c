"""Which ops the drawn graph folds into others, so that what computes can be seen.

Constants, variables and how they are read, shape arithmetic and identities outnumber the ops that
compute by far. Each is drawn as a part of the op that uses it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tfprof.columns import Bools, Coded, Ints, Ragged, ints
from tfprof.model.ops import SHAPE_ARITHMETIC, WALKED_CALL
from tfprof.model.profile import ProfileColumns

HIDDEN = -1  # the value of `into` for ops that are counted in their group only

_CONSTANTS = frozenset(
    ("Const", "HostConst", "NoOp", "Variable", "VariableV2", "VarHandleOp", "TemporaryVariable")
)
_SHAPES = frozenset(("Shape", "ShapeN", "Size", "Rank", "BroadcastGradientArgs"))
_READ = frozenset(("ReadVariableOp",))
_CALLS = frozenset(("PartitionedCall", "StatefulPartitionedCall"))
_PASSING = frozenset(("Identity", "IdentityN", "StopGradient", "PreventGradient", "Snapshot"))
# The start of the kinds of random generators, and of products, which are never folded: if they
# depend only on constants, then the input of the model is a constant.
_RANDOM = ("Random", "Stateless", "TruncatedNormal", "Multinomial")
_PRODUCTS = ("MatMul", "BatchMatMul", "Conv", "Depthwise", "Einsum")
_ASSIGNMENTS = frozenset(("Assign", "AssignVariableOp"))

# How often ops that lead nowhere are avoided.
_ATTEMPTS = 3
# How far ops that depend only on constants are followed.
_DISTANCE = 16


class Edges(NamedTuple):
    """The edges that carry data: the op that each comes from, -1 if unknown, and its user."""

    source: Ints
    user: Ints

    def where(self, kept: Bools) -> Edges:
        """Only the edges that are kept."""
        return Edges(ints(self.source[kept]), ints(self.user[kept]))


class Folding(NamedTuple):
    """How each op is drawn."""

    into: Ints  # the op that it is a part of: itself if it is a node, or `HIDDEN`
    is_call: Bools  # a call whose data edges are those from its results
    is_quiet: Bools  # folded, and its outputs are not drawn


def data_edges(profile: ProfileColumns) -> Edges:
    """The edges that carry data; those into a call come from its results, not its arguments."""
    inputs = profile.ops.inputs
    edges = Ragged(inputs.offsets, inputs.source)
    is_call = profile.ops.types.having(WALKED_CALL)
    # The edges from the results of a function to its call are stated as control dependencies.
    return Edges(edges.values, edges.owners).where((inputs.slot >= 0) != is_call[edges.owners])


def fold(profile: ProfileColumns, place: Ints) -> Folding:
    """Fold ops into ops with the same `place`."""
    ops, count = profile.ops, len(profile.ops)
    is_call = ops.types.having(WALKED_CALL)
    edges = data_edges(profile)
    is_passing = _is_kind(ops.kind, _PASSING) | (is_call & _is_kind(ops.kind, _CALLS))
    constant, derived = _constants(profile, edges)
    is_quiet = constant | (derived & _has_others(place, ~(constant | derived | is_passing)))
    edges = edges.where(edges.source >= 0)
    near = edges.where(place[edges.source] == place[edges.user])
    into = np.zeros(count, np.int64)
    for _ in range(_ATTEMPTS):
        # Ops that compute come before others, and before those that lead nowhere.
        rank = ops.defined + count * is_quiet + 2 * count * (into == HIDDEN)
        into = _followed(_towards(near, is_quiet, is_passing, rank))
        into = np.where(is_quiet[into], HIDDEN, into)
    return Folding(into, is_call, is_quiet)


def _towards(near: Edges, is_quiet: Bools, is_passing: Bools, rank: Ints) -> Ints:
    """The op that each op is folded into next, `HIDDEN` if it is not."""
    found = np.full(len(rank), HIDDEN)
    _set_first(found, near.source, near.user, rank)
    # An identity at the end of its place is a part of the op before it.
    ends = is_passing & ~is_quiet & (found < 0)
    before = near.where(ends[near.user] & ~is_passing[near.source] & ~is_quiet[near.source])
    _set_first(found, before.user, before.source, rank)
    return np.where(is_quiet | is_passing, found, HIDDEN)


def _constants(profile: ProfileColumns, edges: Edges) -> tuple[Bools, Bools]:
    """Constants, variables, their reads and shapes; and which ops depend only on those."""
    ops = profile.ops
    first = _is_kind(ops.kind, _CONSTANTS | _SHAPES) | (ops.shape.sizes() > 0)
    first |= ops.types.having(SHAPE_ARITHMETIC)
    reads = _is_kind(ops.kind, _READ | _PASSING)
    constant = _spread(first, edges, first | reads)
    is_open = ~(ops.types.having(WALKED_CALL) | _starts(ops.kind, _PRODUCTS))
    derived = _spread(first, edges, is_open & ~_starts(ops.kind, _RANDOM))
    initial = _initial(ops.kind, edges, _spread(first, edges, is_open))
    return constant, (derived | initial) & ~constant


def _spread(first: Bools, edges: Edges, candidates: Bools) -> Bools:
    """`first`, and the candidates whose inputs are all found, up to a distance."""
    found = np.append(first, False)
    count = len(first)
    has_inputs = np.bincount(edges.user, minlength=count) > 0
    for _ in range(_DISTANCE):
        is_open = np.bincount(edges.user[~found[edges.source]], minlength=count) > 0
        new = candidates & has_inputs & ~is_open & ~found[:-1]
        if not new.any():
            break
        found[:-1] |= new
    return found[:-1]


def _initial(kind: Coded, edges: Edges, candidates: Bools) -> Bools:
    """The candidates that only compute initial values: they lead only to assignments."""
    found = candidates & _is_kind(kind, _ASSIGNMENTS)
    edges = edges.where(edges.source >= 0)
    has_users = np.bincount(edges.source, minlength=len(found)) > 0
    for _ in range(_DISTANCE):
        is_used = np.bincount(edges.source[~found[edges.user]], minlength=len(found)) > 0
        new = candidates & has_users & ~is_used & ~found
        if not new.any():
            break
        found |= new
    return found


def _has_others(place: Ints, flags: Bools) -> Bools:
    """For each op, whether an op with the same place is flagged."""
    some = np.zeros(int(place.max(initial=-1)) + 1, np.bool_)
    some[place[flags]] = True
    return some[place]


def _set_first(found: Ints, owner: Ints, other: Ints, rank: Ints) -> None:
    """Set the other end of each owner's edge whose other end has the lowest rank."""
    order = np.lexsort((rank[other], owner))
    owner, other = owner[order], other[order]
    is_first = np.ones(len(owner), np.bool_)
    is_first[1:] = owner[1:] != owner[:-1]
    found[owner[is_first]] = other[is_first]


def _followed(towards: Ints) -> Ints:
    """The op at the end of the chain that starts at each op; an op of a circle is its own end."""
    own = np.arange(len(towards))
    once = np.where(towards >= 0, towards, own)
    found = once
    for _ in range(len(towards).bit_length()):
        found = found[found]
    return np.where(once[found] == found, found, own)


def _is_kind(kind: Coded, wanted: frozenset[str]) -> Bools:
    known = np.array([value in wanted for value in kind.values], np.bool_)
    return np.asarray(known[kind.codes])


def _starts(kind: Coded, beginnings: tuple[str, ...]) -> Bools:
    found = np.zeros(len(kind.values), np.bool_)
    for beginning in beginnings:
        found |= kind.values.starts_with(beginning)
    return np.asarray(found[kind.codes])
