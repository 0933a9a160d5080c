"""The op view: ops gathered by their kind, each row's total running to the last."""

from __future__ import annotations

import numpy as np

from tfprof.columns import Bools, Ints, Ragged, offsets_of
from tfprof.measures.numbers import Numbers
from tfprof.memo import remembered
from tfprof.metrics import NUMBERS
from tfprof.model.profile import Profile
from tfprof.options import Options
from tfprof.views.accounting import account_gathered
from tfprof.views.select import Accounts, Arrangement, Policy, descending, passes_thresholds
from tfprof.views.tree import Tree
from tfprof.views.view import ROOT_NAME, Hidden, View

_POLICY = Policy(is_gathered=True)


def build(profile: Profile, options: Options) -> View:
    """Gather `profile` by op kind, accounting and showing what `options` asks for."""
    arrangement = arrange(profile)
    accounts = account_gathered(profile, options, arrangement)
    order = _ordered(arrangement, accounts, options)
    order = order[accounts.is_accounted[order]]
    total = _running_totals(accounts.own, order)
    flags = _shown(arrangement, accounts, order, total, options)
    rows = np.concatenate(([0], order[flags]))
    if options.account_displayed_op_only:
        total = _running_totals(accounts.own, rows[1:])
        flags = np.ones(len(rows) - 1, np.bool_)
    members = accounts.members.take(rows)
    own = {key: column[rows] for key, column in accounts.own.items()}
    return View(
        kind="op",
        profile=profile,
        options=options,
        tree=_side_by_side(len(rows)),
        name=[arrangement.name[row] for row in rows.tolist()],
        own_types=[()] * len(rows),
        is_accounted=accounts.is_accounted[rows],
        members=members,
        own=own,
        total={key: _with_root(column, flags) for key, column in total.items()},
        hidden=Hidden(
            int(accounts.members.lengths[order].sum()) - len(members.values),
            {key: int(accounts.own[key][order].sum()) - int(own[key].sum()) for key in NUMBERS},
        ),
        is_gathered=True,
    )


@remembered
def arrange(profile: Profile) -> Arrangement:
    """A row for each kind of op, in name order, with the ops of that kind."""
    kinds = profile.ops.kind
    names = sorted(kinds.values)
    rank = {name: place for place, name in enumerate(names)}
    place = np.array([rank[name] for name in kinds.values], np.int64)
    row = place[kinds.codes] if len(kinds) else np.zeros(0, np.int64)
    members = np.argsort(row, kind="stable")
    lengths = np.bincount(row, minlength=len(names))
    return Arrangement(
        tree=_side_by_side(len(names) + 1),
        name=[ROOT_NAME, *names],
        name_rank=np.arange(len(names) + 1),
        own_types={},
        members=Ragged(offsets_of(np.concatenate(([0], lengths))), members),
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
        key = arrangement.name_rank
    return rows[np.argsort(key[rows], kind="stable")]


def _running_totals(own: Numbers, order: Ints) -> Numbers:
    """For each row of `order`, the sum over it and all rows after it."""
    return {key: np.cumsum(own[key][order][::-1])[::-1] for key in own}


def _shown(
    arrangement: Arrangement, accounts: Accounts, order: Ints, total: Numbers, options: Options
) -> Bools:
    """Which rows of `order` are shown: from the first start row until a trimmed or too deep one."""
    names = [arrangement.name[row] for row in order.tolist()]
    flags = np.zeros(len(order), np.bool_)
    start = _first(_starts(names, options))
    stop = _first(options.patterns("trim_name_regexes").match_column(names[start:]))
    stop = start + min(stop, max(options.max_depth + 1, 0))
    flags[start:stop] = True
    own = {key: accounts.own[key][order] for key in NUMBERS}
    flags &= passes_thresholds(own, total, options, _POLICY)
    flags &= accounts.members.lengths[order] >= options.min_occurrence
    flags &= options.patterns("show_name_regexes").match_column(names)
    flags &= ~options.patterns("hide_name_regexes").match_column(names)
    return flags


def _starts(names: list[str], options: Options) -> Bools:
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
