"""Which ops a question accounts for, and the numbers their rows get from that."""

from __future__ import annotations

import numpy as np

from tfprof.columns import Bools, Ints, Ragged, offsets_of
from tfprof.measures.numbers import per_op
from tfprof.memo import remembered
from tfprof.metrics import NUMBERS
from tfprof.model.profile import Profile
from tfprof.options import Options
from tfprof.patterns import Patterns
from tfprof.views.select import Accounts, Arrangement


@remembered
def matching_regexes(profile: Profile, regexes: tuple[str, ...]) -> Ints:
    """For each op, how many of `regexes` match one of its types."""
    types = profile.ops.types
    counts = np.zeros(len(profile.ops), np.int64)
    for flags in Patterns(regexes).match_each(types.names):
        counts += types.any(flags)
    return counts


def account_single(profile: Profile, options: Options, arrangement: Arrangement) -> Accounts:
    """Accounts of rows that stand for one op, or for none."""
    patterns = options.patterns("account_type_regexes")
    counts = matching_regexes(profile, options.account_type_regexes)
    has_op = arrangement.members.lengths > 0
    is_accounted = np.zeros(len(arrangement.tree), np.bool_)
    is_accounted[has_op] = (counts > 0)[arrangement.members.values] | patterns.is_everything
    is_accounted |= _matched_types(arrangement, patterns)
    is_accounted[0] = False
    numbers = per_op(profile, options.step)
    own = {key: np.zeros(len(arrangement.tree), np.int64) for key in NUMBERS}
    for key in NUMBERS:
        own[key][has_op] = numbers[key][arrangement.members.values]
    own["definitions"][1:] = 1  # a scope that is no op counts as one
    return Accounts(is_accounted, arrangement.members, own)


def _matched_types(arrangement: Arrangement, patterns: Patterns) -> Bools:
    """Which rows that stand for no op have a type of their own that matches."""
    flags = np.zeros(len(arrangement.tree), np.bool_)
    known: dict[tuple[str, ...], bool] = {}
    for row, types in arrangement.own_types.items():
        if types not in known:
            known[types] = any(map(patterns.matches, types))
        flags[row] = known[types]
    return flags


def account_gathered(profile: Profile, options: Options, arrangement: Arrangement) -> Accounts:
    """Accounts of rows that gather ops; an op weighs once for each regex that matches it."""
    weight = matching_regexes(profile, options.account_type_regexes)[arrangement.members.values]
    numbers = per_op(profile, options.step)
    members = _matched(arrangement.members, weight > 0)
    own = {
        key: arrangement.members.sums(weight * numbers[key][arrangement.members.values])
        for key in NUMBERS
    }
    # How often and how many: each op once, however many regexes matched it.
    own |= {key: members.sums(numbers[key][members.values]) for key in ("runs", "definitions")}
    everything = options.patterns("account_type_regexes").is_everything
    is_accounted = (members.lengths > 0) | everything
    is_accounted[0] = False
    return Accounts(is_accounted, members, own)


def _matched(members: Ragged, flags: Bools) -> Ragged:
    """The members that are flagged, row by row."""
    running = np.concatenate(([0], np.cumsum(flags)))
    lengths = running[members.offsets[1:]] - running[members.offsets[:-1]]
    return Ragged(offsets_of(lengths), members.values[flags])
