"""A verdict on a budget."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from tfprof.budgets.amounts import Amount, natural_style
from tfprof.budgets.budget import Bound, Budget


class Status(StrEnum):
    """The result of comparing a number with its budget."""

    MET = "met"
    NOT_MET = "not met"
    MISSING = "missing"  # the files do not contain the number, or only in part
    INCONCLUSIVE = "inconclusive"  # a time seems to exceed its budget, but that may be chance


FAILURES = (Status.NOT_MET, Status.MISSING)


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a budget is met, by how much, and what shows more."""

    budget: Budget
    status: Status
    command: tuple[str, ...]  # a command of tfprof and its options, without files
    measured: Fraction | None = None
    limit: Amount | None = None  # the bound that was compared: the one not met, or the upper one
    base: Fraction | None = None
    interval: tuple[Fraction, Fraction] | None = None  # of the change of a time
    line: str = ""  # the line of code that created most of the part
    remark: str = ""  # what to do, or to know

    @property
    def is_failure(self) -> bool:
        """Whether the check fails because of it."""
        return self.status in FAILURES

    @property
    def is_known(self) -> bool:
        """Whether the files contain the number, and all of it."""
        return self.status is not Status.MISSING

    @property
    def excess(self) -> Fraction | None:
        """How far the number is above the limit; negative if it is below."""
        if self.measured is None or self.limit is None:
            return None
        return self.measured - self.limit.value

    def limit_of(self, bound: Bound, base: Fraction | None) -> Amount:
        """The amount that a bound of its budget stands for."""
        if bound.amount is not None and not bound.is_relative:
            return bound.amount
        quantity, value = self.budget.metric.quantity, bound.of(base or Fraction(0))
        return Amount(value, quantity, natural_style(value, quantity))
