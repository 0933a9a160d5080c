"""The filters of all views, as named steps; the policy of a view defines their order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tfprof.columns import Bools, Ints, Ragged, Strings, offsets_of
from tfprof.dialects import Policy, Step
from tfprof.measures.numbers import Numbers, in_parts, may_be_negative
from tfprof.memo import OnDemand, remembered
from tfprof.metrics import GATHERED_ORDER, NUMBERS, RUN_NUMBERS
from tfprof.model.profile import ProfileColumns
from tfprof.options import Options
from tfprof.patterns import Patterns
from tfprof.views.registry import VIEWS, Trait
from tfprof.views.tree import Tree
from tfprof.views.view import Counted, Hidden, View, chosen_by


class Weighing(NamedTuple):
    """Another nesting of an arrangement's rows, used only for totals."""

    tree: Tree
    row: Ints  # the row of the arrangement that each row of `tree` is
    place: Ints  # the row of `tree` that each row of the arrangement is


@dataclass(frozen=True, slots=True, eq=False)
class Arrangement:
    """All rows that a view could show, the root first: their nesting, names and ops."""

    tree: Tree
    name: Strings
    members: Ragged
    own_type: str | None = None  # the type of rows without an op
    is_in_name_order: bool = False  # the children of each row are in the byte order of their names
    name_rank: Ints | None = None  # ascends with the byte order of names, if known
    weighing: Weighing | None = None  # the nesting for totals, if it differs from `tree`
    memo: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    def name_ranks(self, rows: Ints) -> Ints:
        """Numbers that ascend with the byte order of the names of `rows`."""
        if self.name_rank is not None:
            return self.name_rank[rows]
        ranks = np.empty(len(rows), np.int64)
        ranks[self.name.take(rows).order()] = np.arange(len(rows))
        return ranks


class Accounts(NamedTuple):
    """What a question accounts for in each row of an arrangement; numbers are in parts."""

    is_accounted: Bools
    members: Ragged
    own: Numbers
    running: Numbers  # see `running_sums`


def running_sums(own: Numbers) -> Numbers:
    """The sum of each number over all rows before each row, and over all rows."""
    return OnDemand(NUMBERS, lambda key: offsets_of(own[key]))


class _Sums(NamedTuple):
    """Sums over the subtrees of `tree`, which contains the rows that count towards totals."""

    tree: Tree
    running: Numbers
    rows: Ints  # the row of the arrangement that each row of `tree` is
    counts: Bools | None = None  # the rows of the arrangement that count, if not all do

    def below(self, key: str, places: Ints) -> Ints:
        """The sum of a number over the subtree of each of the given rows."""
        return self._differences(self.running[key], places)

    def below_of(self, own: Ints, places: Ints) -> Ints:
        """The same for any number, given for each row of the arrangement."""
        counted = own if self.counts is None else np.where(self.counts, own, 0)
        return self._differences(offsets_of(counted[self.rows]), places)

    def _differences(self, running: Ints, places: Ints) -> Ints:
        return running[self.tree.end[places]] - running[places]


class _Rows(NamedTuple):
    """The rows that the steps so far have kept, with their nesting and totals."""

    tree: Tree
    rows: Ints  # of the arrangement
    places: Ints  # the row of `sums.tree` that each row is
    sums: _Sums
    counted: Ints  # the rows of the arrangement that count towards the total of the root
    levels: Ints | None = None  # the depths before any row was hidden, if requested

    def keep(self, flags: Bools) -> _Rows:
        """The root and the flagged rows; children of dropped rows move up."""
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

    def summed(
        self, own: Numbers, weighing: Weighing | None = None, counts: Bools | None = None
    ) -> _Rows:
        """The same rows, with totals over these rows only, or over another nesting.

        If `counts` is given, rows of the arrangement that it does not flag add nothing.
        """
        own = own if counts is None else _only(own, counts)
        if weighing is not None:
            running = running_sums(_of_rows(own, weighing.row))
            sums = _Sums(weighing.tree, running, weighing.row, counts)
            return self._replace(places=weighing.place[self.rows], sums=sums)
        sums = _Sums(self.tree, running_sums(_of_rows(own, self.rows)), self.rows, counts)
        return self._replace(places=np.arange(len(self.rows)), sums=sums)

    def totals_of(self, own: Ints) -> Ints:
        """The total of each row for another number, given for each row of the arrangement."""
        return self.sums.below_of(own, self.places)

    @property
    def total(self) -> Numbers:
        """The total of each row: the sum over its subtree in `sums`."""
        return OnDemand(NUMBERS, lambda key: self.sums.below(key, self.places))


class _Question(NamedTuple):
    """The input of every step."""

    profile: ProfileColumns
    options: Options
    arrangement: Arrangement
    accounts: Accounts
    policy: Policy
    is_gathered: bool  # a row may represent many ops
    has_root: bool  # the root is a row like any other; False for a flat list of rows


def select(
    kind: str,
    profile: ProfileColumns,
    options: Options,
    *,
    arrangement: Arrangement,
    accounts: Accounts,
    policy: Policy,
    only: Ints | None = None,
) -> View:
    """Filter the rows of an arrangement by the steps of `policy`, in order.

    If `only` is given, exactly these rows are shown, in the order of the arrangement, as far as
    they are accounted for.
    """
    traits = VIEWS[kind].traits
    is_gathered, has_root = Trait.GATHERED in traits, Trait.NESTED in traits
    question = _Question(profile, options, arrangement, accounts, policy, is_gathered, has_root)
    shown = _everything(question)
    before: dict[Step, _Rows] = {}
    for step in policy.steps:
        before[step] = shown
        if only is None or step not in _CHOOSING:
            shown = _STEPS[step](shown, question)
        elif step == "show":
            shown = shown.keep(np.isin(shown.rows, only))

    def totals_of(column: Ints) -> Ints:
        every = accounts.members
        return shown.totals_of(every.sums(column[every.values]))

    members = accounts.members.take(shown.rows)
    own = _of_rows(accounts.own, shown.rows)
    counted = shown.counted
    hidden = OnDemand(
        NUMBERS, lambda key: accounts.own[key][counted].sum(keepdims=True) - own[key].sum()
    )
    hidden_numbers = _shown(question, hidden)
    trail = _Trail(question, before)
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
        own=_shown(question, own),
        total=_shown(question, shown.total),
        hidden=Hidden(
            accounts.members.count(counted) - len(members.values),
            OnDemand(NUMBERS, lambda key: int(hidden_numbers[key][0])),
        ),
        arranged=shown.rows,
        counted=lambda: _counted(shown, question, recounts=trail.recounts),
        totals_of=totals_of,
        skipped=_skipped(shown),
        trail=trail,
    )


def _counted(shown: _Rows, question: _Question, *, recounts: bool) -> Counted:
    """The ops of all rows that count, which may be hidden, and the rows shown above them."""
    rows = shown.rows if recounts else shown.counted
    parents = question.arrangement.tree.parents
    place = np.full(len(parents), -1)
    place[shown.rows] = np.arange(len(shown.rows))
    while len(hidden := np.flatnonzero(place < 0)):
        place[hidden] = place[parents[hidden]]
    members = question.accounts.members.take(rows)
    return Counted(members.values, place[rows][members.owners])


def _shown(question: _Question, numbers: Numbers) -> Numbers:
    """Sums of parts as whole numbers; those of runs stay parts of a run, see `View.runs`."""
    chosen = chosen_by(question.options)

    def column(key: str) -> Ints:
        found = numbers[key]
        return found if key == "runs" else in_parts(question.profile, chosen, key).shown(found)

    return OnDemand(NUMBERS, column)


def _of_rows(numbers: Numbers, rows: Ints) -> Numbers:
    return OnDemand(NUMBERS, lambda key: numbers[key][rows])


def _everything(question: _Question) -> _Rows:
    """All rows of the arrangement, with totals over all of them."""
    arrangement, accounts = question.arrangement, question.accounts
    rows = np.arange(len(arrangement.tree))
    sums = _Sums(arrangement.tree, accounts.running, rows)
    found = _Rows(arrangement.tree, rows, rows, sums, counted=rows)
    if arrangement.weighing is None:
        return found
    return found.summed(accounts.own, arrangement.weighing)


def _account(kept: _Rows, question: _Question) -> _Rows:
    """Drop rows without accounted ops, and total what is accounted for."""
    arrangement, accounts, policy = question.arrangement, question.accounts, question.policy
    is_accounted = accounts.is_accounted[kept.rows]
    flags = is_accounted.copy()
    flags[0] = True
    if flags.all() and len(kept.rows) == len(arrangement.tree):
        return kept
    if policy.unaccounted_hide:
        counted = kept.rows[is_accounted]
        kept = kept.summed(accounts.own, arrangement.weighing, accounts.is_accounted)
        return kept._replace(counted=counted)
    if not policy.unaccounted_vanish:
        flags = kept.tree.sums_below(is_accounted.astype(np.int64)) > 0
    kept = kept.keep(flags)
    # A row that is kept only for the rows below it adds its own numbers too: it may be an op.
    return kept.summed(accounts.own)._replace(counted=kept.rows)


def _only(numbers: Numbers, flags: Bools) -> Numbers:
    """The numbers of the flagged rows, and 0 for the others."""
    return OnDemand(NUMBERS, lambda key: np.where(flags, numbers[key], 0))


def _start(kept: _Rows, question: _Question) -> _Rows:
    """Keep the topmost rows with matching names and everything below; the root keeps its total."""
    patterns = question.options.patterns("start_name_regexes")
    if patterns.is_everything or (patterns.is_empty and question.policy.starts_by_default):
        return kept
    matches = _matches(question.arrangement, question.options.start_name_regexes)[kept.rows]
    matches[0] = False
    return kept.keep(matches | kept.tree.is_below(matches))


def _run_on(kept: _Rows, question: _Question) -> _Rows:
    """Nest each row below the previous one, so that its total covers all later rows."""
    count = len(kept.rows)
    return kept._replace(tree=Tree(np.full(count, count))).summed(question.accounts.own)


def _side_by_side(shown: _Rows, _: _Question) -> _Rows:
    """Move all rows directly below the root; totals stay the same."""
    return shown._replace(tree=Tree.flat(len(shown.rows)), levels=None)


def _show(kept: _Rows, question: _Question) -> _Rows:
    """Keep the rows whose depth, device and name the options ask for."""
    if "num_hidden_ops" in question.options.select:
        kept = kept._replace(levels=kept.tree.depths)
    is_near = _depths(kept, question) <= question.options.max_depth
    return kept.keep(is_near & _named(kept, question))


def _named(kept: _Rows, question: _Question) -> Bools:
    """Which rows have the device and name that the options ask for."""
    options, arrangement, accounts = question.options, question.arrangement, question.accounts
    flags = np.ones(len(kept.rows), np.bool_)
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
    return flags


def _depths(kept: _Rows, question: _Question) -> Ints:
    """The depth of each row, 1 for the root; in a flat list, its position from 0."""
    return kept.tree.depths if question.has_root else np.arange(-1, len(kept.rows) - 1)


def _is_trimmed(kept: _Rows, question: _Question) -> Bools:
    """Which rows are below a trimmed row, or are trimmed rows that the policy drops as well."""
    matches = _matches(question.arrangement, question.options.trim_name_regexes)[kept.rows]
    matches[0] &= question.has_root
    below = kept.tree.is_below(matches)
    return below | matches if question.policy.trimmed_rows_vanish else below


def _ran_on(profile: ProfileColumns, members: Ragged, regexes: tuple[str, ...]) -> Bools:
    """Which rows have an op on a device that matches one of `regexes`, ignoring case."""
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
    """Which rows have a name that matches one of `regexes`."""
    return Patterns(regexes).match_column(arrangement.name)


def _reach(kept: _Rows, question: _Question) -> _Rows:
    """Keep the rows that reach every threshold."""
    return kept.keep(_reaching(kept, question))


def _reaching(kept: _Rows, question: _Question) -> Bools:
    flags = np.ones(len(kept.rows), np.bool_)
    for key, column in _compared(kept, question):
        flags &= column >= question.options.threshold(key)
    return flags


def _compared(kept: _Rows, question: _Question) -> Iterator[tuple[str, Ints]]:
    """The thresholds that may hide rows, each with the column it is compared with."""
    profile, options, policy = question.profile, question.options, question.policy
    own = _shown(question, _of_rows(question.accounts.own, kept.rows))
    total = _shown(question, kept.total)
    for key in GATHERED_ORDER:
        if options.threshold(key) > 0 or may_be_negative(profile, key):
            is_own = not question.is_gathered and key not in RUN_NUMBERS
            yield key, (own if is_own or policy.compares_own else total)[key]
    least = options.min_occurrence
    if policy.counts_ops and least > 0:
        yield "occurrence", question.accounts.members.lengths[kept.rows]
    if not question.is_gathered and (least > 0 or may_be_negative(profile, "runs")):
        runs = in_parts(profile, chosen_by(options), "runs")
        yield "occurrence", own["runs"] // runs.per


class _Trail(NamedTuple):
    """The rows that each step received, to explain why others are not shown."""

    question: _Question
    before: Mapping[Step, _Rows]

    @property
    def names(self) -> Strings:
        """The names of all rows of the arrangement, except the root."""
        name = self.question.arrangement.name
        return name.take(np.arange(1, len(name)))

    @property
    def recounts(self) -> bool:
        """Whether totals cover only the rows shown."""
        return self.question.options.account_displayed_op_only and "recount" in self.before

    def too_deep(self) -> Ints:
        """The depths of the rows that only `max_depth` hides."""
        question, kept = self.question, self.before["show"]
        depths = _depths(kept, question)
        flags = depths > question.options.max_depth
        flags[0] = False
        if not flags.any():
            return depths[:0]
        left = np.flatnonzero(flags & _named(kept, question))
        deep = kept._replace(rows=kept.rows[left], places=kept.places[left])
        return depths[left][_reaching(deep, question)]

    def unreached(self) -> dict[str, tuple[int, str]]:
        """For each threshold that no row reaches, the largest number and the name of its row."""
        question, kept = self.question, self.before["reach"]
        found: dict[str, tuple[int, str]] = {}
        for key, column in _compared(kept, question) if len(kept.rows) > 1 else ():
            best = 1 + int(column[1:].argmax())
            if column[best] < question.options.threshold(key):
                found[key] = int(column[best]), question.arrangement.name[int(kept.rows[best])]
        return found

    def unmatched(self, option: str) -> list[str]:
        """The regexes of an option for names that match no row."""
        regexes: tuple[str, ...] = getattr(self.question.options, option)
        arrangement = self.question.arrangement
        return [regex for regex in regexes if not _matches(arrangement, (regex,))[1:].any()]

    def hidden_by_name(self) -> int:
        """The number of rows that `hide_name_regexes` hides."""
        kept, hide = self.before["show"], self.question.options.hide_name_regexes
        return int(_matches(self.question.arrangement, hide)[kept.rows[1:]].sum())


def _skipped(shown: _Rows) -> Ints | None:
    """The number of hidden rows between each row and its parent, if requested."""
    if shown.levels is None:
        return None
    skipped = shown.levels - shown.levels[shown.tree.parents] - 1
    skipped[0] = 0
    return skipped


def _recount(shown: _Rows, question: _Question) -> _Rows:
    """Total only shown rows, if requested; the root then counts as a definition itself."""
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
    """Sort siblings by name, or by a number in descending order; the sort is stable.

    The number is the total, or in a flat list the row's own. Without `order_by` nothing changes.
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
    """A key that sorts `column` in descending order; unlike negation it cannot overflow."""
    return ~column


# The steps that decide which rows are shown, and in which order.
_CHOOSING: frozenset[Step] = frozenset(("start", "show", "reach", "order"))

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
