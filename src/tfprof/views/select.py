"""The order of the filters, for every view that is a tree: account, start, show, order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tfprof.columns import Bools, Ints, Ragged, Strings, offsets_of
from tfprof.dialects import Policy
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


class Question(NamedTuple):
    """What every filter may look at."""

    profile: ProfileColumns
    options: Options
    arrangement: Arrangement
    accounts: Accounts
    policy: Policy
    is_gathered: bool  # a row may stand for many ops


def select(
    kind: str,
    profile: ProfileColumns,
    options: Options,
    *,
    arrangement: Arrangement,
    accounts: Accounts,
    policy: Policy,
) -> View:
    """Put the rows of an arrangement through the filters, in the one order there is."""
    traits = VIEWS[kind].traits
    is_gathered = Trait.GATHERED in traits
    question = Question(profile, options, arrangement, accounts, policy, is_gathered)
    kept = _everything(question)
    if policy.starts_first:
        kept = _start(kept, question)
    kept, counted = _account(kept, question)
    if not policy.starts_first:
        kept = _start(kept, question)
    shown = _pass(_show(kept, question), question)
    if options.account_displayed_op_only and policy.recounts_shown:
        shown = _recount(shown, accounts)
    shown = _order(shown, question)
    members = accounts.members.take(shown.rows)
    own = _of_rows(accounts.own, shown.rows)
    all_members = accounts.members.count(counted)
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
            all_members - len(members.values),
            OnDemand(
                NUMBERS,
                lambda key: int(accounts.own[key][counted].sum()) - int(own[key].sum()),
            ),
        ),
        arranged=shown.rows,
        skipped=_skipped(shown, kept, question),
    )


def _of_rows(numbers: Numbers, rows: Ints) -> Numbers:
    return OnDemand(NUMBERS, lambda key: numbers[key][rows])


def _everything(question: Question) -> _Rows:
    """All rows there are, with totals of all of them."""
    arrangement, accounts = question.arrangement, question.accounts
    rows = np.arange(len(arrangement.tree))
    if arrangement.weighing is None:
        return _Rows(arrangement.tree, rows, rows, _Sums(arrangement.tree, accounts.running))
    return _summed(arrangement.tree, rows, accounts.own, arrangement.weighing)


def _account(kept: _Rows, question: Question) -> tuple[_Rows, Ints]:
    """The rows that are left, with totals of what is accounted for, and which rows that is."""
    arrangement, accounts, policy = question.arrangement, question.accounts, question.policy
    is_accounted = accounts.is_accounted[kept.rows]
    flags = is_accounted.copy()
    flags[0] = True
    if flags.all() and len(kept.rows) == len(arrangement.tree):
        return kept, kept.rows
    if policy.unaccounted_hide:
        own = _only(accounts.own, accounts.is_accounted)
        counted = kept.rows[is_accounted]
        return _summed(kept.tree, kept.rows, own, arrangement.weighing), counted
    if not policy.unaccounted_vanish:
        flags = kept.tree.sums_below(is_accounted.astype(np.int64)) > 0
        flags[0] = True
    places = np.flatnonzero(flags)
    rows = kept.rows[places]
    # A row that merely holds others adds its own numbers too: it may be an op with some.
    return _summed(kept.tree.keep(places), rows, accounts.own), rows


def _only(numbers: Numbers, flags: Bools) -> Numbers:
    """The numbers of the flagged rows, and nothing of the others."""
    return OnDemand(NUMBERS, lambda key: np.where(flags, numbers[key], 0))


def _summed(tree: Tree, rows: Ints, own: Numbers, weighing: Weighing | None = None) -> _Rows:
    """These rows, with totals of nothing else unless another nesting says what they hold."""
    if weighing is not None:
        sums = _Sums(weighing.tree, running_sums(_of_rows(own, weighing.row)))
        return _Rows(tree, rows, weighing.place[rows], sums)
    sums = _Sums(tree, running_sums(_of_rows(own, rows)))
    return _Rows(tree, rows, np.arange(len(rows)), sums)


def _start(kept: _Rows, question: Question) -> _Rows:
    """Everything from the topmost rows whose names match; the root keeps its total."""
    options, arrangement = question.options, question.arrangement
    if options.patterns("start_name_regexes").is_everything:
        return kept
    matches = _matches(arrangement, options.start_name_regexes)[kept.rows]
    matches[0] = False
    flags = matches | kept.tree.is_below(matches)
    flags[0] = True
    return kept.keep(flags)


def _show(kept: _Rows, question: Question) -> _Rows:
    """The rows whose place and name are asked for; what is below a hidden row moves up."""
    profile, options, arrangement, accounts, policy, _ = question
    flags = kept.tree.depths <= options.max_depth
    if policy.unaccounted_hide:
        flags &= accounts.is_accounted[kept.rows]
    if not options.patterns("device_regexes").is_everything:
        flags &= ran_on(profile, accounts.members, options.device_regexes)[kept.rows]
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


def ran_on(profile: ProfileColumns, members: Ragged, regexes: tuple[str, ...]) -> Bools:
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


def _pass(kept: _Rows, question: Question) -> _Rows:
    """The rows that reach every threshold; what is below a hidden row moves up."""
    own = _of_rows(question.accounts.own, kept.rows)
    flags = np.ones(len(kept.rows), np.bool_)
    flags &= passes_thresholds(question, own, kept.total)
    flags[0] = True
    return kept.keep(flags)


@remembered
def _matches(arrangement: Arrangement, regexes: tuple[str, ...]) -> Bools:
    """Which rows have a name that one of `regexes` matches."""
    return Patterns(regexes).match_column(arrangement.name)


def passes_thresholds(question: Question, own: Numbers, total: Numbers) -> Bools | np.bool_:
    """Which rows reach every `min_…` option but, where rows gather ops, `min_occurrence`."""
    profile, options, _, _, policy, is_gathered = question
    flags: Bools | np.bool_ = np.True_
    for key in (*RUN_NUMBERS, "params", "float_ops"):
        if options.threshold(key) > 0 or may_be_negative(profile, key):
            is_summed = not policy.compares_own and (is_gathered or key in RUN_NUMBERS)
            flags = flags & ((total if is_summed else own)[key] >= options.threshold(key))
    if not is_gathered and (options.min_occurrence > 0 or may_be_negative(profile, "runs")):
        flags = flags & (own["runs"] >= options.min_occurrence)
    return flags


def _skipped(shown: _Rows, kept: _Rows, question: Question) -> Ints | None:
    """How many hidden rows lie between each row and the one above it, where that is asked for."""
    if "num_hidden_ops" not in question.options.select:
        return None
    level = np.zeros(len(question.arrangement.tree), np.int64)
    level[kept.rows] = kept.tree.depths
    levels = level[shown.rows]
    skipped = levels - levels[shown.tree.parents] - 1
    skipped[0] = 0
    return skipped


def _recount(shown: _Rows, accounts: Accounts) -> _Rows:
    """Totals of what is shown alone; the root then counts as a definition itself."""
    definitions = accounts.own["definitions"].copy()
    definitions[0] += 1
    own = OnDemand(NUMBERS, lambda key: definitions if key == "definitions" else accounts.own[key])
    return _summed(shown.tree, shown.rows, own)


def _order(shown: _Rows, question: Question) -> _Rows:
    """Siblings by name, or by a total, the largest first; equal ones stay as they were.

    Ordered by nothing, all of them do.
    """
    _, options, arrangement, accounts, _, is_gathered = question
    if not options.order_by:
        return shown
    if options.order_by in NUMBERS:
        key = descending(shown.total[options.order_by])
    elif options.order_by == "occurrence" and is_gathered:
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
