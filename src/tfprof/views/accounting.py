"""Which ops a question accounts for, and the numbers that the rows get from them."""

from __future__ import annotations

import numpy as np

from tfprof.columns import Bools, Ints, Ragged, ints
from tfprof.dialects import Policy
from tfprof.measures.numbers import AVERAGES, ROUNDED, Numbers, in_parts, require_steps
from tfprof.measures.run_sums import require_fits
from tfprof.measures.time import carried
from tfprof.memo import OnDemand, remembered, remembering
from tfprof.metrics import BY_KEY, NUMBERS
from tfprof.model.profile import ProfileColumns
from tfprof.model.recordings import Chosen
from tfprof.options import Options
from tfprof.patterns import Patterns
from tfprof.sums import fits, magnitude, product
from tfprof.views.select import Accounts, Arrangement, running_sums
from tfprof.views.view import chosen_by


@remembered
def matching_regexes(profile: ProfileColumns, regexes: tuple[str, ...]) -> Ints:
    """For each op, the number of `regexes` that match any of its types."""
    types = profile.ops.types
    counts = np.zeros(len(profile.ops), np.int64)
    for flags in Patterns(regexes).match_each(types.names):
        counts += types.any(flags)
    return counts


def account_single(
    profile: ProfileColumns, options: Options, arrangement: Arrangement, policy: Policy
) -> Accounts:
    """The accounts of rows that represent at most one op."""
    regexes = options.account_type_regexes
    is_accounted = _is_accounted(arrangement, profile, regexes)
    if policy.accounts_for_root and Patterns(regexes).is_everything:
        is_accounted = np.ones(len(is_accounted), np.bool_)
    return Accounts(
        is_accounted,
        arrangement.members,
        *_own_numbers(arrangement, profile, chosen_by(options)),
    )


@remembered
def _is_accounted(
    arrangement: Arrangement, profile: ProfileColumns, regexes: tuple[str, ...]
) -> Bools:
    """Which rows have a type that one of `regexes` matches."""
    patterns = Patterns(regexes)
    counts = matching_regexes(profile, regexes)
    # All rows without an op have the same type, or no type.
    own_type = arrangement.own_type
    flags = np.full(
        len(arrangement.tree), own_type is not None and patterns.matches(own_type), np.bool_
    )
    has_op = arrangement.members.lengths > 0
    flags[has_op] = (counts > 0)[arrangement.members.values] | patterns.is_everything
    flags[0] = False
    return flags


@remembering(2)  # each result may hold a dozen columns
def _own_numbers(
    arrangement: Arrangement, profile: ProfileColumns, chosen: Chosen
) -> tuple[Numbers, Numbers]:
    """The numbers of each row's op, in parts, and their running sums."""
    require_steps(profile, chosen, AVERAGES)
    # Rows without an op get the index one past the last op, which has the number 0.
    op = np.full(len(arrangement.tree), len(profile.ops))
    op[arrangement.members.lengths > 0] = arrangement.members.values

    def of_rows(key: str) -> Ints:
        if key == "definitions":
            column = np.ones(len(op), np.int64)  # a scope that is not an op also counts as one
            column[0] = 0
            return ints(column)
        return ints(np.append(in_parts(profile, chosen, key).column, 0)[op])

    own = OnDemand(NUMBERS, of_rows)
    return own, running_sums(own)


def _weighted(
    profile: ProfileColumns, key: str, numbers: Ints, members: Ragged, weight: Ints
) -> Ints:
    """For each row, the sum of the numbers of its ops; raises an error if one exceeds 64 bits."""
    values = numbers[members.values]
    # If each op counts at most once, the sums of rows are sums of `numbers`, which fit.
    if magnitude(weight) <= 1 or not fits(numbers):  # see `is_unsigned`
        return members.sums(weight * values)
    column = product(weight, values)
    require_fits(profile, key, column, members.values)
    return members.sums(column)


def account_gathered(
    profile: ProfileColumns, options: Options, arrangement: Arrangement
) -> Accounts:
    """The accounts of rows that gather ops; an op counts once per regex that matches it."""
    weight = matching_regexes(profile, options.account_type_regexes)[arrangement.members.values]
    chosen = chosen_by(options)
    require_steps(profile, chosen, AVERAGES)
    members = arrangement.members.where(weight > 0)

    def of_rows(key: str) -> Ints:
        if key.endswith("micros") and not profile.counts_whole_micros:
            # Rounded op by op, the times of ops that are far apart would not add up.
            exact = ROUNDED.get(key) or (BY_KEY[key].exact,)
            return ints(np.sum([carried(own[part]) for part in exact], axis=0))
        numbers = in_parts(profile, chosen, key).column
        # Runs and definitions count each op once, no matter how many regexes match it.
        if key in ("runs", "definitions"):
            return members.sums(numbers[members.values])
        return _weighted(profile, key, numbers, arrangement.members, weight)

    everything = options.patterns("account_type_regexes").is_everything
    is_accounted = (members.lengths > 0) | everything
    is_accounted[0] = False
    own = OnDemand(NUMBERS, of_rows)
    return Accounts(is_accounted, members, own, running_sums(own))
