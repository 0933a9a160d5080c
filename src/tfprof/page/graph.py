"""The section `graph`: the groups of the drawn graph, and how each op is drawn.

The forward pass is drawn by layer. Gradients are a part of the layer that they belong to; they also
have groups of their own, which are drawn on request.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tfprof.columns import Bools, Ints, Strings, distinct, ints
from tfprof.model.layers import NO_LAYER
from tfprof.model.ops import Phase
from tfprof.model.profile import ProfileColumns
from tfprof.page.folding import HIDDEN, Edges, Folding, data_edges, fold
from tfprof.page.groups import NO_ROW, Arranger, Group, Kind
from tfprof.views.layers import OTHER, LayerRows, arrange
from tfprof.views.tree import Tree

# Phases that are drawn beside the forward pass.
_ASIDE = (Phase.BACKWARD, Phase.OPTIMIZER)

_QUIET, _CALL, _GRADIENT = 1, 2, 4  # the bits of `flags`


def section(profile: ProfileColumns) -> dict[str, Any] | None:
    """The groups in preorder, and for each op its group and the op that it is drawn in."""
    if not len(profile.ops):
        return None
    drawing = _drawing(profile)
    order = list(_groups(drawing).walk())
    folding, own = drawing.folding, np.arange(len(profile.ops))
    flags = _QUIET * folding.is_quiet + _CALL * folding.is_call + _GRADIENT * drawing.is_gradient
    return {
        "end": _tree(order).end,
        "label": Strings(_labels(order)),
        "row": ints([group.row for group in order]),
        "kind": ints([group.kind for group in order]),
        "aside": ints([group.is_aside for group in order]),
        "ops": {
            "group": _group_of_ops(drawing, order),
            # Relative numbers compress better: 0 for a node, one more than the op for `HIDDEN`.
            "back": own - folding.into,
            "flags": flags,
            "forward": _forward(drawing),
        },
    }


class _Drawing(NamedTuple):
    """A profile, its rows in the layers view, and how its ops are drawn."""

    profile: ProfileColumns
    rows: LayerRows
    row: Ints  # of each op
    is_gradient: Bools  # of an op of the same row
    folding: Folding
    edges: Edges  # between ops that are not quiet

    @property
    def is_node(self) -> Bools:
        """Whether each op is a node of its own."""
        return np.asarray(self.folding.into == np.arange(len(self.row)))

    @property
    def other_row(self) -> int:
        """The row of ops that belong to nothing else, 0 if there is none."""
        return _other_row(self.rows)


def _drawing(profile: ProfileColumns) -> _Drawing:
    rows = arrange(profile)
    members = rows.arrangement.members
    row = np.zeros(len(profile.ops), np.int64)
    row[members.values] = members.owners
    is_gradient = np.asarray(profile.phase == Phase.BACKWARD)
    # Where there are only gradients, or ops of all kinds, they are not a part of anything.
    is_layer = np.bincount(row[~is_gradient], minlength=len(members)) > 0
    is_layer[[0, _other_row(rows)]] = False
    is_gradient &= is_layer[row]
    folding = fold(profile, 2 * row + is_gradient)
    edges = data_edges(profile)
    edges = edges.where((edges.source >= 0) & ~np.append(folding.is_quiet, True)[edges.source])
    return _Drawing(profile, rows, ints(row), is_gradient, folding, edges)


def _other_row(rows: LayerRows) -> int:
    names, parents = rows.arrangement.name, rows.arrangement.tree.parents
    top = np.flatnonzero((parents == 0) & (rows.layer == NO_LAYER))
    return next((row for row in top.tolist() if names[row] == OTHER), 0)


def _groups(drawing: _Drawing) -> Group:
    """The group of the whole graph, with all groups in it."""
    top, others = _by_row(drawing, ~drawing.is_gradient)
    forward = drawing.edges.where(
        ~(drawing.is_gradient[drawing.edges.source] | drawing.is_gradient[drawing.edges.user])
    )
    _set_aside(drawing, forward, top, others)
    links = _links(drawing, drawing.edges)
    arranger = Arranger(drawing.profile.ops, drawing.row, _links(drawing, forward), links)
    aside = [group for group in (*top.groups, others) if group.is_aside]
    top.groups = [group for group in top.groups if not group.is_aside]
    for group in (top, *aside):
        arranger.arrange(group)
    top.groups += [group for group in aside if group is not others or _is_used(drawing, group)]
    if drawing.is_gradient.any():
        backward, _ = _by_row(drawing, drawing.is_gradient)
        backward.label, backward.kind, backward.row = "backward", Kind.BACKWARD, NO_ROW
        backward.is_aside = True
        arranger.arrange(backward)
        top.groups.append(backward)
    return top


def _links(drawing: _Drawing, edges: Edges) -> Ints:
    """The pairs of different nodes that edges connect."""
    into = drawing.folding.into
    first, second = into[edges.source], into[edges.user]
    is_link = (first >= 0) & (second >= 0) & (first != second)
    return _distinct(first[is_link], second[is_link])


def _distinct(first: Ints, second: Ints) -> Ints:
    """The distinct pairs of two columns, as two rows."""
    width = int(second.max(initial=0)) + 1
    return np.array(np.divmod(distinct(first * width + second), width))


def _is_used(drawing: _Drawing, others: Group) -> bool:
    """Whether the group of other ops has any, with or without nodes."""
    is_hidden = drawing.folding.into == HIDDEN
    return bool(others.ops or (is_hidden & (drawing.row == others.row)).any())


def _by_row(drawing: _Drawing, is_drawn: Bools) -> tuple[Group, Group]:
    """The groups of the rows that have ops to be drawn, and that of other ops."""
    arrangement, other_row = drawing.rows.arrangement, drawing.other_row
    names, parents = arrangement.name, arrangement.tree.parents.tolist()
    counts = np.bincount(drawing.row[is_drawn], minlength=len(names))
    is_used = arrangement.tree.sums_below(counts) > 0
    top = Group("", Kind.LAYER, 0)
    others = Group(OTHER, Kind.LAYER, other_row or NO_ROW, is_aside=True)
    # Rows below other ops are drawn next to it.
    by_row = {0: top, other_row: top}
    for row in np.flatnonzero(is_used).tolist():
        if row not in by_row:
            outer = parents[row]
            label = names[row] if by_row[outer] is top else names[row][len(names[outer]) + 1 :]
            by_row[row] = Group(label, Kind.LAYER, row)
            by_row[outer].groups.append(by_row[row])
    by_row |= {other_row: others} if other_row else {}
    nodes = np.flatnonzero(is_drawn & drawing.is_node)
    nodes = nodes[np.argsort(drawing.profile.ops.defined[nodes], kind="stable")]
    for op, row in zip(nodes.tolist(), drawing.row[nodes].tolist(), strict=True):
        by_row[row].ops.append(op)
    return top, others


def _set_aside(drawing: _Drawing, edges: Edges, top: Group, others: Group) -> None:
    """Decide what is drawn beside the forward pass: optimizer, saving, and unconnected ops."""
    units = _Units.of(drawing, top, others)
    is_main = units.reached(drawing, edges)
    for number, group in enumerate(top.groups):
        group.is_aside = not is_main[number]
    loose = [*top.ops, *others.ops]
    kept = is_main[len(top.groups) :].tolist()
    top.ops = [op for op, keep in zip(loose, kept, strict=True) if keep]
    others.ops = [op for op, keep in zip(loose, kept, strict=True) if not keep]


class _Units(NamedTuple):
    """The groups at the top, followed by single ops there."""

    of_ops: Ints  # the unit of each op, -1 if none
    total: int
    layers: Ints  # the units that are layers

    @classmethod
    def of(cls, drawing: _Drawing, top: Group, others: Group) -> _Units:
        unit_of_row = np.full(len(drawing.rows.layer), -1)
        end = drawing.rows.arrangement.tree.end
        for number, group in enumerate(top.groups):
            unit_of_row[group.row : end[group.row]] = number
        loose = [*top.ops, *others.ops]
        count = len(top.groups)
        unit_of_node = np.full(len(drawing.row) + 1, -1)
        unit_of_node[loose] = np.arange(count, count + len(loose))
        of_row = unit_of_row[drawing.row]
        found = np.where(of_row >= 0, of_row, unit_of_node[drawing.folding.into])
        rows = np.array([group.row for group in top.groups], np.int64)
        return cls(ints(found), count + len(loose), np.flatnonzero(drawing.rows.layer[rows] >= 0))

    def reached(self, drawing: _Drawing, edges: Edges) -> Bools:
        """The units that are connected with layers; all of the forward pass if there are none."""
        is_used = (self.of_ops >= 0) & ~drawing.is_gradient
        aside = is_used & np.isin(drawing.profile.phase, _ASIDE)
        every = np.bincount(self.of_ops[is_used], minlength=self.total)
        is_open = 2 * np.bincount(self.of_ops[aside], minlength=self.total) <= every
        if not len(self.layers):
            return np.asarray(is_open)
        pairs = self.of_ops[[edges.source, edges.user]]
        pairs = _distinct(*pairs[:, (pairs >= 0).all(axis=0)])
        pairs = np.concatenate((pairs, pairs[::-1]), axis=1)
        found = np.zeros(self.total, np.bool_)
        found[self.layers] = True
        new = self.layers
        while len(new):
            near = pairs[1][np.isin(pairs[0], new)]
            new = np.unique(near[is_open[near] & ~found[near]])
            found[new] = True
        return found


def _tree(order: Sequence[Group]) -> Tree:
    """The tree of groups in preorder."""
    number_of = {id(group): number for number, group in enumerate(order)}
    parents = [-1] * len(order)
    for number, group in enumerate(order):
        for inner in group.groups:
            parents[number_of[id(inner)]] = number
    return Tree.of_parents(parents)


def _labels(order: Sequence[Group]) -> list[str]:
    """What each group is called inside of the group that contains it."""
    around = {id(inner): group.label for group in order for inner in group.groups}
    return [group.label_inside(around.get(id(group), "")) for group in order]


def _group_of_ops(drawing: _Drawing, order: list[Group]) -> Ints:
    """The group of each op: that of the node that it is drawn in, or else that of its row."""
    count = len(drawing.rows.layer)
    of_row = np.zeros((2, count + 1), np.int64)  # forward and backward
    of_node = np.full(len(drawing.row) + 1, -1)
    is_backward = 0
    for number, group in enumerate(order):
        is_backward |= group.kind == Kind.BACKWARD  # it is the last one at the top
        of_node[group.ops] = number
        if group.kind == Kind.LAYER:
            of_row[is_backward, group.row] = number
    found = of_node[drawing.folding.into]
    hidden = of_row[drawing.is_gradient.astype(np.int64), drawing.row]
    return ints(np.where(drawing.folding.into == HIDDEN, hidden, found))


def _forward(drawing: _Drawing) -> Ints:
    """For each gradient, the node of its forward op if that is in the same row, or `HIDDEN`."""
    gradients = np.flatnonzero(drawing.is_gradient)
    forward = np.maximum(drawing.profile.forward_of[gradients], HIDDEN)
    is_near = (forward >= 0) & (drawing.row[forward] == drawing.row[gradients])
    is_near &= ~drawing.is_gradient[forward]
    return ints(np.where(is_near, drawing.folding.into[forward], HIDDEN))
