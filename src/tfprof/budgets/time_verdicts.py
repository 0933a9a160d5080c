"""Judges changes of times, which vary from step to step and from run to run."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from tfprof.budgets.changes import Change, Times, compare
from tfprof.budgets.measuring import Measured, MissingNumberError
from tfprof.budgets.parts import Part
from tfprof.budgets.verdict import Status, Verdict
from tfprof.units import counted

# With this many steps the interval of a median is usually a few percent wide.
_ENOUGH_STEPS = 20

_DISAGREE = "the recordings do not agree, so this may be chance; record more of each, in turns."
_VARY = "the steps vary so much that this may be chance; record more steps of each."


def judge_time(
    verdict: Verdict, measured: Measured, part: Part, base: Measured, base_part: Part
) -> Verdict:
    """Compare the time of a part with that in the base.

    A budget is not met only if the recordings show a change, so that chance does not fail a check.
    """
    metric, bound = verdict.budget.metric, verdict.budget.most
    assert bound is not None  # noqa: S101 -- a time has an upper limit
    after = measured.step_times(metric, part)
    try:
        before = base.step_times(metric, base_part)
    except MissingNumberError as error:
        raise MissingNumberError(f"in the base, {error}") from None
    change = compare(before, after)
    if not change.before:
        raise MissingNumberError("in the base, it takes no time in most steps.")
    limit = verdict.limit_of(bound, change.before)
    found = replace(verdict, measured=change.after, base=change.before, limit=limit)
    if not change.is_conclusive:
        return replace(found, remark=_too_few(before, after))
    found = replace(found, interval=(change.low, change.high))
    allowed = limit.value - change.before
    if change.amount <= allowed:
        found = replace(found, status=Status.MET, remark=_unseen(change, allowed))
    elif exceeds(before, after, min(allowed, Fraction(0))):
        found = replace(found, status=Status.NOT_MET)
    else:
        reason = _VARY if before.runs == after.runs == 1 else _DISAGREE
        found = replace(found, status=Status.INCONCLUSIVE, remark=reason)
    return replace(found, remark=" ".join(filter(None, [found.remark, _hosts(before, after)])))


def exceeds(before: Times, after: Times, least: Fraction | int) -> bool:
    """Whether the recordings show a change that is larger than `least` nanoseconds."""
    change = compare(before.longer(float(least)), after)
    return change.is_certain and min(change.low, change.closest) > 0


def _too_few(before: Times, after: Times) -> str:
    steps = counted(min(len(before.nanos), len(after.nanos)), "step")
    return (
        f"only {steps} on one side, so nothing can be concluded; record at least {_ENOUGH_STEPS} "
        "steps of each."
    )


def _unseen(change: Change, allowed: Fraction) -> str:
    """The change that is not ruled out, if it would not meet the budget."""
    if change.high <= allowed:
        return ""
    share = float(100 * change.high / change.before)
    return f"the steps do not rule out {share:+,.1f} %; record more steps to be sure."


def _hosts(before: Times, after: Times) -> str:
    """A warning if both sides were recorded on different machines."""
    if not before.hosts or not after.hosts or before.hosts & after.hosts:
        return ""
    old, new = min(before.hosts), min(after.hosts)
    return f"the base was recorded on another host ({old}, not {new}): machines differ in speed."
