"""The graph view: each op above its inputs, from the outputs of the graph down."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tfprof.columns import Ints, Ragged, Strings, distinct, offsets_of
from tfprof.kernels import trees
from tfprof.memo import remembered
from tfprof.model.profile import ProfileColumns
from tfprof.options import Options
from tfprof.patterns import Patterns
from tfprof.views.accounting import account_single
from tfprof.views.select import Arrangement, Weighing, select
from tfprof.views.tree import Tree
from tfprof.views.view import ROOT_NAME, View, single_members

ROOT_TYPE = "_TFGraphParent"


def build(profile: ProfileColumns, options: Options, only: Ints | None = None) -> View:
    """Arrange `profile` by its edges, accounting and showing what `options` asks for."""
    policy = options.generation.policy("graph")
    arrangement = arrange(profile, inputs_by_name=policy.inputs_by_name)
    if policy.starts_first and not options.patterns("start_name_regexes").is_everything:
        tops = _topmost(arrangement, options.start_name_regexes)
        arrangement = _search(profile, tops, policy.inputs_by_name)
    if policy.adds_to_first_done:
        arrangement = _weighed(arrangement, profile)
    accounts = account_single(profile, options, arrangement, policy)
    return select(
        "graph",
        profile,
        options,
        arrangement=arrangement,
        accounts=accounts,
        policy=policy,
        only=only,
    )


@remembered
def arrange(profile: ProfileColumns, *, inputs_by_name: bool = False) -> Arrangement:
    """Place every op under the first consumer that the search finds.

    The search is depth first and starts at the ops without consumers, in name order. Cycles that
    feed no other op are never found.
    """
    return _search(profile, np.flatnonzero(~profile.ops.is_source()), inputs_by_name)


def _topmost(whole: Arrangement, name_regexes: tuple[str, ...]) -> Ints:
    """The ops with matching names that are not below another such op."""
    matches = Patterns(name_regexes).match_column(whole.name)
    matches[0] = False
    tops = np.flatnonzero(matches & ~whole.tree.is_below(matches))
    return whole.members.values[tops - 1]


def _search(profile: ProfileColumns, tops: Ints, inputs_by_name: bool) -> Arrangement:
    edges = _edges(profile, inputs_by_name)
    ops, ends = trees.search(edges.offsets, edges.values, tops)
    return Arrangement(
        tree=Tree(ends),
        name=Strings.joined([Strings([ROOT_NAME]), profile.ops.name.take(ops[1:])]),
        members=single_members(ops),
        own_type=ROOT_TYPE,
        name_rank=ops,  # ops are in name order
    )


def _edges(profile: ProfileColumns, inputs_by_name: bool) -> Ragged:
    """The sources of each op's inputs: by position, or each source once in name order."""
    inputs = profile.ops.inputs
    edges = Ragged(inputs.offsets, inputs.source)
    if not inputs_by_name:
        return edges
    count = len(profile.ops)
    owners, sources = np.divmod(distinct(edges.owners * (count + 1) + edges.values + 1), count + 1)
    return Ragged(offsets_of(np.bincount(owners, minlength=count)), sources - 1)


def _weighed(arrangement: Arrangement, profile: ProfileColumns) -> Arrangement:
    """The same rows, with each op counting towards the first consumer that the search completes.

    That is not always the row above the op: a consumer that is found later, further down, may be
    completed earlier.
    """
    tree, ops = arrangement.tree, arrangement.members.values
    done = tree.end - tree.depths  # the number of rows completed before each row
    row_of_op = np.full(len(profile.ops), -1)
    row_of_op[ops] = np.arange(1, len(tree))
    edges = Ragged(profile.ops.inputs.offsets, profile.ops.inputs.source)
    consumer, row = row_of_op[edges.owners], np.append(row_of_op, -1)[edges.values]
    # In a cycle a consumer may be completed before the op, which then cannot count towards it.
    is_later = (consumer > 0) & (row > 0) & (done[consumer] > done[row])
    first_done = done[tree.parents]
    np.minimum.at(first_done, row[is_later], done[consumer[is_later]])
    row_done = np.empty(len(tree), np.int64)
    row_done[done] = np.arange(len(tree))
    parents = row_done[first_done[1:]]
    nodes, ends = trees.arranged(parents - 1, np.arange(len(tree) - 1))
    place = np.empty(len(tree), np.int64)
    place[nodes + 1] = np.arange(len(tree))
    return replace(arrangement, weighing=Weighing(Tree(ends), nodes + 1, place))
