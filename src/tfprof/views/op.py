"""The op view: ops gathered by their kind, each row's total running to the last."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tfprof.columns import Bools, Ints, Ragged, Strings, offsets_of
from tfprof.kernels.rows import grouped
from tfprof.measures.numbers import Numbers
from tfprof.memo import OnDemand, remembered
from tfprof.metrics import NUMBERS
from tfprof.model.profile import ProfileColumns
from tfprof.options import Options
from tfprof.views.accounting import account_gathered
from tfprof.views.registry import VIEWS
from tfprof.views.select import (
    Accounts,
    Arrangement,
    Question,
    descending,
    passes_thresholds,
    ran_on,
)
from tfprof.views.tree import Tree
from tfprof.views.view import ROOT_NAME, Hidden, View


def build(profile: ProfileColumns, options: Options) -> View:
    """Gather `profile` by op kind, accounting and showing what `options` asks for."""
    policy = options.generation.policy("op")
    arrangement = arrange(profile)
    accounts = account_gathered(profile, options, arrangement)
    order = _ordered(arrangement, accounts, options)
    order = order[accounts.is_accounted[order]]
    total = _running_totals(accounts.own, order)
    flags = _shown(list(arrangement.name.take(order)), options)
    question = Question(profile, options, arrangement, accounts, policy, is_gathered=True)
    flags &= passes_thresholds(question, accounts.own, total)
    flags &= accounts.members.lengths[order] >= options.min_occurrence
    if not options.patterns("device_regexes").is_everything:
        flags &= ran_on(profile, accounts.members, options.device_regexes)[order]
    rows = np.concatenate(([0], order[flags]))
    if options.account_displayed_op_only:
        total = _running_totals(accounts.own, rows[1:])
        flags = np.ones(len(rows) - 1, np.bool_)
    members = accounts.members.take(rows)
    own = OnDemand(NUMBERS, lambda key: accounts.own[key][rows])
    return View(
        kind="op",
        traits=VIEWS["op"].traits,
        profile=profile,
        options=options,
        tree=_side_by_side(len(rows)),
        name=arrangement.name.take(rows),
        own_type=None,
        is_accounted=accounts.is_accounted[rows],
        members=members,
        own=own,
        total=OnDemand(NUMBERS, lambda key: _with_root(total[key], flags)),
        hidden=Hidden(
            int(accounts.members.lengths[order].sum()) - len(members.values),
            OnDemand(
                NUMBERS, lambda key: int(accounts.own[key][order].sum()) - int(own[key].sum())
            ),
        ),
        arranged=rows,
    )


@remembered
def arrange(profile: ProfileColumns) -> Arrangement:
    """A row for each kind of op, in name order, with the ops of that kind."""
    kinds = profile.ops.kind
    by_name = kinds.values.order()
    place = np.empty(len(by_name), np.int64)
    place[by_name] = np.arange(len(by_name))
    row = place[kinds.codes]
    lengths = np.bincount(row, minlength=len(by_name))
    return Arrangement(
        tree=_side_by_side(len(by_name) + 1),
        name=Strings.joined([Strings([ROOT_NAME]), kinds.values.take(by_name)]),
        members=Ragged(offsets_of(np.concatenate(([0], lengths))), grouped(row, len(by_name))),
    )


def _side_by_side(count: int) -> Tree:
    """A root with all other rows right below it."""
    end = np.arange(1, count + 1)
    end[0] = count
    return Tree(end)


def _ordered(arrangement: Arrangement, accounts: Accounts, options: Options) -> Ints:
    """The rows but the root, in the order asked for; equal ones by name."""
    rows = np.arange(1, len(arrangement.tree))
    if options.order_by in accounts.own:
        key = descending(accounts.own[options.order_by])
    elif options.order_by == "occurrence":
        key = descending(accounts.members.lengths)
    else:
        return rows
    return rows[np.argsort(key[rows], kind="stable")]


def _running_totals(own: Numbers, order: Ints) -> Numbers:
    """For each row of `order`, the sum over it and all rows after it."""
    return OnDemand(NUMBERS, lambda key: np.cumsum(own[key][order][::-1])[::-1])


def _shown(names: Sequence[str], options: Options) -> Bools:
    """Which rows are shown: from the first start row until a trimmed or too deep one."""
    flags = np.zeros(len(names), np.bool_)
    start = _first(_starts(names, options))
    stop = _first(options.patterns("trim_name_regexes").match_column(names[start:]))
    stop = start + min(stop, max(options.max_depth + 1, 0))
    flags[start:stop] = True
    flags &= options.patterns("show_name_regexes").match_column(names)
    flags &= ~options.patterns("hide_name_regexes").match_column(names)
    return flags


def _starts(names: Sequence[str], options: Options) -> Bools:
    patterns = options.patterns("start_name_regexes")
    if patterns.is_empty or patterns.is_everything:
        return np.ones(len(names), np.bool_)
    return patterns.match_column(names)


def _first(flags: Bools) -> int:
    """The place of the first flag, or one past the end."""
    return int(np.argmax(flags)) if flags.any() else len(flags)


def _with_root(total: Ints, flags: Bools) -> Ints:
    """The totals of the flagged rows behind that of the root, which is the first row's."""
    return np.concatenate((total[:1] if len(total) else [0], total[flags]))
