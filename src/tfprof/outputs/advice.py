"""Findings as text.

For files that the original reads, its checkers come first and print exactly what it printed. For
all others, only checkers with findings appear, the largest gain first, all in the same wording.
"""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Iterator
from dataclasses import replace

from tfprof.advisor.finding import Evidence, Finding
from tfprof.advisor.registry import Report, Reports
from tfprof.errors import printable
from tfprof.outputs.alignment import aligned
from tfprof.terminal import BOLD

_WIDTH = 80


def text(reports: Reports, *, colour: bool = False) -> str:
    """The findings under the names of their checkers."""
    lines = [
        line
        for report in _shown(reports)
        for line in _report_lines(report, is_classic=reports.is_classic, colour=colour)
    ]
    if not lines and reports.reports:
        lines = ["No findings."]
    return "".join(f"{line}\n" for line in lines)


def finding_text(finding: Finding, *, is_classic: bool = True) -> str:
    """The text of a single finding; if `is_classic`, that of the original if it has one."""
    if is_classic and finding.classic is not None:
        return finding.classic
    return "\n".join(_lines(finding))


def _shown(reports: Reports) -> list[Report]:
    """The reports to show, in order."""
    if reports.is_classic:
        return [report for report in reports.reports if report.findings or report.is_classic]
    return by_gain(reports)


def by_gain(reports: Reports) -> list[Report]:
    """The reports with findings, and the findings of each, largest gain first."""
    found = [report for report in reports.reports if report.findings]
    return [
        replace(report, findings=tuple(sorted(report.findings, key=_share, reverse=True)))
        for report in sorted(
            found, key=lambda report: max(map(_share, report.findings)), reverse=True
        )
    ]


def _share(finding: Finding) -> float:
    """The largest possible gain, as a share of the whole; negative if it is unknown."""
    return -1.0 if finding.gain is None else finding.gain.share


def command(finding: Finding) -> str:
    """The command that shows more, or nothing."""
    if not finding.command:
        return ""
    view, *options = finding.command
    return f"tfprof {view} FILES… {shlex.join(options)}".rstrip()


def _report_lines(report: Report, *, is_classic: bool, colour: bool) -> Iterator[str]:
    name = f"{report.checker}:"
    yield ""
    yield name.join(BOLD) if colour else name
    for place, finding in enumerate(report.findings):
        if place and not (is_classic and report.is_classic):
            yield ""
        yield finding_text(finding, is_classic=is_classic)


def _lines(finding: Finding) -> Iterator[str]:
    yield from textwrap.wrap(
        printable(finding.sentence), _WIDTH, break_long_words=False, break_on_hyphens=False
    )
    yield from _table(finding.evidence)
    yield f"  Gain: {'unknown' if finding.gain is None else finding.gain}"
    if finding.command:
        yield printable(f"  See:  {command(finding)}")


def _table(evidence: Evidence) -> Iterator[str]:
    """The evidence as an aligned table: texts to the left, numbers to the right."""
    cells = [[column.heading for column in evidence.columns], *evidence.texts()]
    rows = [[printable(cell) for cell in row] for row in cells]
    texts = [place for place, column in enumerate(evidence.columns) if column.unit is None]
    return (f"    {line}".rstrip() for line in aligned(rows, texts))
