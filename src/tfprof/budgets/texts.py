"""The cells of a verdict as text, which all outputs share."""

from __future__ import annotations

from fractions import Fraction

from tfprof.budgets.amounts import Quantity, natural, told_apart
from tfprof.budgets.check import Check
from tfprof.budgets.showing import command_line
from tfprof.budgets.verdict import Status, Verdict

UNKNOWN = "unknown"


def place_of(verdict: Verdict) -> str:
    """What the number is measured of: `model`, or a part and the line that created it."""
    place = str(verdict.budget.place)
    return f"{place} ({verdict.line})" if verdict.line else place


def measured_of(verdict: Verdict) -> str:
    """The measured number."""
    if verdict.measured is None:
        return UNKNOWN
    if verdict.limit is None:
        return natural(verdict.measured, verdict.budget.metric.quantity)
    return told_apart(verdict.measured, verdict.limit)


def budget_of(verdict: Verdict) -> str:
    """The budget, with the number of the base if it is relative to one."""
    budget = verdict.budget
    if verdict.base is None:
        return budget.text
    return f"{budget.text} ({natural(verdict.base, budget.metric.quantity)})"


def difference_of(verdict: Verdict) -> str:
    """By how much the number differs from the budget, or from the base if it is relative."""
    if verdict.measured is None or verdict.limit is None:
        return ""
    quantity = verdict.budget.metric.quantity
    if verdict.base is not None:
        change = verdict.measured - verdict.base
        text = f"{_signed(change, quantity)}{_share(change, verdict.base, sign=True)}"
        if verdict.interval is not None:
            low, high = (_percent(end, verdict.base, sign=True) for end in verdict.interval)
            text += f", 95 % interval {low} to {high}"
        return f"{text} from the base"
    excess = verdict.measured - verdict.limit.value
    if not excess:
        return "equal"
    if verdict.status is Status.MET and len(verdict.budget.bounds) > 1:
        return "within"
    suffix = verdict.limit.style.suffix
    side = "above" if excess > 0 else "below"
    return (
        f"{natural(abs(excess), quantity, suffix)}{_share(abs(excess), verdict.limit.value)} {side}"
    )


def command_of(verdict: Verdict, check: Check) -> str:
    """The command that shows more."""
    return command_line(verdict.command, check.words, check.base_words)


def sentence_of(verdict: Verdict, check: Check) -> str:
    """A verdict on one line."""
    what = f"{verdict.budget.metric.key} of {place_of(verdict)}"
    facts = [
        f"{verdict.status}: {what}: {measured_of(verdict)}",
        f"budget {budget_of(verdict)}",
        *filter(None, [difference_of(verdict)]),
    ]
    remark = f" {verdict.remark}" if verdict.remark else ""
    return f"{', '.join(facts)}.{remark} See: {command_of(verdict, check)}"


def _signed(value: Fraction, quantity: Quantity) -> str:
    sign = "-" if value < 0 else "+"
    return f"{sign}{natural(abs(value), quantity)}"


def _share(part: Fraction, whole: Fraction, *, sign: bool = False) -> str:
    return f" ({_percent(part, whole, sign=sign)})" if whole else ""


def _percent(part: Fraction, whole: Fraction, *, sign: bool = False) -> str:
    share = float(100 * part / whole) if whole else 0.0
    if 0 < abs(share) < 0.01:
        return f"{'-' if share < 0 else '+' if sign else ''}<0.01 %"
    return f"{share:+,.2f} %" if sign else f"{share:,.2f} %"
