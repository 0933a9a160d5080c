"""The order of the filters, for every view that is a tree: account, start, show, order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tfprof.columns import Bools, Ints, Ragged, Strings, offsets_of
from tfprof.measures.numbers import Numbers, may_be_negative
from tfprof.memo import OnDemand, remembered
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


@dataclass(frozen=True, slots=True, eq=False)
class Arrangement:
    """All rows a view could show, the root first: how they are nested and what they stand for."""

    tree: Tree
    name: Strings
    members: Ragged
    own_type: str | None = None  # what rows that stand for no op go by
    is_in_name_order: bool = False  # each row's children stand in the byte order of their names
    name_rank: Ints | None = None  # ascends with the byte order of names, where it is known
    memo: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    def name_ranks(self, rows: Ints) -> Ints:
        """Numbers that ascend with the byte order of the names of `rows`."""
        if self.name_rank is not None:
            return self.name_rank[rows]
        ranks = np.empty(len(rows), np.int64)
        ranks[self.name.take(rows).order()] = np.arange(len(rows))
        return ranks


@dataclass(frozen=True, slots=True, eq=False)
class Accounts:
    """What one question accounts for in an arrangement, row by row."""

    is_accounted: Bools
    members: Ragged
    own: Numbers
    running: Numbers  # how much there is of a number before each row, and before the end


def running_sums(own: Numbers) -> Numbers:
    """How much there is of each number before each row, and before the end."""
    return OnDemand(NUMBERS, lambda key: offsets_of(own[key]))


class _Sums(NamedTuple):
    """Sums below rows, over everything that is accounted for or holds such."""

    tree: Tree
    running: Numbers

    def below(self, key: str, places: Ints) -> Ints:
        """The sum of a number below each of some rows, themselves included."""
        running = self.running[key]
        return running[self.tree.end[places]] - running[places]


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """The rows still in question: which of the arrangement's, how nested, with what totals."""

    tree: Tree
    rows: Ints
    places: Ints  # where they stand among the rows that were summed
    sums: _Sums

    def keep(self, flags: Bools) -> _Rows:
        """The flagged rows; what was below another moves up to one that is left."""
        if flags.all():
            return self
        left = np.flatnonzero(flags)
        return _Rows(self.tree.keep(left), self.rows[left], self.places[left], self.sums)

    @property
    def total(self) -> Numbers:
        """The numbers of each row and everything that was summed below it."""
        return OnDemand(NUMBERS, lambda key: self.sums.below(key, self.places))


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
    shown = _show(shown, arrangement, options, policy)
    shown = _pass(shown, profile, accounts, options, policy)
    if options.account_displayed_op_only and policy.recounts_shown:
        shown = _recount(shown, accounts)
    shown = _order(shown, arrangement, accounts, options, policy)
    members = accounts.members.take(shown.rows)
    own = _of_rows(accounts.own, shown.rows)
    all_members = accounts.members.count(accounted.rows)
    return View(
        kind=kind,
        profile=profile,
        options=options,
        tree=shown.tree,
        name=arrangement.name.take(shown.rows),
        own_type=arrangement.own_type,
        is_accounted=accounts.is_accounted[shown.rows],
        members=members,
        own=own,
        total=shown.total,
        hidden=Hidden(
            all_members - len(members.values),
            OnDemand(
                NUMBERS,
                lambda key: int(accounts.own[key][accounted.rows].sum()) - int(own[key].sum()),
            ),
        ),
        is_gathered=policy.is_gathered,
    )


def _of_rows(numbers: Numbers, rows: Ints) -> Numbers:
    return OnDemand(NUMBERS, lambda key: numbers[key][rows])


def _account(arrangement: Arrangement, accounts: Accounts, policy: Policy) -> _Rows:
    """The rows that are accounted for, or hold some that are, and their totals."""
    tree, flags = arrangement.tree, accounts.is_accounted.copy()
    flags[0] = True
    if flags.all():
        everything = np.arange(len(tree))
        return _Rows(tree, everything, everything, _Sums(tree, accounts.running))
    if not policy.unaccounted_vanish:
        flags = tree.sums_below(accounts.is_accounted.astype(np.int64)) > 0
        flags[0] = True
    rows = np.flatnonzero(flags)
    return _summed(tree.keep(rows), rows, accounts.own)


def _summed(tree: Tree, rows: Ints, own: Numbers) -> _Rows:
    # A row that merely holds others adds its own numbers too: it may be an op with some.
    sums = _Sums(tree, running_sums(_of_rows(own, rows)))
    return _Rows(tree, rows, np.arange(len(rows)), sums)


def _start(kept: _Rows, arrangement: Arrangement, options: Options) -> _Rows:
    """Everything from the topmost rows whose names match; the root keeps its total."""
    if options.patterns("start_name_regexes").is_everything:
        return kept
    matches = _matches(arrangement, options.start_name_regexes)[kept.rows]
    matches[0] = False
    flags = matches | kept.tree.is_below(matches)
    flags[0] = True
    return kept.keep(flags)


def _show(kept: _Rows, arrangement: Arrangement, options: Options, policy: Policy) -> _Rows:
    """The rows whose place and name are asked for; what is below a hidden row moves up."""
    flags = kept.tree.depths <= options.max_depth
    if options.trim_name_regexes:
        is_trimmed = _matches(arrangement, options.trim_name_regexes)[kept.rows]
        flags &= ~kept.tree.is_below(is_trimmed)
        if policy.trimmed_rows_vanish:
            flags &= ~is_trimmed
    if not options.patterns("show_name_regexes").is_everything:
        flags &= _matches(arrangement, options.show_name_regexes)[kept.rows]
    if options.hide_name_regexes:
        flags &= ~_matches(arrangement, options.hide_name_regexes)[kept.rows]
    flags[0] = True
    return kept.keep(flags)


def _pass(
    kept: _Rows, profile: Profile, accounts: Accounts, options: Options, policy: Policy
) -> _Rows:
    """The rows that reach every threshold; what is below a hidden row moves up."""
    own = _of_rows(accounts.own, kept.rows)
    flags = np.ones(len(kept.rows), np.bool_)
    flags &= passes_thresholds(profile, own, kept.total, options, policy)
    flags[0] = True
    return kept.keep(flags)


@remembered
def _matches(arrangement: Arrangement, regexes: tuple[str, ...]) -> Bools:
    """Which rows have a name that one of `regexes` matches."""
    return Patterns(regexes).match_column(arrangement.name)


def passes_thresholds(
    profile: Profile, own: Numbers, total: Numbers, options: Options, policy: Policy
) -> Bools | np.bool_:
    """Which rows reach every `min_…` option but, where rows gather ops, `min_occurrence`."""
    flags: Bools | np.bool_ = np.True_
    for key in (*RUN_NUMBERS, "params", "float_ops"):
        if options.threshold(key) > 0 or may_be_negative(profile, key):
            is_summed = policy.is_gathered or key in RUN_NUMBERS
            flags = flags & ((total if is_summed else own)[key] >= options.threshold(key))
    if not policy.is_gathered and (options.min_occurrence > 0 or may_be_negative(profile, "runs")):
        flags = flags & (own["runs"] >= options.min_occurrence)
    return flags


def _recount(shown: _Rows, accounts: Accounts) -> _Rows:
    """Totals of what is shown alone; the root then counts as a definition itself."""
    definitions = accounts.own["definitions"].copy()
    definitions[0] += 1
    own = OnDemand(NUMBERS, lambda key: definitions if key == "definitions" else accounts.own[key])
    return _summed(shown.tree, shown.rows, own)


def _order(
    shown: _Rows, arrangement: Arrangement, accounts: Accounts, options: Options, policy: Policy
) -> _Rows:
    """Siblings by name, or by a total, the largest first; equal ones stay as they were."""
    if options.order_by in NUMBERS:
        key = descending(shown.total[options.order_by])
    elif options.order_by == "occurrence" and policy.is_gathered:
        key = descending(accounts.members.lengths[shown.rows])
    elif arrangement.is_in_name_order and len(shown.rows) == len(arrangement.tree):
        return shown
    else:
        key = arrangement.name_ranks(shown.rows)
    tree, old = shown.tree.ordered(key)
    return _Rows(tree, shown.rows[old], shown.places[old], shown.sums)


def descending(column: Ints) -> Ints:
    """A key that ascends where `column` descends; unlike a minus it cannot overflow."""
    return ~column
