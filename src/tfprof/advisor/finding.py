"""The findings of a checker: a sentence, its evidence, the ops it concerns, and the gain."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from tfprof.units import Unit, format_percent

Cell: TypeAlias = str | int

# Enough for a glance; the command of a finding shows the rest.
MOST_ROWS = 5

_KEY_ENDS = {Unit.MICROS: "_micros", Unit.BYTES: "_bytes", Unit.COUNT: ""}


class EvidenceColumn(NamedTuple):
    """A column of evidence: its heading, and the unit of its numbers (None for text)."""

    heading: str
    unit: Unit | None = None

    @property
    def key(self) -> str:
        """The name of the column in outputs that write numbers without units."""
        return self.heading.replace(" ", "_") + (_KEY_ENDS[self.unit] if self.unit else "")


@dataclass(frozen=True, slots=True)
class Evidence:
    """A small table that supports a finding."""

    columns: tuple[EvidenceColumn, ...]
    rows: tuple[tuple[Cell, ...], ...]

    @classmethod
    def of(cls, columns: Mapping[str, Unit | None], rows: Iterable[Sequence[Cell]]) -> Evidence:
        """The table with these rows; `columns` maps each heading to the unit of its numbers."""
        headings = tuple(EvidenceColumn(heading, unit) for heading, unit in columns.items())
        return cls(headings, tuple(tuple(row) for row in rows))

    def texts(self) -> list[list[str]]:
        """The cells as text, numbers with their units."""
        return [
            [
                str(cell) if column.unit is None else column.unit.format(int(cell))
                for column, cell in zip(self.columns, row, strict=True)
            ]
            for row in self.rows
        ]

    def to_dicts(self) -> list[dict[str, Cell]]:
        """One dictionary per row, with exact numbers."""
        keys = [column.key for column in self.columns]
        return [dict(zip(keys, row, strict=True)) for row in self.rows]


@dataclass(frozen=True, slots=True)
class Gain:
    """An upper bound on the savings from fixing the cause of a finding."""

    amount: int
    of: int  # the total
    unit: Unit
    what: str  # describes the total: `of the step`

    @property
    def share(self) -> float:
        """The amount as a share of the total, from 0 to 1."""
        return self.amount / self.of if self.of > 0 else 0.0

    def __str__(self) -> str:
        amount, whole = self.unit.format(self.amount), self.unit.format(self.of)
        return f"at most {amount} of {whole} {self.what} ({format_percent(self.amount, self.of)})"

    def to_dict(self) -> dict[str, Any]:
        """The gain as plain values."""
        return {
            "at_most": self.amount,
            "of": self.of,
            "unit": self.unit.name.lower(),
            "what": self.what,
            "share": self.share,
        }


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding of a checker.

    `ops` are the ops, kinds or lines of code that it concerns; `gain` is None if unknown.
    `command` is a view with its options, without files, that shows more. `classic` is the text of
    the original, if there is one.
    """

    sentence: str
    evidence: Evidence
    ops: tuple[str, ...] = ()
    gain: Gain | None = None
    command: tuple[str, ...] = ()
    classic: str | None = None

    def __post_init__(self) -> None:
        """Reject values that cannot be printed, since other packages may add checkers."""
        texts = (self.sentence, *self.ops, *self.command)
        if not all(isinstance(text, str) for text in texts) or not self.sentence:
            raise TypeError("a finding needs a sentence, and its ops and command must be strings")
        if not isinstance(self.evidence, Evidence):
            raise TypeError("the evidence of a finding must be an Evidence")
        if not isinstance(self.gain, Gain | None):
            raise TypeError("the gain of a finding must be a Gain or None")

    def to_dict(self) -> dict[str, Any]:
        """The finding as plain values."""
        return {
            "sentence": self.sentence,
            "evidence": self.evidence.to_dicts(),
            "ops": list(self.ops),
            "gain": None if self.gain is None else self.gain.to_dict(),
            "command": list(self.command),
        }
