"""The filters of all views, as named steps; the policy of a view says in which order they come."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tfprof.columns import Bools, Ints, Ragged, Strings, offsets_of
from tfprof.dialects import Policy, Step
from tfprof.measures.numbers import Numbers, may_be_negative
from tfprof.memo import OnDemand, remembered
from tfprof.metrics import NUMBERS, RUN_NUMBERS
from tfprof.model.profile import ProfileColumns
from tfprof.options import Options
from tfprof.patterns import Patterns
from tfprof.views.registry import VIEWS, Trait
from tfprof.views.tree import Tree
from tfprof.views.view import Hidden, View


class Weighing(NamedTuple):
    """Another nesting of an arrangement's rows, for totals alone."""

    tree: Tree
    row: Ints  # which row of the arrangement each of its rows is
    place: Ints  # where each row of the arrangement stands in it


@dataclass(frozen=True, slots=True, eq=False)
class Arrangement:
    """All rows a view could show, the root first: how they are nested and what they stand for."""

    tree: Tree
    name: Strings
    members: Ragged
    own_type: str | None = None  # what rows that stand for no op go by
    is_in_name_order: bool = False  # each row's children stand in the byte order of their names
    name_rank: Ints | None = None  # ascends with the byte order of names, where it is known
    weighing: Weighing | None = None  # how rows add up, where that is not how they are nested
    memo: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    def name_ranks(self, rows: Ints) -> Ints:
        """Numbers that ascend with the byte order of the names of `rows`."""
        if self.name_rank is not None:
            return self.name_rank[rows]
        ranks = np.empty(len(rows), np.int64)
        ranks[self.name.take(rows).order()] = np.arange(len(rows))
        return ranks


class Accounts(NamedTuple):
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


class _Rows(NamedTuple):
    """The rows still in question: which of the arrangement's, how nested, with what totals."""

    tree: Tree
    rows: Ints
    places: Ints  # where they stand among the rows that were summed
    sums: _Sums
    counted: Ints  # the rows of the arrangement that are accounted for, or hold such
    levels: Ints | None = None  # how deep they were before any was hidden, if asked for

    def keep(self, flags: Bools) -> _Rows:
        """The root and the flagged rows; what was below another moves up to one that is left."""
        flags[0] = True
        if flags.all():
            return self
        left = np.flatnonzero(flags)
        return self._replace(
            tree=self.tree.keep(left),
            rows=self.rows[left],
            places=self.places[left],
            levels=None if self.levels is None else self.levels[left],
        )

    def summed(self, own: Numbers, weighing: Weighing | None = None) -> _Rows:
        """The same, with totals of these rows alone unless another nesting says what they hold."""
        if weighing is not None:
            sums = _Sums(weighing.tree, running_sums(_of_rows(own, weighing.row)))
            return self._replace(places=weighing.place[self.rows], sums=sums)
        sums = _Sums(self.tree, running_sums(_of_rows(own, self.rows)))
        return self._replace(places=np.arange(len(self.rows)), sums=sums)

    @property
    def total(self) -> Numbers:
        """The numbers of each row and everything that was summed below it."""
        return OnDemand(NUMBERS, lambda key: self.sums.below(key, self.places))


class _Question(NamedTuple):
    """What every step may look at."""

    profile: ProfileColumns
    options: Options
    arrangement: Arrangement
    accounts: Accounts
    policy: Policy
    is_gathered: bool  # a row may stand for many ops
    has_root: bool  # the root is a row like others; it is not where rows are side by side


def select(
    kind: str,
    profile: ProfileColumns,
    options: Options,
    *,
    arrangement: Arrangement,
    accounts: Accounts,
    policy: Policy,
) -> View:
    """Put the rows of an arrangement through the steps of `policy`, one after the other."""
    traits = VIEWS[kind].traits
    is_gathered, has_root = Trait.GATHERED in traits, Trait.NESTED in traits
    question = _Question(profile, options, arrangement, accounts, policy, is_gathered, has_root)
    shown = _everything(question)
    for step in policy.steps:
        shown = _STEPS[step](shown, question)
    members = accounts.members.take(shown.rows)
    own = _of_rows(accounts.own, shown.rows)
    counted = shown.counted
    return View(
        kind=kind,
        traits=traits,
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
            accounts.members.count(counted) - len(members.values),
            OnDemand(
                NUMBERS,
                lambda key: int(accounts.own[key][counted].sum()) - int(own[key].sum()),
            ),
        ),
        arranged=shown.rows,
        skipped=_skipped(shown),
    )


def _of_rows(numbers: Numbers, rows: Ints) -> Numbers:
    return OnDemand(NUMBERS, lambda key: numbers[key][rows])


def _everything(question: _Question) -> _Rows:
    """All rows there are, with totals of all of them."""
    arrangement, accounts = question.arrangement, question.accounts
    rows = np.arange(len(arrangement.tree))
    sums = _Sums(arrangement.tree, accounts.running)
    found = _Rows(arrangement.tree, rows, rows, sums, counted=rows)
    if arrangement.weighing is None:
        return found
    return found.summed(accounts.own, arrangement.weighing)


def _account(kept: _Rows, question: _Question) -> _Rows:
    """The rows that are left, with totals of what is accounted for."""
    arrangement, accounts, policy = question.arrangement, question.accounts, question.policy
    is_accounted = accounts.is_accounted[kept.rows]
    flags = is_accounted.copy()
    flags[0] = True
    if flags.all() and len(kept.rows) == len(arrangement.tree):
        return kept
    if policy.unaccounted_hide:
        own = _only(accounts.own, accounts.is_accounted)
        counted = kept.rows[is_accounted]
        return kept.summed(own, arrangement.weighing)._replace(counted=counted)
    if not policy.unaccounted_vanish:
        flags = kept.tree.sums_below(is_accounted.astype(np.int64)) > 0
    kept = kept.keep(flags)
    # A row that merely holds others adds its own numbers too: it may be an op with some.
    return kept.summed(accounts.own)._replace(counted=kept.rows)


def _only(numbers: Numbers, flags: Bools) -> Numbers:
    """The numbers of the flagged rows, and nothing of the others."""
    return OnDemand(NUMBERS, lambda key: np.where(flags, numbers[key], 0))


def _start(kept: _Rows, question: _Question) -> _Rows:
    """Everything from the topmost rows whose names match; the root keeps its total."""
    patterns = question.options.patterns("start_name_regexes")
    if patterns.is_everything or (patterns.is_empty and question.policy.starts_by_default):
        return kept
    matches = _matches(question.arrangement, question.options.start_name_regexes)[kept.rows]
    matches[0] = False
    return kept.keep(matches | kept.tree.is_below(matches))


def _run_on(kept: _Rows, question: _Question) -> _Rows:
    """Rows in one line: below each row, and in its total, are all rows after it."""
    count = len(kept.rows)
    return kept._replace(tree=Tree(np.full(count, count))).summed(question.accounts.own)


def _side_by_side(shown: _Rows, _: _Question) -> _Rows:
    """The rows right below the root; totals stay as they were."""
    return shown._replace(tree=Tree.flat(len(shown.rows)), levels=None)


def _show(kept: _Rows, question: _Question) -> _Rows:
    """The rows whose place and name are asked for; what is below a hidden row moves up."""
    options, arrangement, accounts = question.options, question.arrangement, question.accounts
    if "num_hidden_ops" in options.select:
        kept = kept._replace(levels=kept.tree.depths)
    flags = _depths(kept, question) <= options.max_depth
    if question.policy.unaccounted_hide:
        flags &= accounts.is_accounted[kept.rows]
    if not options.patterns("device_regexes").is_everything:
        flags &= _ran_on(question.profile, accounts.members, options.device_regexes)[kept.rows]
    if options.trim_name_regexes:
        flags &= ~_is_trimmed(kept, question)
    if not options.patterns("show_name_regexes").is_everything:
        flags &= _matches(arrangement, options.show_name_regexes)[kept.rows]
    if options.hide_name_regexes:
        flags &= ~_matches(arrangement, options.hide_name_regexes)[kept.rows]
    return kept.keep(flags)


def _depths(kept: _Rows, question: _Question) -> Ints:
    """How deep each row is: the root at 1; if it is no row, the first at 0 and then one by one."""
    return kept.tree.depths if question.has_root else np.arange(-1, len(kept.rows) - 1)


def _is_trimmed(kept: _Rows, question: _Question) -> Bools:
    """Which rows are below one whose name matches `trim_name_regexes`, or are one that goes too."""
    matches = _matches(question.arrangement, question.options.trim_name_regexes)[kept.rows]
    matches[0] &= question.has_root
    below = kept.tree.is_below(matches)
    return below | matches if question.policy.trimmed_rows_vanish else below


def _ran_on(profile: ProfileColumns, members: Ragged, regexes: tuple[str, ...]) -> Bools:
    """Which rows have an op on a device that one of `regexes` matches, ignoring case."""
    # Device names are stored in lower case.
    patterns = Patterns(tuple(f"(?i){regex}" for regex in regexes))
    *matches, matches_nothing = patterns.match_column([*profile.devices.name, ""])
    placed = profile.op_devices
    of_ops = placed.any(np.array(matches, np.bool_)[placed.values])
    of_ops[placed.lengths == 0] = matches_nothing  # an op that never ran has no device
    flags = members.any(of_ops[members.values])
    flags[members.lengths == 0] = matches_nothing
    return flags


@remembered
def _matches(arrangement: Arrangement, regexes: tuple[str, ...]) -> Bools:
    """Which rows have a name that one of `regexes` matches."""
    return Patterns(regexes).match_column(arrangement.name)


def _reach(kept: _Rows, question: _Question) -> _Rows:
    """The rows that reach every threshold; what is below a hidden row moves up."""
    profile, options, policy = question.profile, question.options, question.policy
    own, total = _of_rows(question.accounts.own, kept.rows), kept.total
    flags = np.ones(len(kept.rows), np.bool_)
    for key in (*RUN_NUMBERS, "params", "float_ops"):
        if options.threshold(key) > 0 or may_be_negative(profile, key):
            is_own = not question.is_gathered and key not in RUN_NUMBERS
            compared = own if is_own or policy.compares_own else total
            flags &= compared[key] >= options.threshold(key)
    least = options.min_occurrence
    if policy.counts_ops and least > 0:
        flags &= question.accounts.members.lengths[kept.rows] >= least
    if not question.is_gathered and (least > 0 or may_be_negative(profile, "runs")):
        flags &= own["runs"] >= least
    return kept.keep(flags)


def _skipped(shown: _Rows) -> Ints | None:
    """How many hidden rows lie between each row and the one above it, if that is asked for."""
    if shown.levels is None:
        return None
    skipped = shown.levels - shown.levels[shown.tree.parents] - 1
    skipped[0] = 0
    return skipped


def _recount(shown: _Rows, question: _Question) -> _Rows:
    """Totals of what is shown alone, if asked for; the root then counts as a definition itself."""
    if not question.options.account_displayed_op_only:
        return shown
    own = question.accounts.own

    def recounted(key: str) -> Ints:
        if key != "definitions" or not question.has_root:
            return own[key]
        definitions = own[key].copy()
        definitions[0] += 1
        return definitions

    return shown.summed(OnDemand(NUMBERS, recounted))


def _order(shown: _Rows, question: _Question) -> _Rows:
    """Siblings by name, or by a number, the largest first; equal ones stay as they were.

    The number is the total, or the own one of rows side by side. Ordered by nothing, all stay.
    """
    options, arrangement, accounts = question.options, question.arrangement, question.accounts
    if not options.order_by:
        return shown
    if options.order_by in NUMBERS:
        numbers = shown.total if question.has_root else _of_rows(accounts.own, shown.rows)
        key = descending(numbers[options.order_by])
    elif options.order_by == "occurrence" and question.is_gathered:
        key = descending(accounts.members.lengths[shown.rows])
    elif arrangement.is_in_name_order and len(shown.rows) == len(arrangement.tree):
        return shown
    else:
        key = arrangement.name_ranks(shown.rows)
    tree, old = shown.tree.ordered(key)
    levels = None if shown.levels is None else shown.levels[old]
    return shown._replace(tree=tree, rows=shown.rows[old], places=shown.places[old], levels=levels)


def descending(column: Ints) -> Ints:
    """A key that ascends where `column` descends; unlike a minus it cannot overflow."""
    return ~column


_STEPS: dict[Step, Callable[[_Rows, _Question], _Rows]] = {
    "account": _account,
    "start": _start,
    "run_on": _run_on,
    "show": _show,
    "reach": _reach,
    "recount": _recount,
    "order": _order,
    "side_by_side": _side_by_side,
}
