"""Findings as text; classic findings appear exactly as the original printed them."""

from __future__ import annotations

import shlex
import textwrap
from collections.abc import Iterator

from tfprof.advisor.finding import Evidence, Finding
from tfprof.advisor.registry import Report, Reports
from tfprof.errors import one_line

_WIDTH = 80
_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"


def text(reports: Reports, *, colour: bool = False) -> str:
    """The findings under the names of their checkers; ours appear only with findings."""
    lines = [
        line
        for report in reports.reports
        if report.findings or report.is_classic
        for line in _report_lines(report, colour=colour)
    ]
    return "".join(f"{line}\n" for line in lines)


def finding_text(finding: Finding) -> str:
    """The text of a single finding; that of the original if it has one."""
    return finding.classic if finding.classic is not None else "\n".join(_lines(finding))


def _report_lines(report: Report, *, colour: bool) -> Iterator[str]:
    name = f"{report.checker}:"
    yield ""
    yield f"{_BOLD}{name}{_PLAIN}" if colour else name
    for place, finding in enumerate(report.findings):
        if place and not report.is_classic:
            yield ""
        yield finding_text(finding)


def _lines(finding: Finding) -> Iterator[str]:
    yield from textwrap.wrap(
        one_line(finding.sentence), _WIDTH, break_long_words=False, break_on_hyphens=False
    )
    yield from _table(finding.evidence)
    yield f"  Gain: {'unknown' if finding.gain is None else finding.gain}"
    if finding.command:
        view, *options = finding.command
        yield one_line(f"  See:  tfprof {view} FILES… {shlex.join(options)}".rstrip())


def _table(evidence: Evidence) -> Iterator[str]:
    """The evidence as an aligned table: texts to the left, numbers to the right."""
    cells = [[column.heading for column in evidence.columns], *evidence.texts()]
    rows = [[one_line(cell) for cell in row] for row in cells]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    is_text = [column.unit is None for column in evidence.columns]
    for row in rows:
        padded = [
            cell.ljust(width) if left else cell.rjust(width)
            for cell, width, left in zip(row, widths, is_text, strict=True)
        ]
        yield f"    {'  '.join(padded)}".rstrip()
