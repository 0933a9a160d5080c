"""Compares instruction counts with the accepted baseline."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

TOLERANCE = 0.10  # relative to the baseline; two runs of the same code differed by up to 1.3 %
SLACK_PER_OP = 20.0  # instructions by which any count per op may vary


@dataclass(frozen=True)
class Count:
    """Instructions of one task: in total, and for each additional op of the model."""

    whole: float
    per_op: float | None = None


@dataclass(frozen=True)
class Baseline:
    """The counts, and the environment that they depend on."""

    environment: dict[str, str]
    counts: Mapping[str, Count]

    @classmethod
    def read(cls, path: Path) -> Self:
        content = json.loads(path.read_text("utf-8"))
        counts = {task: Count(**count) for task, count in content["counts"].items()}
        return cls(content["environment"], counts)

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self), indent=2) + "\n", encoding="utf-8")


@dataclass(frozen=True)
class Comparison:
    """A report to print, and whether any count has grown beyond the tolerance."""

    report: str
    has_grown: bool


def compare(held: Mapping[str, Count], now: Mapping[str, Count]) -> Comparison:
    """Compare each count `now` with the baseline's, `held`."""
    lines = [f"{'':24}{'instructions':>24}{'':9}{'per op':>20}"]
    grown, shrunk, unknown = [], [], sorted(held.keys() ^ now.keys())
    for task in (task for task in now if task in held):
        changes = (
            _change(held[task].whole, now[task].whole),
            _change(held[task].per_op, now[task].per_op, SLACK_PER_OP),
        )
        grown += [task] if max(changes) > TOLERANCE else []
        shrunk += [task] if min(changes) < -TOLERANCE else []
        lines.append(_line(task, held[task], now[task], changes))
    lines.append("")
    if grown:
        lines.append(
            f"Over {TOLERANCE:.0%} more instructions than the baseline: {', '.join(grown)}. "
            "If this is intended, run make bench-baseline and commit benchmarks/baseline.json."
        )
    if unknown:
        lines.append(
            f"Not in both: {', '.join(unknown)}. Write a new baseline: make bench-baseline."
        )
    if shrunk:
        lines.append(f"Fewer instructions: {', '.join(shrunk)}. To keep it, make bench-baseline.")
    if not grown and not unknown:
        lines.append("All counts are within the tolerance of the baseline.")
    return Comparison("\n".join(lines), bool(grown or unknown))


def _change(held: float | None, now: float | None, slack: float = 0.0) -> float:
    """The relative growth of a count; 0 if the difference is within `slack`."""
    if held is None or now is None or abs(now - held) <= slack:
        return 0.0
    return now / held - 1 if held > 0 else float("inf")


def _line(task: str, held: Count, now: Count, changes: tuple[float, float]) -> str:
    whole = f"{task:24}{_millions(held.whole):>11} → {_millions(now.whole):>10}{changes[0]:>+8.1%} "
    if held.per_op is None or now.per_op is None:
        return whole.rstrip()
    return f"{whole}{held.per_op:>9,.0f} → {now.per_op:>8,.0f}{changes[1]:>+8.1%}"


def _millions(instructions: float) -> str:
    return f"{instructions / 1e6:,.1f} M"
