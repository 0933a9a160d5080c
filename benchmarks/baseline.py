"""What tfprof took when it was last found good, and what it takes now beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

TOLERANCE = 0.10  # of what the baseline says; two runs of the same sources differed by up to 1.3 %
SLACK_PER_OP = 20.0  # instructions, within which a count that hardly grows may vary


@dataclass(frozen=True)
class Count:
    """Instructions of one piece of work: in all, and for each further op of the model."""

    whole: float
    per_op: float | None = None


@dataclass(frozen=True)
class Baseline:
    """Counts, and the surroundings they depend on."""

    surroundings: dict[str, str]
    counts: Mapping[str, Count]

    @classmethod
    def read(cls, path: Path) -> Self:
        content = json.loads(path.read_text("utf-8"))
        counts = {work: Count(**count) for work, count in content["counts"].items()}
        return cls(content["surroundings"], counts)

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self), indent=2) + "\n", encoding="utf-8")


@dataclass(frozen=True)
class Comparison:
    """A report to print, and whether anything has clearly grown."""

    report: str
    has_grown: bool


def compare(held: Mapping[str, Count], now: Mapping[str, Count]) -> Comparison:
    """Each count beside that of the baseline."""
    lines = [f"{'':24}{'instructions':>24}{'':9}{'per op':>20}"]
    grown, shrunk, unknown = [], [], sorted(held.keys() ^ now.keys())
    for work in (work for work in now if work in held):
        changes = (
            _change(held[work].whole, now[work].whole),
            _change(held[work].per_op, now[work].per_op, SLACK_PER_OP),
        )
        grown += [work] if max(changes) > TOLERANCE else []
        shrunk += [work] if min(changes) < -TOLERANCE else []
        lines.append(_line(work, held[work], now[work], changes))
    lines.append("")
    if grown:
        lines.append(
            f"Takes over {TOLERANCE:.0%} more than the baseline: {', '.join(grown)}. "
            "If that is as it should be: make bench-baseline, and commit benchmarks/baseline.json."
        )
    if unknown:
        lines.append(
            f"Only on one side: {', '.join(unknown)}. Take a new one: make bench-baseline."
        )
    if shrunk:
        lines.append(f"Takes less: {', '.join(shrunk)}. Hold on to it: make bench-baseline.")
    if not grown and not unknown:
        lines.append("Nothing takes clearly more than the baseline.")
    return Comparison("\n".join(lines), bool(grown or unknown))


def _change(held: float | None, now: float | None, slack: float = 0.0) -> float:
    """By what part a count has grown; within `slack`, not at all."""
    if held is None or now is None or abs(now - held) <= slack:
        return 0.0
    return now / held - 1 if held > 0 else float("inf")


def _line(work: str, held: Count, now: Count, changes: tuple[float, float]) -> str:
    whole = f"{work:24}{_millions(held.whole):>11} → {_millions(now.whole):>10}{changes[0]:>+8.1%} "
    if held.per_op is None or now.per_op is None:
        return whole.rstrip()
    return f"{whole}{held.per_op:>9,.0f} → {now.per_op:>8,.0f}{changes[1]:>+8.1%}"


def _millions(instructions: float) -> str:
    return f"{instructions / 1e6:,.1f} M"
