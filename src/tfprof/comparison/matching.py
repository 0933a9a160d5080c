"""Which row of one arrangement is which row of another, one to one.

Rows are matched from the root down. Below a pair of rows, children are paired

1. by name. Names that differ only in a number, such as `dense_1` and `dense_2`, or the lines of a
   function, are paired in order instead if some were inserted or removed, so that as many as
   possible have the same content;
2. by content, which is the kinds, parameters and names of everything below: a scope was renamed;
3. by similar content: at least half of the children are the same, and an op has the same kind.

What is left is searched for in the whole tree by content: it was moved. Equal subtrees are paired
as a whole, so two large models with few differences are matched quickly.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from tfprof.columns import Ints
from tfprof.views.tree import Tree

NO_ROW = -1

# Comparing two sequences in every way takes as many steps as the product of their lengths.
_MOST_COMPARISONS = 10_000
# As many children are compared, at most, to find similar scopes below one row.
_MOST_CHILDREN = 1_000_000
# The share of common children from which two scopes are similar.
_LEAST_ALIKE = 0.5

# What it is worth to pair two rows of a family: equal content, an equal name, or neither.
_SAME_CONTENT, _SAME_NAME, _SUBSTITUTE = 8, 2, 1


class PlainName(NamedTuple):
    """The own name of a row, which is unique below its parent, without its number if it has one."""

    text: str
    family: str
    number: int  # -1 if it has none


class Vocabulary:
    """Numbers for texts, shared by both sides."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}

    def codes(self, texts: Iterable[str]) -> Ints:
        known = self._codes
        return np.array([known.setdefault(text, len(known)) for text in texts], np.int64)


class Rows(NamedTuple):
    """The rows of one side: their nesting, names and content."""

    tree: Tree
    name: Ints  # a code for the own name of each row
    family: Ints
    number: Ints
    content: Ints  # a hash of the ops of each row, 0 if it has none
    weight: Ints  # the parameters of each row
    kind: Ints  # a code for the kind of each row that is one op, 0 for others

    @classmethod
    def of(
        cls,
        tree: Tree,
        names: Sequence[str],
        plain: Callable[[str], PlainName],
        *,
        content: Ints,
        weight: Ints,
        kind: Ints,
        vocabulary: Vocabulary,
    ) -> Rows:
        """Rows with their own `names`, many of which are equal; `plain` splits one."""
        codes = vocabulary.codes(names)
        distinct, first, place = np.unique(codes, return_index=True, return_inverse=True)
        found = [plain(names[row]) for row in first.tolist()]
        family = vocabulary.codes(name.family for name in found)
        number = np.array([name.number for name in found], np.int64)
        return cls(tree, distinct[place], family[place], number[place], content, weight, kind)


def mixed(column: Ints) -> Ints:
    """A hash of each number, in which all bits depend on all bits (SplitMix64)."""
    bits = column.astype(np.uint64)
    with np.errstate(over="ignore"):
        bits = bits + np.uint64(0x9E3779B97F4A7C15)
        bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (bits ^ (bits >> np.uint64(31))).view(np.int64)


def match(base: Rows, new: Rows) -> Ints:
    """For each row of `base`, its row in `new`, or `NO_ROW`; the roots match."""
    return _Matching(_Side(base), _Side(new)).found()


class _Side:
    """One side with its hashes, as lists where rows are visited one by one."""

    def __init__(self, rows: Rows) -> None:
        tree = rows.tree
        self.end: list[int] = tree.end.tolist()
        self.ends, self.depths, self.names = tree.end, tree.depths, rows.name
        self.name: list[int] = rows.name.tolist()
        self.family: list[int] = rows.family.tolist()
        self.number: list[int] = rows.number.tolist()
        self.kind: list[int] = rows.kind.tolist()
        # The content of a subtree includes the names of the rows below its root.
        by_name, by_family = mixed(rows.name), mixed(~rows.family)
        self.exact: list[int] = (tree.sums_below(rows.content + by_name) - by_name).tolist()
        self.loose: list[int] = (tree.sums_below(rows.content + by_family) - by_family).tolist()
        self.is_heavy: list[bool] = ((tree.sizes > 1) | (rows.weight > 0)).tolist()

    def children(self, row: int) -> list[int]:
        """The rows directly below a row."""
        found, child, end = [], row + 1, self.end[row]
        while child < end:
            found.append(child)
            child = self.end[child]
        return found

    def below(self, row: int) -> slice:
        return slice(row + 1, self.end[row])


class _Matching:
    def __init__(self, base: _Side, new: _Side) -> None:
        self._base, self._new = base, new
        self._new_of = np.full(len(base.end), NO_ROW)
        self._is_taken = np.zeros(len(new.end), np.bool_)

    def found(self) -> Ints:
        left: list[int] = []
        self._descend(0, 0, left)
        self._find_moved(left)
        return self._new_of

    def _descend(self, base: int, new: int, left: list[int]) -> None:
        """Pair two rows and what is below them; `left` collects rows of the base without a pair."""
        pairs = [(base, new)]
        while pairs:
            base, new = pairs.pop()
            self._new_of[base], self._is_taken[new] = new, True
            if not self._pair_all_below(base, new):
                # What is below a moved row may have been paired before.
                free = [row for row in self._new.children(new) if not self._is_taken[row]]
                children = self._base.children(base), free
                found, missing = _Siblings(self._base, self._new, *children).pairs()
                pairs += found
                left += missing

    def _pair_all_below(self, base: int, new: int) -> bool:
        """Pair everything below two rows if it has the same names, nesting and content."""
        one, other = self._base, self._new
        if one.exact[base] != other.exact[new]:
            return False
        here, there = one.below(base), other.below(new)
        is_free = not self._is_taken[there].any()
        is_same = (
            is_free
            and np.array_equal(one.names[here], other.names[there])
            and np.array_equal(
                one.depths[here] - one.depths[base], other.depths[there] - other.depths[new]
            )
        )
        if is_same:
            self._new_of[here] = np.arange(there.start, there.stop)
            self._is_taken[there] = True
        return is_same

    def _find_moved(self, left: list[int]) -> None:
        """Search the rows without a pair for the content of `left`, the largest first."""
        one, other = self._base, self._new
        places: dict[int, list[int]] = defaultdict(list)
        for row in np.flatnonzero(~self._is_taken)[::-1].tolist():
            if other.is_heavy[row]:
                places[other.loose[row]].append(row)
        while left and places:
            size = {row: one.end[row] - row for row in left}
            below: list[int] = []
            for row in sorted(left, key=lambda row: (-size[row], row)):
                if not one.is_heavy[row]:
                    continue
                rows = places.get(one.loose[row], [])
                while rows and self._is_taken[rows[-1]]:
                    rows.pop()
                if rows:
                    self._descend(row, rows.pop(), below)
                else:
                    below += one.children(row)
            left = below


class _Siblings:
    """The children of two rows that correspond."""

    def __init__(self, one: _Side, other: _Side, base: list[int], new: list[int]) -> None:
        self._one, self._other = one, other
        self._base, self._new = dict.fromkeys(base), dict.fromkeys(new)  # those without a pair
        self._pairs: list[tuple[int, int]] = []

    def pairs(self) -> tuple[list[tuple[int, int]], list[int]]:
        """The pairs, and the rows of the base that have none."""
        self._by_name()
        if self._base and self._new:
            self._by_content()
        if self._base and self._new:
            self._by_likeness()
        return self._pairs, [*self._base]

    def _pair(self, base: int, new: int) -> None:
        del self._base[base], self._new[new]
        self._pairs.append((base, new))

    def _by_name(self) -> None:
        base, new = (
            _grouped(rows, side.family)
            for rows, side in ((self._base, self._one), (self._new, self._other))
        )
        for family in base.keys() & new.keys():
            for pair in self._family_pairs(base[family], new[family]):
                self._pair(*pair)

    def _family_pairs(self, base: list[int], new: list[int]) -> list[tuple[int, int]]:
        if len(base) == len(new) == 1:
            return [(base[0], new[0])]
        one, other = self._one, self._other
        base = sorted(base, key=one.number.__getitem__)
        new = sorted(new, key=other.number.__getitem__)
        if [one.name[row] for row in base] == [other.name[row] for row in new]:
            return list(zip(base, new, strict=True))
        # If none seems to be missing, pairs may differ in both name and content.
        least = _SUBSTITUTE if len(base) == len(new) else 0
        first, last = _ends(base, new, lambda row, it: one.loose[row] == other.loose[it])
        found = [*zip(base[:first], new[:first], strict=True)]
        found += zip(base[len(base) - last :], new[len(new) - last :], strict=True)
        base, new = base[first : len(base) - last], new[first : len(new) - last]
        if not base or not new:
            return found
        if len(base) * len(new) > _MOST_COMPARISONS:
            return found + self._long_family_pairs(base, new)
        gains = [[self._gain(row, it) or least for it in new] for row in base]
        return found + [(base[i], new[j]) for i, j in _in_order(gains)]

    def _long_family_pairs(self, base: list[int], new: list[int]) -> list[tuple[int, int]]:
        """Pair rows whose content is unique on both sides, in order, and others by name."""
        one, other = self._one, self._other
        old, current = _grouped(base, one.loose), _grouped(new, other.loose)
        place = {row: at for at, row in enumerate(new)}
        unique = [
            (row, current[content][0])
            for row in base
            if len(old[content := one.loose[row]]) == 1 and len(current.get(content, ())) == 1
        ]
        found = [unique[at] for at in _longest_rise([place[row] for _, row in unique])]
        taken, paired = {row for row, _ in found}, {row for _, row in found}
        named = {other.name[row]: row for row in new if row not in paired}
        return found + [
            (row, named[name])
            for row in base
            if row not in taken and (name := one.name[row]) in named
        ]

    def _gain(self, base: int, new: int) -> int:
        """What it is worth to pair two rows."""
        one, other = self._one, self._other
        same_content = _SAME_CONTENT if one.loose[base] == other.loose[new] else 0
        return same_content + (_SAME_NAME if one.name[base] == other.name[new] else 0)

    def _by_content(self) -> None:
        """Pair rows of equal content; single ops without parameters only if there is no choice."""
        base, new = (
            _grouped(rows, side.loose)
            for rows, side in ((self._base, self._one), (self._new, self._other))
        )
        for content in base.keys() & new.keys():
            rows, others = base[content], new[content]
            if self._one.is_heavy[rows[0]] or len(rows) == len(others) == 1:
                for row, other in zip(rows, others, strict=False):
                    self._pair(row, other)

    def _by_likeness(self) -> None:
        """Pair rows that have at least half of their children in common, the most alike first."""
        one, other = (
            {row: children for row in rows if (children := _families(side, row))}
            for rows, side in ((self._base, self._one), (self._new, self._other))
        )
        sizes = [sum(map(len, side.values())) for side in (one, other)]
        if sizes[0] * len(other) + sizes[1] * len(one) > _MOST_CHILDREN:
            return
        alike = [
            (len(mine & yours) / len(mine | yours), base, new)
            for base, mine in one.items()
            for new, yours in other.items()
            if self._one.kind[base] == self._other.kind[new]
        ]
        for share, base, new in sorted(alike, key=lambda found: (-found[0], *found[1:])):
            if share >= _LEAST_ALIKE and base in self._base and new in self._new:
                self._pair(base, new)


def _grouped(rows: Iterable[int], key: Sequence[int]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for row in rows:
        found.setdefault(key[row], []).append(row)
    return found


def _families(side: _Side, row: int) -> set[int]:
    return {side.family[child] for child in side.children(row)}


def _ends(
    base: Sequence[int], new: Sequence[int], is_same: Callable[[int, int], bool]
) -> tuple[int, int]:
    """How many rows at the start, and then at the end, have equal content."""
    first, last, shortest = 0, 0, min(len(base), len(new))
    while first < shortest and is_same(base[first], new[first]):
        first += 1
    while last < shortest - first and is_same(base[-1 - last], new[-1 - last]):
        last += 1
    return first, last


def _longest_rise(numbers: Sequence[int]) -> list[int]:
    """The places of the longest ascending part of distinct numbers."""
    tails: list[int] = []  # the smallest last number of a part of each length
    ends: list[int] = []  # its place
    before = [-1] * len(numbers)
    for place, number in enumerate(numbers):
        length = bisect_left(tails, number)
        before[place] = ends[length - 1] if length else -1
        tails[length : length + 1] = [number]
        ends[length : length + 1] = [place]
    found, place = [], ends[-1] if ends else -1
    while place >= 0:
        found.append(place)
        place = before[place]
    return found[::-1]


def _in_order(gains: list[list[int]]) -> list[tuple[int, int]]:
    """The places of pairs in order, none crossing another, that gain most in total."""
    rows, columns = len(gains), len(gains[0])
    # best[i][j] is what the pairs from row i and column j on can gain.
    best = [[0] * (columns + 1) for _ in range(rows + 1)]
    for i in range(rows - 1, -1, -1):
        here, following, gain = best[i], best[i + 1], gains[i]
        for j in range(columns - 1, -1, -1):
            here[j] = max(following[j], here[j + 1], following[j + 1] + gain[j])
    found, i, j = [], 0, 0
    while i < rows and j < columns:
        if gains[i][j] and best[i][j] == best[i + 1][j + 1] + gains[i][j]:
            found.append((i, j))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return found
