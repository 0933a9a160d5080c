"""A budget: which number of which part of the model it limits, and how."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from tfprof.budgets.amounts import Amount
from tfprof.budgets.metrics import BudgetMetric


@dataclass(frozen=True, slots=True)
class Place:
    """The whole model, or one of its scopes or layers."""

    kind: str = "model"  # or `scope` or `layer`
    name: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.name}".rstrip()


@dataclass(frozen=True, slots=True)
class Bound:
    """One end of what a budget permits: an amount, or a change of what the base has."""

    text: str  # as it was written
    amount: Amount | None = None  # None for a percentage
    share: Fraction = Fraction(0)  # the permitted change, as a share of the base
    sign: int = 0  # of a change: 1 or -1; 0 for an absolute amount

    @property
    def is_relative(self) -> bool:
        """Whether it requires a base."""
        return self.sign != 0

    def of(self, base: Fraction) -> Fraction:
        """The amount that it stands for; `base` only matters if it is relative."""
        if self.sign == 0:
            assert self.amount is not None  # noqa: S101 -- see the fields
            return self.amount.value
        change = base * self.share if self.amount is None else self.amount.value
        return max(base + self.sign * change, Fraction(0))


@dataclass(frozen=True, slots=True)
class Budget:
    """What a number may be: at least one of both bounds is set."""

    source: str  # the file, or the function that was called
    key: str  # where it is in `source`, for messages
    place: Place
    metric: BudgetMetric
    text: str  # as people read it
    most: Bound | None = None
    least: Bound | None = None

    @property
    def bounds(self) -> tuple[Bound, ...]:
        """The bounds that are set."""
        return tuple(bound for bound in (self.most, self.least) if bound is not None)

    @property
    def is_relative(self) -> bool:
        """Whether it requires a base."""
        return any(bound.is_relative for bound in self.bounds)

    @property
    def permits_zero(self) -> bool:
        """Whether 0 is what it asks for, and not just far below it."""
        return any(bound.amount is not None and bound.amount.value == 0 for bound in self.bounds)
