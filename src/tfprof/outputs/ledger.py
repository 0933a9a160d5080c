"""The ledger of float operations as text and as plain values."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

from tfprof.errors import nearest, printable
from tfprof.outputs import schemas
from tfprof.outputs.alignment import aligned
from tfprof.outputs.frames import data_frame
from tfprof.units import format_count, format_micros, format_percent
from tfprof.views.ledger import CountedKind, Ledger, UncountedKind

if TYPE_CHECKING:
    import pandas as pd

_DOC = (
    "Float operations per step, or per run of each op if no step was recorded.\n"
    "A multiply and an add count as two; a root, an exponential or a comparison as one.\n"
    "MACs are the multiply-accumulates of products and convolutions.\n"
)
_MAX_IDLE_KINDS = 5
_PHASES = ("forward", "backward", "optimizer", "other")


class FloatOpsLedger:
    """Float operations by kind of op, to print, iterate or convert.

    `ledger` also holds the totals and the ops that were not counted.
    """

    def __init__(self, ledger: Ledger, notes: Sequence[str] = ()) -> None:
        self.ledger = ledger
        self.notes = tuple(notes)

    @property
    def float_ops(self) -> int:
        """The float operations of all counted ops."""
        return self.ledger.float_ops

    @property
    def macs(self) -> int:
        """The multiply-accumulates of all counted ops."""
        return self.ledger.macs

    @property
    def uncounted(self) -> tuple[UncountedKind, ...]:
        """The kinds of ops that are not counted, and why; most time first."""
        return self.ledger.uncounted

    @property
    def report(self) -> str:
        """The ledger as text."""
        return "".join(f"{line}\n" for line in _lines(self.ledger))

    def to_dict(self) -> dict[str, Any]:
        """The whole ledger as plain values."""
        ledger = self.ledger
        return {
            "schema": schemas.name_of("ledger"),
            "float_ops": ledger.float_ops,
            **{phase: getattr(ledger, phase) for phase in _PHASES},
            "macs": ledger.macs,
            **{f"{phase}_macs": getattr(ledger, f"{phase}_macs") for phase in _PHASES},
            "ops_without_macs": ledger.ops_without_macs,
            "kinds": [
                asdict(entry) | {"float_ops": entry.float_ops, "macs": entry.macs}
                for entry in ledger.entries
            ],
            "no_arithmetic": {"kinds": dict(ledger.idle_kinds), "micros": ledger.idle_micros},
            "not_counted": {
                "ops": ledger.uncounted_ops,
                "micros": ledger.uncounted_micros,
                "kinds": [asdict(one) for one in ledger.uncounted],
            },
            "ops": ledger.ops,
            "micros": ledger.micros,
            "notes": list(self.notes),
        }

    def to_dataframe(self) -> pd.DataFrame:
        """One row per kind of op: float operations and MACs by phase, total and share."""
        columns = [field.name for field in fields(CountedKind)]
        return data_frame(map(self._row, self.ledger.entries), columns)

    def _row(self, entry: CountedKind) -> dict[str, Any]:
        whole, macs = self.ledger.float_ops, self.ledger.macs
        return asdict(entry) | {
            "float_ops": entry.float_ops,
            "share_float_ops": entry.float_ops / whole if whole else 0.0,
            "macs": entry.macs,
            "share_macs": entry.macs / macs if macs else 0.0,
        }

    def to_json(self) -> str:
        """`to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=1) + "\n"

    def __iter__(self) -> Iterator[CountedKind]:
        return iter(self.ledger.entries)

    def __len__(self) -> int:
        return len(self.ledger.entries)

    def __getitem__(self, kind: str) -> CountedKind:
        """The entry of one kind of op."""
        for entry in self:
            if entry.kind == kind:
                return entry
        close = nearest(kind, [entry.kind for entry in self], most=3)
        raise KeyError(f"no op of kind {kind!r} has counted float operations. {close}")

    def __str__(self) -> str:
        return self.report

    def _repr_html_(self) -> str:
        from tfprof.outputs import html_ledger  # noqa: PLC0415 -- only notebooks need it

        return html_ledger.of_ledger(self.ledger, list(_summary(self.ledger)), self.notes)

    def __repr__(self) -> str:
        return f"<tfprof float operations: {self.float_ops:,}, kinds of ops: {len(self):,}>"


def _lines(ledger: Ledger) -> Iterator[str]:
    yield from ("", "Doc:", _DOC)
    phases = _phases(ledger)
    headings = ("kind", "ops", *phases, "total", "share", "MACs", "counted as")
    yield from _table([headings, *(_row(ledger, entry, phases) for entry in ledger.entries)])
    yield from ("", *_summary(ledger))
    yield from _uncounted_rows(ledger)


def _row(ledger: Ledger, entry: CountedKind, phases: Sequence[str]) -> tuple[str, ...]:
    numbers = (*(getattr(entry, phase) for phase in phases), entry.float_ops)
    share = format_percent(entry.float_ops, ledger.float_ops)
    # A rule gives its formula, then the reason; the reason is too long for a table.
    formula = printable(entry.rule).partition(": ")[0].partition(". ")[0].removesuffix(".")
    return (
        printable(entry.kind),
        f"{entry.ops:,}",
        *(format_count(number) if number else "" for number in numbers),
        share,
        format_count(entry.macs) if entry.macs else "",
        f"{formula}{_logged(entry)}",
    )


def _logged(entry: CountedKind) -> str:
    return f" (recorded: {entry.logged_ops:,} ops)" if 0 < entry.logged_ops < entry.ops else ""


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """The rows aligned: the first and the last column to the left, numbers to the right."""
    return aligned(rows, left=(0, len(rows[0]) - 1) if rows else ())


def _phases(ledger: Ledger) -> list[str]:
    """The phases to show."""
    return [phase for phase in _PHASES if phase != "other" or ledger.other]


def _summary(ledger: Ledger) -> Iterator[str]:
    """The totals, and how many ops do no arithmetic or are not counted."""
    yield _sums(ledger)
    yield from _macs(ledger, _phases(ledger))
    yield _idle(ledger)
    missing = _share(ledger, ledger.uncounted_ops, ledger.uncounted_micros)
    yield f"Not counted: {missing if ledger.uncounted else 'nothing'}."


def _sums(ledger: Ledger) -> str:
    parts = f"{ledger.forward:,} forward, {ledger.backward:,} backward"
    other = f", {ledger.other:,} other" if ledger.other else ""
    return f"Total: {ledger.float_ops:,} ({parts}, {ledger.optimizer:,} optimizer{other})."


def _macs(ledger: Ledger, phases: Sequence[str]) -> Iterator[str]:
    """The total of MACs by phase, and how many ops it lacks."""
    parts = ", ".join(f"{getattr(ledger, f'{phase}_macs'):,} {phase}" for phase in phases)
    yield f"MACs: {ledger.macs:,} ({parts})."
    if count := ledger.ops_without_macs:
        yield (
            f"MACs unknown: {count:,} op{'' if count == 1 else 's'} with recorded float operations "
            "but without known shapes, or with a rule of yours that does not state MACs."
        )


def _idle(ledger: Ledger) -> str:
    ops = sum(count for _, count in ledger.idle_kinds)
    shown = ", ".join(f"{printable(kind)} {n:,}" for kind, n in ledger.idle_kinds[:_MAX_IDLE_KINDS])
    more = ", …" if len(ledger.idle_kinds) > _MAX_IDLE_KINDS else ""
    kinds = f" ({shown}{more})" if shown else ""
    return f"No arithmetic: {_share(ledger, ops, ledger.idle_micros)}{kinds}."


def _uncounted_rows(ledger: Ledger) -> Iterator[str]:
    return _table(
        [
            (
                f"  {printable(one.kind) or '(unknown kind)'}",
                f"{one.ops:,}",
                *([format_micros(one.micros)] if ledger.micros else []),
                one.reason,
            )
            for one in ledger.uncounted
        ]
    )


def _share(ledger: Ledger, ops: int, micros: int) -> str:
    """`31 of 200 ops (15.50%)`, followed by their share of the time if times are known."""
    shown = f"{ops:,} of {ledger.ops:,} ops ({format_percent(ops, ledger.ops)})"
    time = f", {format_percent(micros, ledger.micros)} of the time" if ledger.micros else ""
    return shown + time
