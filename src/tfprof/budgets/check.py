"""Checks budgets: a verdict on each, and what a reader should know."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tfprof.api import Profile
from tfprof.budgets.budget import Budget
from tfprof.budgets.measuring import Measured
from tfprof.budgets.verdict import Status, Verdict
from tfprof.budgets.verdicts import judge_all
from tfprof.comparison.times import uncertainty
from tfprof.measures.repetitions import runs_in
from tfprof.measures.warm_up import notes as warm_up_notes
from tfprof.metrics import Need
from tfprof.units import counted


@dataclass(frozen=True, slots=True)
class Check:
    """The verdicts on the budgets of a profile."""

    verdicts: tuple[Verdict, ...]
    words: tuple[str, ...] = ()  # of a command that load the files
    base_words: tuple[str, ...] = ()
    left_out: int = 0  # budgets that were not checked
    notes: tuple[str, ...] = ()

    @property
    def is_met(self) -> bool:
        """Whether no budget fails."""
        return not any(verdict.is_failure for verdict in self.verdicts)

    def count(self, *statuses: Status) -> int:
        """How many verdicts have one of these statuses."""
        return sum(verdict.status in statuses for verdict in self.verdicts)

    @property
    def summary(self) -> str:
        """The result in a sentence."""
        whole, met = len(self.verdicts), self.count(Status.MET)
        others = f"; {counted(self.left_out, 'other')} not checked" if self.left_out else ""
        if met == whole:
            return f"All {counted(whole, 'budget')} met{others}."
        parts = [
            f"{self.count(status):,} {status}"
            for status in (Status.NOT_MET, Status.MISSING, Status.INCONCLUSIVE)
            if self.count(status)
        ]
        return f"{met:,} of {counted(whole, 'budget')} met, {', '.join(parts)}{others}."


def check(
    profile: Profile,
    budgets: Sequence[Budget],
    base: Profile | None = None,
    *,
    left_out: int = 0,
) -> Check:
    """Check the budgets of a profile; relative ones are compared with `base`."""
    measured = Measured(profile)
    found = judge_all(budgets, measured, None if base is None else Measured(base))
    noted: list[str] = [note for budget in budgets for note in measured.notes(budget.metric)]
    if base is not None and any(verdict.interval for verdict in found):
        noted += uncertainty((runs_in(base.columns), runs_in(profile.columns)))
    if any(budget.metric.needs is Need.RUNS for budget in budgets):
        sides = {"": profile} if base is None else {"": profile, "base: ": base}
        noted += [
            f"{side}{note}" for side, one in sides.items() for note in warm_up_notes(one.columns)
        ]
    return Check(
        found,
        words=profile.words,
        base_words=() if base is None else base.words,
        left_out=left_out,
        notes=tuple(dict.fromkeys(noted)),
    )
