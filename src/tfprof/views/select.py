"""The order of the filters, for every view that is a tree: account, start, show, order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tfprof.columns import Bools, Ints, Ragged
from tfprof.measures.numbers import Numbers
from tfprof.memo import remembered
from tfprof.metrics import NUMBERS, RUN_NUMBERS
from tfprof.model.profile import Profile
from tfprof.options import Options
from tfprof.patterns import Patterns
from tfprof.views.tree import Tree
from tfprof.views.view import Hidden, View


@dataclass(frozen=True, slots=True)
class Policy:
    """In what the views differ; everything else is the same for all of them."""

    unaccounted_vanish: bool = False  # graph: a row that is not accounted for is no row at all
    trimmed_rows_vanish: bool = False  # code: a trimmed row goes with what is below it
    is_gathered: bool = False  # code, op: a row may stand for many ops
    recounts_shown: bool = True  # `account_displayed_op_only` is honoured


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Arrangement:
    """All rows a view could show, the root first: how they are nested and what they stand for."""

    tree: Tree
    name: Sequence[str]
    name_rank: Ints  # ascends with the byte order of the names
    own_types: Mapping[int, tuple[str, ...]]  # of rows that stand for no op
    members: Ragged


@dataclass(frozen=True, slots=True, eq=False)
class Accounts:
    """What one question accounts for in an arrangement, row by row."""

    is_accounted: Bools
    members: Ragged
    own: Numbers


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """The rows still in question: which of the arrangement's, how nested, with what totals."""

    tree: Tree
    rows: Ints
    total: Numbers

    def keep(self, flags: Bools) -> _Rows:
        """The flagged rows; what was below another moves up to one that is left."""
        if flags.all():
            return self
        total = {key: column[flags] for key, column in self.total.items()}
        return _Rows(self.tree.keep(flags), self.rows[flags], total)


def select(
    kind: str,
    profile: Profile,
    options: Options,
    *,
    arrangement: Arrangement,
    accounts: Accounts,
    policy: Policy,
) -> View:
    """Put the rows of an arrangement through the filters, in the one order there is."""
    accounted = _account(arrangement, accounts, policy)
    shown = _start(accounted, arrangement, options)
    shown = _show(shown, arrangement, accounts, options, policy)
    if options.account_displayed_op_only and policy.recounts_shown:
        shown = _recount(shown, accounts)
    shown = _order(shown, arrangement, accounts, options, policy)
    members = accounts.members.take(shown.rows)
    own = {key: column[shown.rows] for key, column in accounts.own.items()}
    all_members = accounts.members.lengths[accounted.rows].sum()
    return View(
        kind=kind,
        profile=profile,
        options=options,
        tree=shown.tree,
        name=[arrangement.name[row] for row in shown.rows.tolist()],
        own_types=[arrangement.own_types.get(row, ()) for row in shown.rows.tolist()],
        is_accounted=accounts.is_accounted[shown.rows],
        members=members,
        own=own,
        total=shown.total,
        hidden=Hidden(
            int(all_members) - len(members.values),
            {
                key: int(accounts.own[key][accounted.rows].sum()) - int(own[key].sum())
                for key in NUMBERS
            },
        ),
        is_gathered=policy.is_gathered,
    )


def _account(arrangement: Arrangement, accounts: Accounts, policy: Policy) -> _Rows:
    """The rows that are accounted for, or hold some that are, and their totals."""
    flags = accounts.is_accounted.copy()
    if not policy.unaccounted_vanish:
        flags = arrangement.tree.sums_below(flags.astype(np.int64)) > 0
    flags[0] = True
    kept = _Rows(arrangement.tree, np.arange(len(arrangement.tree)), {}).keep(flags)
    return _with_totals(kept, accounts.own)


def _with_totals(kept: _Rows, own: Numbers) -> _Rows:
    # A row that merely holds others adds its own numbers too: it may be an op with some.
    total = {key: kept.tree.sums_below(column[kept.rows]) for key, column in own.items()}
    return _Rows(kept.tree, kept.rows, total)


def _start(kept: _Rows, arrangement: Arrangement, options: Options) -> _Rows:
    """Everything from the topmost rows whose names match; the root keeps its total."""
    if options.patterns("start_name_regexes").is_everything:
        return kept
    matches = _matches(arrangement, options.start_name_regexes)[kept.rows]
    matches[0] = False
    flags = matches | kept.tree.is_below(matches)
    flags[0] = True
    return kept.keep(flags)


def _show(
    kept: _Rows, arrangement: Arrangement, accounts: Accounts, options: Options, policy: Policy
) -> _Rows:
    """The rows that pass every condition; what is below a hidden row moves up."""
    depths = kept.tree.depths
    is_trimmed = _matches(arrangement, options.trim_name_regexes)[kept.rows]
    is_reached = ~kept.tree.is_below(is_trimmed)
    if policy.trimmed_rows_vanish:
        is_reached &= ~is_trimmed
    own = {key: accounts.own[key][kept.rows] for key in ("params", "float_ops", "runs")}
    flags = (
        is_reached
        & (depths <= options.max_depth)
        & _matches(arrangement, options.show_name_regexes)[kept.rows]
        & ~_matches(arrangement, options.hide_name_regexes)[kept.rows]
        & passes_thresholds(own, kept.total, options, policy)
    )
    flags[0] = True
    return kept.keep(flags)


@remembered
def _matches(arrangement: Arrangement, regexes: tuple[str, ...]) -> Bools:
    """Which rows have a name that one of `regexes` matches."""
    return Patterns(regexes).match_column(arrangement.name)


def passes_thresholds(own: Numbers, total: Numbers, options: Options, policy: Policy) -> Bools:
    """Which rows reach every `min_…` option but, where rows gather ops, `min_occurrence`."""
    flags = np.ones(len(own["params"]), np.bool_)
    for key in RUN_NUMBERS:
        flags &= total[key] >= options.threshold(key)
    for key in ("params", "float_ops"):
        flags &= (total if policy.is_gathered else own)[key] >= options.threshold(key)
    if not policy.is_gathered:
        flags &= own["runs"] >= options.min_occurrence
    return flags


def _recount(shown: _Rows, accounts: Accounts) -> _Rows:
    """Totals of what is shown alone; the root then counts as a definition itself."""
    definitions = accounts.own["definitions"].copy()
    definitions[0] += 1
    return _with_totals(shown, {**accounts.own, "definitions": definitions})


def _order(
    shown: _Rows, arrangement: Arrangement, accounts: Accounts, options: Options, policy: Policy
) -> _Rows:
    """Siblings by name, or by a total, the largest first; equal ones stay as they were."""
    if options.order_by in shown.total:
        key = descending(shown.total[options.order_by])
    elif options.order_by == "occurrence" and policy.is_gathered:
        key = descending(accounts.members.lengths[shown.rows])
    else:
        key = arrangement.name_rank[shown.rows]
    tree, old = shown.tree.ordered(key)
    total = {name: column[old] for name, column in shown.total.items()}
    return _Rows(tree, shown.rows[old], total)


def descending(column: Ints) -> Ints:
    """A key that ascends where `column` descends; unlike a minus it cannot overflow."""
    return ~column
