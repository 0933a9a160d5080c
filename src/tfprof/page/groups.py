"""The groups of the drawn graph: layers, and what makes a group with many children readable.

The ops of a large layer are grouped by scope. Many layers side by side are grouped by the start of
their names, or by where the model comes together again; alike neighbours are one series.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import groupby
from math import isqrt

import numpy as np

from tfprof.columns import Ints, Ragged, offsets_of
from tfprof.kernels.rows import grouped
from tfprof.measures.layers import first_outputs
from tfprof.model.ops import Ops

NO_ROW = -1

_TO = " … "  # between the names of the first and the last layer of a group

_MANY_OPS = 10  # more ops than this in a layer are grouped by scope
_MANY_LAYERS = 20  # more layers than this side by side are grouped
_MOST_LAYERS = 60  # more layers than this, if no other way helps, are divided by their order
_MANY_ALIKE = 12  # among more than this, alike neighbours are one series
_MANY_SAME = 6  # as many ops of the same kind with the same neighbours are one group
_FEW = 3  # fewer members than this are no group
_MOST_SCOPES = 12  # levels of scopes in a layer
_MOST_WORDS = 16  # words of a name
_MOST_LEFT = 0.7  # grouping that leaves more than this share of the children is not worth it


class Kind(IntEnum):
    """What a group is."""

    LAYER = 0  # a row of the layers view
    SCOPE = 1  # ops of a layer that share a scope
    NAMES = 2  # layers whose names start alike
    PART = 3  # layers between two points through which all data flows
    SERIES = 4  # alike neighbours
    BACKWARD = 5  # the gradients of all layers
    ALIKE = 6  # ops of the same kind that use the same results, and are used by the same ops


_GATHERED = (Kind.NAMES, Kind.PART, Kind.SERIES)
_SPANS = (Kind.PART, Kind.SERIES)  # named after their first and last layer


@dataclass(slots=True, eq=False)
class Group:
    """A group: its row in the layers view if it is one, the groups in it and the ops in it."""

    label: str
    kind: Kind
    row: int = NO_ROW
    groups: list[Group] = field(default_factory=list)
    ops: list[int] = field(default_factory=list)
    is_aside: bool = False

    def walk(self) -> Iterator[Group]:
        """The group and all groups below it, in preorder."""
        waiting = [self]
        while waiting:
            group = waiting.pop()
            yield group
            waiting += reversed(group.groups)

    def label_inside(self, outer: str) -> str:
        """The label without words that are known from the label of the group around it."""
        return _TO.join(_without(outer, name) for name in self.label.split(_TO))

    def all_ops(self) -> list[int]:
        """The ops of the group and of all groups below it."""
        return [op for group in self.walk() for op in group.ops]


class Arranger:
    """Arranges the children of groups."""

    def __init__(self, ops: Ops, row: Ints, forward: Ints, links: Ints) -> None:
        """`links` has pairs of connected nodes, `forward` only those of the forward pass."""
        shapes = first_outputs(ops, np.arange(len(ops)))
        self._name, self._kind = ops.name.__getitem__, ops.kind
        # Equal numbers for ops that look alike.
        self._look = ops.kind.codes * len(shapes.values) + shapes.codes
        self._row_count = int(row.max(initial=0)) + 1
        self._links = row[forward]
        self._before = _neighbours(len(row), links[1], links[0])
        self._after = _neighbours(len(row), links[0], links[1])

    def arrange(self, top: Group) -> None:
        """Arrange the children of a group and of all groups below it."""
        for group in list(top.walk()):
            self._by_scope(group)
        for group in list(top.walk()):
            self._by_neighbours(group)
            for way in (self._in_series, _by_name, self._by_part, _by_order, self._in_series):
                group.groups = way(group.groups)
        for group in top.walk():
            self._absorb(group)

    def _by_scope(self, group: Group) -> None:
        """Group the ops of a layer by scope, as far as that makes groups of several ops."""
        if not group.ops or len(group.ops) + len(group.groups) <= _MANY_OPS:
            return
        waiting = [(group, [(self._name(op).split("/"), op) for op in group.ops])]
        for _ in range(_MOST_SCOPES):
            waiting = [
                inner
                for outer, paths in waiting
                if len(paths) + len(outer.groups) > _MANY_OPS
                for inner in _scopes(outer, paths)
            ]

    def _by_neighbours(self, group: Group) -> None:
        """Group ops of the same kind that are connected with the same ops."""
        if len(group.ops) <= _MANY_OPS:
            return
        same: dict[tuple[int, bytes, bytes], list[int]] = {}
        for op in group.ops:
            ends = self._before[op].tobytes(), self._after[op].tobytes()
            same.setdefault((int(self._kind.codes[op]), *ends), []).append(op)
        group.ops = []
        for (_, before, after), ops in same.items():
            if len(ops) < _MANY_SAME or not (before or after):
                group.ops += ops
            else:
                group.groups.append(Group(self._kind[ops[0]], Kind.ALIKE, ops=ops))

    def _by_part(self, groups: list[Group]) -> list[Group]:
        """Group layers that are between two points through which all data flows."""
        if len(groups) <= _MANY_LAYERS:
            return groups
        place = np.full(self._row_count, -1)
        for number, group in enumerate(groups):
            place[[one.row for one in group.walk() if one.row != NO_ROW]] = number
        first, last = np.sort(place[self._links], axis=0)
        spans = (first >= 0) & (last > first + 1)
        # The number of edges that pass each layer by; 0 at a point through which all data flows.
        passing = np.bincount(first[spans] + 1, minlength=len(groups) + 1)
        passing = np.cumsum(passing - np.bincount(last[spans], minlength=len(groups) + 1))
        found: list[Group] = []
        part: list[Group] = []
        for group, count in zip(groups, passing.tolist(), strict=False):
            part.append(group)
            if count == 0:
                is_most = 2 * len(part) > len(groups)
                found += part if is_most else _joined(part, Kind.PART, group.label)
                part = []
        return _if_fewer([*found, *part], groups)

    def _in_series(self, groups: list[Group]) -> list[Group]:
        """Make alike neighbours one group."""
        if len(groups) <= _MANY_ALIKE:
            return groups
        found: list[Group] = []
        for _, same in groupby(groups, self._appearance):
            series = list(same)
            found += _joined(series, Kind.SERIES, _ends(series))
        return found if len(found) > 1 else groups

    def _absorb(self, group: Group) -> None:
        """Move ops between the layers of a group into it, such as the sums of residual blocks."""
        spans = [inner for inner in group.groups if inner.kind in _GATHERED]
        if not spans or not group.ops:
            return
        span_of = {op: number for number, span in enumerate(spans) for op in span.all_ops()}
        taken = set[tuple[int, int]]()  # spans and the looks of ops that moved there
        left: list[int] = []
        for op in group.ops:  # in order of definition
            before = {span_of.get(other) for other in self._before[op].tolist()}
            after = {span_of.get(other) for other in self._after[op].tolist()}
            found = next(iter((before & after) - {None}), None)
            if found is None and len(before) == 1:
                (only,) = before  # what comes after the last layer, if it is like those before
                found = only if (only, self._look[op]) in taken else None
            if found is None:
                left.append(op)
            else:
                span_of[op] = found
                spans[found].ops.append(op)
                taken.add((found, self._look[op]))
        group.ops = left

    def _appearance(self, group: Group) -> bytes:
        return np.sort(self._look[group.all_ops()]).tobytes() or group.label.encode()


def _without(outer: str, name: str) -> str:
    """A name without the words before it; a number needs the word that it belongs to."""
    rest = name.removeprefix(f"{outer}_")
    if rest == name or not outer:
        return name
    return f"{outer.rpartition('_')[2]}_{rest}" if rest[:1].isdigit() else rest or name


def _neighbours(count: int, owner: Ints, other: Ints) -> Ragged:
    return Ragged(offsets_of(np.bincount(owner, minlength=count)), other[grouped(owner, count)])


def _scopes(
    group: Group, paths: list[tuple[list[str], int]]
) -> Iterator[tuple[Group, list[tuple[list[str], int]]]]:
    """Move ops to groups of their scopes, and return these groups with the rest of the paths."""
    shared = _shared([path[:-1] for path, _ in paths])
    by_scope: dict[str, list[tuple[list[str], int]]] = {}
    for path, op in paths:
        by_scope.setdefault(path[shared], []).append((path[shared:], op))
    if len(by_scope) < 2:
        return
    group.ops = []
    for scope, inside in by_scope.items():
        members = [op for _, op in inside]
        if len(inside) < _FEW:
            group.ops += members
            continue
        inner = Group(scope, Kind.SCOPE, ops=members)
        group.groups.append(inner)
        # The op that has the name of the scope stays at its top.
        yield inner, [(path[1:] if len(path) > 1 else path, op) for path, op in inside]


def _shared(texts: list[list[str]]) -> int:
    """The number of words that all texts start with."""
    first, last = min(texts), max(texts)
    both = zip(first, last, strict=False)
    return next((place for place, (one, other) in enumerate(both) if one != other), len(first))


def _by_name(groups: list[Group]) -> list[Group]:
    """Group neighbours whose names start with the same words."""
    if len(groups) <= _MANY_LAYERS:
        return groups
    return _by_words([(group.label.split("_")[:_MOST_WORDS], group) for group in groups], 0)


def _by_words(groups: list[tuple[list[str], Group]], depth: int) -> list[Group]:
    """The groups with those joined that have the same words from `depth` on."""
    plain = [group for _, group in groups]
    if len(groups) <= _MANY_ALIKE:
        return plain
    found: list[Group] = []
    for _, same in groupby(groups, lambda one: one[0][depth : depth + 1]):
        run = list(same)
        shared = _shared([words for words, _ in run])
        if len(run) < _FEW or shared <= depth:
            found += [group for _, group in run]
        elif 2 * len(run) > len(groups):
            found += _by_words(run, shared)
        else:
            label = "_".join(run[0][0][:shared])
            found.append(Group(label, Kind.NAMES, groups=_by_words(run, shared)))
    return _if_fewer(found, plain)


def _by_order(groups: list[Group]) -> list[Group]:
    """Divide very many layers into parts of the same size, in the order of the model."""
    if len(groups) <= _MOST_LAYERS:
        return groups
    size = isqrt(len(groups))
    parts = [groups[start : start + size] for start in range(0, len(groups), size)]
    return [one for part in parts for one in _joined(part, Kind.PART, _ends(part))]


def _if_fewer(found: list[Group], before: list[Group]) -> list[Group]:
    return found if len(found) <= _MOST_LEFT * len(before) else before


def _ends(groups: list[Group]) -> str:
    """The labels of the first and the last layer in these groups."""
    first, last = groups[0], groups[-1]
    while first.kind in _SPANS:
        first = first.groups[0]
    while last.kind in _SPANS:
        last = last.groups[-1]
    return f"{first.label}{_TO}{last.label}"


def _joined(groups: list[Group], kind: Kind, label: str) -> list[Group]:
    """One group of several, unless they are few."""
    return groups if len(groups) < _FEW else [Group(label, kind, groups=groups)]
