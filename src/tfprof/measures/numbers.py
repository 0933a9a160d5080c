"""Every number of every op, averaged over the chosen steps of the chosen recordings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from tfprof import sums
from tfprof.columns import Bools, Ints, ints
from tfprof.errors import OptionError, TfprofError
from tfprof.measures import averages, time
from tfprof.measures.averages import Parts
from tfprof.measures.parts import PARTS
from tfprof.measures.run_sums import (
    MEASURED,
    TIMES,
    is_unsafe,
    require_fits,
    run_sums,
    too_large,
)
from tfprof.measures.warm_up import warm_up_steps
from tfprof.memo import OnDemand, remembered, remembering
from tfprof.metrics import BY_KEY, NUMBERS
from tfprof.model.ops import OPTIMIZER_VARIABLE, STATE_VARIABLE, UNKNOWN_REPEATS
from tfprof.model.profile import ProfileColumns
from tfprof.model.recordings import ALL_STEPS, UNKNOWN_RANK, Chosen
from tfprof.patterns import Patterns
from tfprof.units import Unit

EVERYTHING = Chosen()

# What step -1 does, in an error about a step.
AVERAGES = "averages over all steps"

_ONE = ints([1])

# The exact times from which whole microseconds are rounded, part by part so that the parts add up.
ROUNDED: dict[str, tuple[str, ...]] = {
    "micros": ("accelerator_nanos", "cpu_nanos"),
    "accelerator_micros": ("accelerator_nanos",),
    "cpu_micros": ("cpu_nanos",),
    "transfer_micros": ("transfer_nanos",),
}

if TYPE_CHECKING:
    from tfprof.measures.flops import FloatOps, Macs

Numbers: TypeAlias = Mapping[str, Ints]  # one column per name in `metrics.NUMBERS`


@remembering(2)  # each may hold a dozen columns
def per_op(profile: ProfileColumns, chosen: Chosen) -> Numbers:
    """The numbers of each op, averaged over the chosen steps as `measures.averages` describes.

    Times are also available in nanoseconds; `measures.time` describes how they are rounded.
    Runs are in parts of a run, see `in_parts`.
    """
    require_steps(profile, chosen, AVERAGES)

    def column(key: str) -> Ints:
        return _summable(profile, key, ints(_column(profile, chosen, key)))

    return OnDemand(NUMBERS, column)


def has_number(profile: ProfileColumns, key: str) -> bool:
    """Whether a profile has a metric: times if it ran, others if any op has such a number."""
    metric = BY_KEY[key]
    if not profile.has(metric.needs):
        return False
    # What ran may have taken no time on an accelerator, but if no op has memory or transfers, they
    # were not recorded.
    if metric.unit is Unit.MICROS and key != "transfer_micros":
        return True
    return bool(per_op(profile, EVERYTHING)[key].any())


def _summable(profile: ProfileColumns, key: str, column: Ints) -> Ints:
    """The column; raises an error if its sum does not fit into 64 bits."""
    if not (key in MEASURED and profile.counts_whole_micros):  # see `is_unsigned`
        require_fits(profile, key, column)
    return column


@remembering(len(NUMBERS))  # each result is a single flag
def is_unsigned(profile: ProfileColumns, chosen: Chosen, key: str) -> bool:
    """Whether averages of negative numbers are huge and their sums may wrap around.

    The original divides negative sums as unsigned 64-bit integers, and so do we for RunMetadata.
    """
    is_divided = key in MEASURED and profile.counts_whole_micros
    return is_divided and not sums.fits(per_op(profile, chosen)[key])


def require_steps(profile: ProfileColumns, chosen: Chosen, otherwise: str) -> None:
    """Reject an unknown step, recording or rank; `otherwise` says what step -1 means."""
    steps, recordings = profile.steps, profile.recordings
    if chosen.step >= 0 and chosen.step not in steps.number:
        known = ", ".join(map(str, steps.numbers())) or "none"
        raise OptionError(f"No step {chosen.step}. Recorded: {known}; -1 {otherwise}.")
    for rank in chosen.rank:
        if rank not in recordings.rank:
            ranks = sorted(set(recordings.rank[recordings.rank != UNKNOWN_RANK].tolist()))
            known = ", ".join(map(str, ranks)) or "unknown"
            raise OptionError(f"No rank {rank}. Ranks: {known}.")
    if chosen.recording != EVERYTHING.recording and not len(chosen_recordings(profile, chosen)):
        labels = ", ".join(recordings.label) or "none"
        wanted = ",".join(chosen.recording)
        raise OptionError(f"No recording matches `{wanted}`. Recordings: {labels}.")
    if not chosen.is_of_all_recordings and not len(chosen_steps(profile, chosen)):
        raise OptionError(f"Step {chosen.step} was not recorded by the chosen recordings.")


def chosen_recordings(profile: ProfileColumns, chosen: Chosen) -> Ints:
    """The rows of the chosen recordings."""
    recordings = profile.recordings
    flags = Patterns(chosen.recording).match_column(recordings.label)
    if chosen.rank:
        flags &= np.isin(recordings.rank, chosen.rank)
    return np.flatnonzero(flags)


@remembered
def chosen_steps(profile: ProfileColumns, chosen: Chosen) -> Ints:
    """The rows of the chosen steps."""
    is_chosen = np.zeros(len(profile.recordings), np.bool_)
    is_chosen[chosen_recordings(profile, chosen)] = True
    flags = is_chosen[profile.steps.recording]
    if chosen.step >= 0:
        flags &= profile.steps.number == chosen.step
    elif chosen.step != ALL_STEPS:
        flags[warm_up_steps(profile)] = False
    return ints(np.flatnonzero(flags))


@remembering(len(NUMBERS))
def in_parts(profile: ProfileColumns, chosen: Chosen, key: str) -> Parts:
    """A number of each op, in parts so small that no average is rounded, see `averages`.

    Times, and what is not averaged, have one part per one.
    """
    if key in PARTS and PARTS[key][0] in _IN_PARTS:
        whole, is_counted = PARTS[key]
        column, per = in_parts(profile, chosen, whole)
        return Parts(np.where(is_counted(profile), column, 0), per)
    if key in _IN_PARTS:
        return _in_parts(profile, chosen, key)
    return Parts(per_op(profile, chosen)[key], 1)


def total(profile: ProfileColumns, chosen: Chosen, key: str) -> float:
    """The sum of a number over all ops; one of runs may have a fraction."""
    parts = in_parts(profile, chosen, key)
    whole = parts.column.sum(keepdims=True)
    found = parts.exactly(whole) if key == "runs" else parts.shown(whole)
    return float(found[0]) if found.dtype.kind == "f" else int(found[0])


def _in_parts(profile: ProfileColumns, chosen: Chosen, key: str) -> Parts:
    runs, steps = run_sums(profile), _steps_or_all(profile, chosen)
    once = _COUNTED[key](profile) if key in _COUNTED else _ONE
    number = "runs" if key in _COUNTED else key
    runs.require_summable(number)
    if profile.counts_whole_micros:
        totals, counts = runs.averages_seen(number, steps), _ONE
    else:
        totals, counts = runs.totals(number, steps), _step_counts(profile, chosen)
    if key in _COUNTED:
        # Ops that were not seen running count for one run of the program.
        is_seen = seen_running(profile)
        totals, counts = np.where(is_seen, totals, repeats(profile)), np.where(is_seen, counts, 1)
    return averages.in_parts(totals, counts, once)


def _column(profile: ProfileColumns, chosen: Chosen, key: str) -> Ints:
    if key in _COUNTED_ELEMENTS:
        return _COUNTED_ELEMENTS[key](profile)
    if key == "definitions":
        return np.ones(len(profile.ops), np.int64)
    if key in PARTS:
        whole, is_counted = PARTS[key]
        return np.where(is_counted(profile), per_op(profile, chosen)[whole], 0)
    if key in _IN_PARTS:
        parts = in_parts(profile, chosen, key)
        return parts.column if key == "runs" else parts.shown(parts.column)
    if key in ROUNDED and not (key in MEASURED and profile.counts_whole_micros):
        exact = per_op(profile, chosen)
        rounded = [time.carried_micros(profile, exact[part]) for part in ROUNDED[key]]
        return ints(np.sum(rounded, axis=0))
    return _over_steps(profile, key, chosen)


def repeats(profile: ProfileColumns) -> Ints:
    """How often each op runs in one run of the program: as often as its loop, once if unknown."""
    found = profile.ops.repeats
    return np.where(found == UNKNOWN_REPEATS, 1, found)


def seen_running(profile: ProfileColumns) -> Bools:
    """For each op, whether a recording contains it."""
    return run_sums(profile).seen(None) > 0


@remembering(len(NUMBERS))  # each result is a single flag
def may_be_negative(profile: ProfileColumns, key: str) -> bool:
    """Whether a sum of this number over some ops could be negative; True if in doubt.

    False for a number that is refused because its sum exceeds 64 bits: other numbers of the same
    files can still be shown.
    """
    try:
        is_doubtful = _is_doubtful(profile, key)
        if is_doubtful:
            _ = per_op(profile, EVERYTHING)[key]  # raises the error
    except TfprofError:
        return False
    return is_doubtful


def _is_doubtful(profile: ProfileColumns, key: str) -> bool:
    """Whether some number is negative, or their sums are too large for doubles."""
    runs = run_sums(profile)
    if key == "macs":
        return runs.is_doubtful("runs")  # counted numbers are never negative
    if key == "float_ops":
        logged = profile.ops.logged_float_ops
        most = max(
            int(runs.totals("runs", None).max(initial=1)), int(profile.ops.repeats.max(initial=1))
        )
        return is_unsafe(logged, most) or runs.is_doubtful("runs")
    if key in _COUNTED_ELEMENTS:
        return is_unsafe(per_op(profile, EVERYTHING)[key])
    measured = (key,) if key in MEASURED else ROUNDED[key]
    return any(map(runs.is_doubtful, measured))


def _params(profile: ProfileColumns) -> Ints:
    """The elements of each op's shape, except for variables that are known not to be parameters."""
    ops = profile.ops
    is_other = ops.types.having(OPTIMIZER_VARIABLE, STATE_VARIABLE)
    sizes = _sizes(profile, "params")
    return np.where(is_other, 0, sizes) if is_other.any() else sizes


def _sizes(profile: ProfileColumns, key: str) -> Ints:
    """The elements of each op's shape; raises an error if a number does not fit into 64 bits."""
    shape = profile.ops.shape
    for code, dims in enumerate(shape.values):
        if dims is not None and (size := prod(max(dim, 0) for dim in dims)) > sums.LARGEST:
            for row in np.flatnonzero(shape.codes == code).tolist():
                raise too_large(profile, key, row, f"about 2^{size.bit_length() - 1}")
    return shape.sizes()


def _slots(profile: ProfileColumns) -> Ints:
    """The elements of the variables of optimizers."""
    is_slot = profile.ops.types.having(OPTIMIZER_VARIABLE)
    if not is_slot.any():
        return np.zeros(len(is_slot), np.int64)
    return np.where(is_slot, _sizes(profile, "slots"), 0)


# The numbers that are elements of variables.
_COUNTED_ELEMENTS: dict[str, Callable[[ProfileColumns], Ints]] = {
    "params": _params,
    "slots": _slots,
}


def float_ops_per_run(profile: ProfileColumns) -> FloatOps:
    """The float ops of one run of each op, and the ops for which they are unknown."""
    from tfprof.measures import flops  # noqa: PLC0415 -- the many rules load only when needed

    return flops.count(profile)


@remembered
def macs_per_run(profile: ProfileColumns) -> Macs:
    """The multiply-accumulates of one run of each op, and the ops for which they are unknown."""
    from tfprof.measures import flops  # noqa: PLC0415 -- the many rules load only when needed

    return flops.count_macs(profile, float_ops_per_run(profile))


# The numbers of one run that are counted from shapes.
_COUNTED: dict[str, Callable[[ProfileColumns], Ints]] = {
    "float_ops": lambda profile: float_ops_per_run(profile).per_run,
    "macs": lambda profile: macs_per_run(profile).per_run,
}


# The numbers whose averages are not rounded op by op.
_IN_PARTS = frozenset({*MEASURED - TIMES, *_COUNTED})


def _over_steps(profile: ProfileColumns, key: str, chosen: Chosen) -> Ints:
    """The measured time `key` of each op: the average over the chosen steps."""
    runs, steps = run_sums(profile), _steps_or_all(profile, chosen)
    runs.require_summable(key)
    if profile.counts_whole_micros:
        return runs.averages_seen(key, steps)
    counts, order = _step_counts(profile, chosen), time.scope_order(profile)
    return averages.carried_quotients(runs.totals(key, steps), counts, order)


def _steps_or_all(profile: ProfileColumns, chosen: Chosen) -> Ints | None:
    steps = chosen_steps(profile, chosen)
    return None if len(steps) == len(profile.steps) else steps


@remembering(2)
def _step_counts(profile: ProfileColumns, chosen: Chosen) -> Ints:
    return ints(run_sums(profile).step_counts(chosen_steps(profile, chosen)))
