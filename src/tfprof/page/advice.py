"""The section `advice`: findings with their evidence, largest gain first."""

from __future__ import annotations

import shlex
from typing import Any

from tfprof.advisor import registry
from tfprof.advisor.finding import EvidenceColumn, Finding, Gain
from tfprof.advisor.registry import Report, Reports
from tfprof.model.clock import NANOS_PER_MICRO
from tfprof.model.profile import ProfileColumns
from tfprof.page.units import NAMES, formatted
from tfprof.units import Unit, format_percent

# The view that has a row for the texts of a column of evidence.
_VIEWS = {"kind": "op", "op": "scope", "scope": "scope", "line": "code"}


def section(profile: ProfileColumns, words: str) -> dict[str, Any]:
    """The findings of all checkers; `words` are those of a command that load the profile."""
    reports = registry.advise(profile)
    findings = [(report, finding) for report in reports.reports for finding in report.findings]
    findings.sort(key=lambda pair: _share(pair[1]), reverse=True)
    return {
        "findings": [_finding(report, finding, words) for report, finding in findings],
        "quiet": _quiet(reports),
        "notes": list(reports.notes),
    }


def _share(finding: Finding) -> float:
    """The largest possible gain as a share of the whole; negative if it is unknown."""
    return -1.0 if finding.gain is None else finding.gain.share


def _quiet(reports: Reports) -> list[dict[str, str]]:
    """The checkers that had all they need and found nothing."""
    summaries = registry.summaries()
    failed = {name for note in reports.notes for name in note.partition(":")[0].split(", ")}
    return [
        {"checker": report.checker, "summary": summaries[report.checker]}
        for report in reports.reports
        if not report.findings and report.checker not in failed
    ]


def _finding(report: Report, finding: Finding, words: str) -> dict[str, Any]:
    return {
        "checker": report.checker,
        "sentence": finding.sentence,
        "gain": None if finding.gain is None else _gain(finding.gain),
        "evidence": _evidence(finding),
        "ops": list(finding.ops),
        "command": _command(finding, words),
    }


def _gain(gain: Gain) -> dict[str, Any]:
    unit = NAMES[gain.unit]
    value, whole = (_amount(number, gain.unit) for number in (gain.amount, gain.of))
    share = format_percent(gain.amount, gain.of)
    text = f"at most {formatted(value, unit)} of {formatted(whole, unit)} {gain.what} ({share})"
    return {"text": text, "share": gain.share, "value": value, "unit": unit}


def _evidence(finding: Finding) -> dict[str, Any]:
    """The evidence without numbers that tell nothing; times are in nanoseconds."""
    columns, rows = finding.evidence.columns, finding.evidence.rows
    numbers = [tuple(row[place] for row in rows) for place in range(len(columns))]
    shown = [
        place
        for place, column in enumerate(columns)
        # A column of zeros, or one that a later column repeats.
        if column.unit is None
        or (any(numbers[place]) and numbers[place] not in numbers[place + 1 :])
    ]
    return {
        "columns": [_column(columns[place]) for place in shown],
        "rows": [[_amount(row[place], columns[place].unit) for place in shown] for row in rows],
    }


def _column(column: EvidenceColumn) -> dict[str, Any]:
    return {
        "heading": column.heading,
        "unit": None if column.unit is None else NAMES[column.unit],
        "view": _VIEWS.get(column.heading),
    }


def _amount(number: Any, unit: Unit | None) -> Any:
    return number * NANOS_PER_MICRO if unit is Unit.MICROS else number


def _command(finding: Finding, words: str) -> str:
    if not finding.command or not words:
        return ""
    view, *options = finding.command
    return f"tfprof {view} {words} {shlex.join(options)}".rstrip()
