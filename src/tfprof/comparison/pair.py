"""Two profiles, and which of their rows and ops correspond."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tfprof.columns import Bools, Ints, Ragged, Strings
from tfprof.comparison.matching import NO_ROW, PlainName, Rows, Vocabulary, match, mixed
from tfprof.measures.numbers import EVERYTHING, per_op
from tfprof.memo import remembered
from tfprof.model.profile import ProfileColumns
from tfprof.options import Options
from tfprof.views import code, graph, layers, op, scope
from tfprof.views.select import Arrangement

# Names that end in more digits are not numbered.
_LONG_NUMBER = 10


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """The profile before a change and the profile after it."""

    base: ProfileColumns
    new: ProfileColumns
    memo: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)


class RowPairs(NamedTuple):
    """For each row of an arrangement, the row of the other side, or `NO_ROW`."""

    new_of: Ints
    base_of: Ints
    is_moved: Bools  # which rows of the new side are below another row than before


def row_pairs(pair: Pair, kind: str, options: Options) -> RowPairs:
    """Which rows of a view correspond; a row of an arrangement is that of `View.arranged`."""
    return _row_pairs(pair, kind, my_code=options.my_code)


@remembered
def _row_pairs(pair: Pair, kind: str, *, my_code: bool) -> RowPairs:
    if kind == "graph":
        return _graph_pairs(pair)
    vocabulary = Vocabulary()
    base, new = (_rows(kind, side, vocabulary, my_code) for side in (pair.base, pair.new))
    new_of = match(base, new)
    base_of = _inverse(new_of, len(new.tree))
    both = np.flatnonzero(base_of >= 0)[1:]
    is_moved = np.zeros(len(base_of), np.bool_)
    is_moved[both] = new_of[base.tree.parents[base_of[both]]] != new.tree.parents[both]
    return RowPairs(new_of, base_of, is_moved)


def _inverse(new_of: Ints, count: int) -> Ints:
    base_of = np.full(count, NO_ROW)
    known = np.flatnonzero(new_of >= 0)
    base_of[new_of[known]] = known
    return base_of


def op_pairs(pair: Pair) -> Ints:
    """For each op of the base, the op of the new profile, or `NO_ROW`."""
    return _op_pairs(pair)


@remembered
def _op_pairs(pair: Pair) -> Ints:
    rows = _row_pairs(pair, "scope", my_code=False).new_of
    old, new = (_single_ops(scope.arrange(side).members) for side in (pair.base, pair.new))
    found = np.full(len(pair.base.ops), NO_ROW)
    both = np.flatnonzero((old >= 0) & (np.append(new, NO_ROW)[rows] >= 0))
    found[old[both]] = new[rows[both]]
    return found


def _single_ops(members: Ragged) -> Ints:
    """The op of each row, -1 for rows without one."""
    found = np.full(len(members), NO_ROW)
    found[members.lengths > 0] = members.values
    return found


def _graph_pairs(pair: Pair) -> RowPairs:
    """Rows of the graph view correspond if their ops do, since each op has one row."""
    sides = [_single_ops(graph.arrange(side).members) for side in (pair.base, pair.new)]
    row_of_new = np.full(len(pair.new.ops) + 1, NO_ROW)
    row_of_new[sides[1][1:]] = np.arange(1, len(sides[1]))
    row_of_new[-1] = NO_ROW
    new_op = np.append(op_pairs(pair), NO_ROW)
    found = row_of_new[new_op[sides[0]]]
    found[0] = 0
    count = len(sides[1])
    return RowPairs(found, _inverse(found, count), np.zeros(count, np.bool_))


def _rows(kind: str, profile: ProfileColumns, vocabulary: Vocabulary, my_code: bool) -> Rows:
    arranged, own, plain = _KINDS[kind]
    arrangement = arranged(profile, my_code)
    members = arrangement.members
    kinds = vocabulary.codes(f"kind {text}" for text in profile.ops.kind.values)
    params = per_op(profile, EVERYTHING)["params"]
    kind_of_op = kinds[profile.ops.kind.codes]
    of_ops = mixed(mixed(kind_of_op) + params)
    return Rows.of(
        arrangement.tree,
        own(arrangement.name),
        plain,
        content=members.sums(of_ops[members.values]),
        weight=members.sums(params[members.values]),
        kind=np.where(members.lengths == 1, members.sums(kind_of_op[members.values] + 1), 0),
        vocabulary=vocabulary,
    )


def scope_name(text: str) -> PlainName:
    """The last part of the name of a scope, which may end in a number: `model/dense_2`."""
    own = text.rpartition("/")[2]
    stem, _, digits = own.rpartition("_")
    if stem and digits.isdecimal() and len(digits) < _LONG_NUMBER:
        return PlainName(own, stem, int(digits))
    return PlainName(own, own, -1)


def line_name(text: str) -> PlainName:
    """The name of a line of code, whose family are the lines of its function."""
    file, _, rest = text.partition(":")
    line, _, function = rest.partition(":")
    if line.isdecimal() and len(line) < _LONG_NUMBER:
        return PlainName(text, f"{file}:{function}", int(line))
    return PlainName(text, text, -1)


def kind_name(text: str) -> PlainName:
    """The name of a kind of ops, which has no number."""
    return PlainName(text, text, -1)


def _last_parts(names: Strings) -> list[str]:
    return [text.rpartition("/")[2] for text in names]


_Arrange = Callable[[ProfileColumns, bool], Arrangement]
_Own = Callable[[Strings], list[str]]
_Plain = Callable[[str], PlainName]

# How the rows of each view are arranged and named.
_KINDS: dict[str, tuple[_Arrange, _Own, _Plain]] = {
    "scope": (lambda profile, _: scope.arrange(profile), _last_parts, scope_name),
    "layers": (lambda profile, _: layers.arrange(profile).arrangement, _last_parts, scope_name),
    "code": (lambda profile, my: code.arrange(profile, my_code=my).arrangement, list, line_name),
    "op": (lambda profile, _: op.arrange(profile), list, kind_name),
}
