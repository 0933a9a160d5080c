"""Judges whether budgets are met."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from tfprof.budgets.budget import Budget, Place
from tfprof.budgets.measuring import Measured, MissingNumberError
from tfprof.budgets.parts import Part
from tfprof.budgets.showing import command_for
from tfprof.budgets.time_verdicts import judge_time
from tfprof.budgets.verdict import Status, Verdict
from tfprof.errors import InputError, OptionError
from tfprof.units import counted

# A result that is this much below its budget suggests to lower the budget.
_MUCH_BETTER = Fraction(9, 10)
_UPDATE = "`tfprof check FILES… --update` lowers the budget to this"


def judge_all(
    budgets: Sequence[Budget], measured: Measured, base: Measured | None
) -> tuple[Verdict, ...]:
    """A verdict on each budget; raises an error if one cannot be judged because of its text."""
    for budget in budgets:
        if budget.is_relative and base is None:
            raise OptionError(
                f"{budget.source}: {budget.key} is relative to a base ({budget.text}): name its "
                "files with --base, or choose other budgets with --only."
            )
    accepted = {budget.place for budget in budgets if budget.metric.key == "uncounted_ops"}
    return tuple(_judge(budget, measured, base, accepted=accepted) for budget in budgets)


def _judge(
    budget: Budget, measured: Measured, base: Measured | None, *, accepted: set[Place]
) -> Verdict:
    try:
        part = measured.parts.find(budget.place)
    except ValueError as error:
        raise InputError(budget.source, f"{budget.key}: {error}") from None
    verdict = Verdict(budget, Status.MISSING, command_for(budget, part))
    try:
        verdict = replace(verdict, line=part.line(budget.metric.weight))
        before = None
        if budget.is_relative and base is not None:
            before = base, _base_part(budget, base)
        if budget.metric.is_time and before is not None:
            return judge_time(verdict, measured, part, *before)
        found = _judge_number(verdict, measured, part, before)
    except MissingNumberError as error:
        return replace(verdict, remark=str(error))
    if budget.metric.counts_work and budget.place not in accepted:
        return _require_counted(found, measured, part)
    return found


def _base_part(budget: Budget, base: Measured) -> Part:
    try:
        return base.parts.find(budget.place)
    except ValueError:
        raise MissingNumberError(
            f"the base has no {budget.place.kind} `{budget.place.name}`; give it an absolute "
            "budget, or none until the base has it."
        ) from None


def _judge_number(
    verdict: Verdict, measured: Measured, part: Part, base: tuple[Measured, Part] | None
) -> Verdict:
    budget = verdict.budget
    is_zero_fine = budget.permits_zero
    amount = measured.amount(budget.metric, part, permits_zero=is_zero_fine)
    before = None
    if base is not None:
        try:
            before = base[0].amount(budget.metric, base[1], permits_zero=is_zero_fine)
        except MissingNumberError as error:
            raise MissingNumberError(f"in the base, {error}") from None
    found = replace(verdict, measured=amount, base=before)
    for bound, sign in ((budget.most, 1), (budget.least, -1)):
        if bound is not None and sign * (amount - bound.of(before or Fraction(0))) > 0:
            return replace(found, status=Status.NOT_MET, limit=verdict.limit_of(bound, before))
    bound = budget.most or budget.least
    assert bound is not None  # noqa: S101 -- a budget has a bound
    found = replace(found, status=Status.MET, limit=verdict.limit_of(bound, before))
    if _is_much_better(found):
        return replace(found, remark=f"{_UPDATE}.")
    return found


def _is_much_better(verdict: Verdict) -> bool:
    budget, limit = verdict.budget, verdict.limit
    if limit is None or budget.most is None or budget.least is not None or budget.is_relative:
        return False
    return verdict.measured is not None and verdict.measured < _MUCH_BETTER * limit.value


def _require_counted(verdict: Verdict, measured: Measured, part: Part) -> Verdict:
    """A number to which some ops do not contribute is only a lower bound."""
    uncounted = int(measured.uncounted(part, verdict.budget.metric).sum())
    if not uncounted or verdict.status is Status.NOT_MET:
        return verdict
    ops = counted(uncounted, "op is", "ops are")
    return replace(
        verdict,
        status=Status.MISSING,
        remark=f"{ops} not counted, so the number is too small (`tfprof flops` lists them); to "
        f"accept that, set `uncounted_ops = {uncounted}` in the same table.",
    )
