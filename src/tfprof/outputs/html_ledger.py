"""The ledger of float operations as HTML tables, for notebooks."""

from __future__ import annotations

from collections.abc import Sequence

from tfprof.outputs.html_table import Amount, Cell, Column, Name, document, paragraph, table
from tfprof.units import format_count, format_micros
from tfprof.views.ledger import CountedKind, Ledger

_MAX_ROWS = 200


def of_ledger(ledger: Ledger, summary: Sequence[str], notes: Sequence[str]) -> str:
    """The kinds that compute, the `summary` in lines, and the kinds that are not counted."""
    left = len(ledger.entries) - _MAX_ROWS
    return document(
        _counted(ledger),
        paragraph(f"{left:,} more kinds: print(ledger) shows all.") if left > 0 else "",
        *(paragraph(line, is_quiet=False) for line in summary),
        _uncounted(ledger) if ledger.uncounted else "",
        notes=notes,
    )


def _counted(ledger: Ledger) -> str:
    phases = [
        phase
        for phase in ("forward", "backward", "optimizer", "other")
        if phase != "other" or ledger.other
    ]
    columns = [
        Column("kind"),
        *(Column(name, is_number=True) for name in ("ops", *phases)),
        Column("float operations", is_number=True, title="a multiply and an add are two"),
        Column("MACs", is_number=True, title="multiply-accumulates"),
        Column("counted as"),
    ]
    rows = [_row(ledger, entry, phases) for entry in ledger.entries[:_MAX_ROWS]]
    return table(columns, rows)


def _row(ledger: Ledger, entry: CountedKind, phases: Sequence[str]) -> list[Cell]:
    formula, _, reason = entry.rule.partition(": ")
    return [
        Name(entry.kind),
        Amount(f"{entry.ops:,}"),
        *(_count(getattr(entry, phase)) for phase in phases),
        _share(entry.float_ops, ledger.float_ops),
        _share(entry.macs, ledger.macs),
        Name(formula, f"{formula}: {reason}" if reason else formula),
    ]


def _count(number: int) -> Amount:
    return Amount(format_count(number) if number else "")


def _share(number: int, whole: int) -> Amount:
    if not number:
        return Amount("")
    # Counts of a damaged log may be negative, and add up to nothing.
    return Amount(format_count(number), number / whole if whole else None)


def _uncounted(ledger: Ledger) -> str:
    columns = [
        Column("not counted"),
        Column("ops", is_number=True),
        *([Column("time", is_number=True)] if ledger.micros else []),
        Column("reason"),
    ]
    rows: list[list[Cell]] = [
        [
            Name(one.kind or "(unknown kind)"),
            Amount(f"{one.ops:,}"),
            *(
                [Amount(format_micros(one.micros), one.micros / ledger.micros)]
                if ledger.micros
                else []
            ),
            one.reason,
        ]
        for one in ledger.uncounted[:_MAX_ROWS]
    ]
    return table(columns, rows)
