"""Findings as HTML, for notebooks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from tfprof.advisor.finding import Evidence, Finding
from tfprof.advisor.registry import Report, Reports
from tfprof.outputs.advice import by_gain, command
from tfprof.outputs.html_table import (
    Amount,
    Cell,
    Column,
    Name,
    document,
    heading,
    paragraph,
    table,
)


def of_advice(reports: Reports, notes: Sequence[str]) -> str:
    """The findings of each checker that has any, largest gain first."""
    found = by_gain(reports)
    parts = [part for report in found for part in _report(report)]
    nothing = "" if found else paragraph("The checkers found nothing to improve.", is_quiet=False)
    return document(*parts, nothing, notes=notes)


def _report(report: Report) -> Iterator[str]:
    yield heading(report.checker)
    for finding in report.findings:
        yield from _finding(finding)


def _finding(finding: Finding) -> Iterator[str]:
    yield paragraph(finding.sentence, is_quiet=False)
    if finding.gain is not None:
        yield paragraph(f"Gain: {finding.gain}.", is_quiet=False)
    yield _evidence(finding.evidence)
    if finding.command:
        yield f'<p class="quiet">See: <code>{escape(command(finding))}</code></p>'


def _evidence(evidence: Evidence) -> str:
    if not evidence.rows:
        return ""
    columns = [
        Column(column.heading, is_number=column.unit is not None) for column in evidence.columns
    ]
    rows: list[list[Cell]] = [
        [Name(text) if not column.is_number else Amount(text) for column, text in pairs]
        for pairs in (zip(columns, texts, strict=True) for texts in evidence.texts())
    ]
    numbers = [place for place, column in enumerate(columns) if column.is_number]
    if numbers and len(rows) > 1:
        _add_bars(evidence, rows, numbers[-1])
    return table(columns, rows)


def _add_bars(evidence: Evidence, rows: list[list[Cell]], place: int) -> None:
    """Draw the numbers of a column as bars, which compare the rows with the largest."""
    numbers = [int(row[place]) for row in evidence.rows]
    most = max(numbers)
    if most <= 0:
        return
    for row, number in zip(rows, numbers, strict=True):
        row[place] = Amount(str(row[place][0]), number / most, has_percent=False)
