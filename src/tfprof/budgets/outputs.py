"""A check as text, Markdown, JSON and JUnit XML."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from tfprof.budgets import texts
from tfprof.budgets.check import Check
from tfprof.budgets.verdict import Status, Verdict
from tfprof.errors import printable
from tfprof.outputs import schemas
from tfprof.outputs.alignment import aligned
from tfprof.terminal import BOLD

_HEADINGS = ("", "metric", "where", "measured", "budget", "difference", "see")


def text(check: Check, *, colour: bool = False) -> str:
    """A line per budget, remarks, and the result."""
    lines = list(aligned([_HEADINGS, *_rows(check)], range(len(_HEADINGS))))
    if colour:
        fails = [False, *(verdict.is_failure for verdict in check.verdicts)]
        lines = [
            line.join(BOLD) if is_failure else line
            for line, is_failure in zip(lines, fails, strict=True)
        ]
    remarks = [printable(f"{_what(verdict)}: {verdict.remark}") for verdict in _remarked(check)]
    return "".join(f"{line}\n" for line in (*lines, "", *remarks, check.summary))


def _rows(check: Check) -> Iterator[list[str]]:
    for verdict in check.verdicts:
        yield [
            printable(cell)
            for cell in (
                verdict.status,
                verdict.budget.metric.key,
                texts.place_of(verdict),
                texts.measured_of(verdict),
                texts.budget_of(verdict),
                texts.difference_of(verdict),
                texts.command_of(verdict, check),
            )
        ]


def _remarked(check: Check) -> list[Verdict]:
    return [verdict for verdict in check.verdicts if verdict.remark]


def _what(verdict: Verdict) -> str:
    return f"{verdict.budget.metric.key} of {verdict.budget.place}"


_MARKS = {
    Status.MET: "✅",
    Status.NOT_MET: "❌",
    Status.MISSING: "❌",
    Status.INCONCLUSIVE: "❔",
}
_SPECIAL = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_[]<>|~#&"})


def markdown(check: Check) -> str:
    """A Markdown table, such as for the summary of a workflow on GitHub."""
    lines = [
        f"### tfprof check: {_escaped(check.summary)}",
        "",
        "| |" + "|".join(f" {heading} " for heading in _HEADINGS[1:-1]) + "|",
        "|---" * (len(_HEADINGS) - 1) + "|",
    ]
    for verdict, row in zip(check.verdicts, _rows(check), strict=True):
        cells = [f"{_MARKS[verdict.status]} {row[0]}", *map(_escaped, row[1:-1])]
        lines.append(f"| {' | '.join(cells)} |")
    shown = [verdict for verdict in check.verdicts if verdict.remark or verdict.is_failure]
    lines += [""] * bool(shown)
    for verdict in shown:
        remark = f" {_escaped(verdict.remark)}" if verdict.remark else ""
        command = printable(texts.command_of(verdict, check))
        lines.append(f"- {_escaped(_what(verdict))}:{remark} See {_code(command)}")
    lines += ["", *(f"- Note: {_escaped(note)}" for note in check.notes)] if check.notes else []
    return "".join(f"{line}\n" for line in lines)


def _escaped(text: str) -> str:
    """Text in which Markdown and HTML mean nothing."""
    return printable(text).translate(_SPECIAL)


def _code(text: str) -> str:
    """Text as a code span, also if it contains backticks."""
    fence = "`"
    while fence in text:
        fence += "`"
    gap = " " if "`" in text else ""
    return f"{fence}{gap}{text}{gap}{fence}"


def as_dict(check: Check) -> dict[str, Any]:
    """The check as plain values."""
    return {
        "schema": schemas.name_of("check"),
        "met": check.is_met,
        "summary": check.summary,
        "budgets": [_plain(verdict, check) for verdict in check.verdicts],
        "not_checked": check.left_out,
        "notes": list(check.notes),
    }


def as_json(check: Check) -> str:
    """The same as JSON text."""
    return json.dumps(as_dict(check), indent=1) + "\n"


def _plain(verdict: Verdict, check: Check) -> dict[str, Any]:
    budget, interval = verdict.budget, verdict.interval
    limit = None if verdict.limit is None else verdict.limit.value
    unit, scale = _UNITS[budget.metric.quantity.name]
    return {
        "status": str(verdict.status),
        "metric": budget.metric.key,
        "unit": unit,
        "part": budget.place.kind,
        "name": budget.place.name or None,
        "line": verdict.line or None,
        "budget": budget.text,
        "measured": _number(verdict.measured, scale),
        "base": _number(verdict.base, scale),
        "limit": _number(limit, scale),
        "excess": _number(verdict.excess, scale),
        "interval": None if interval is None else [_number(end, scale) for end in interval],
        "remark": verdict.remark,
        "command": texts.command_of(verdict, check),
    }


# Times are microseconds, as in all JSON answers.
_UNITS = {"COUNT": ("count", 1), "BYTES": ("bytes", 1), "TIME": ("microseconds", 1000)}


def _number(value: Fraction | None, scale: int) -> int | float | None:
    if value is None:
        return None
    value /= scale
    return value.numerator if value.denominator == 1 else float(value)


_PROBLEMS = {
    Status.NOT_MET: "failure",
    Status.MISSING: "failure",
    Status.INCONCLUSIVE: "skipped",
}


def junit(check: Check) -> bytes:
    """JUnit XML: a test case per budget, which fails if the budget is not met."""
    counts = {
        "tests": len(check.verdicts),
        "failures": check.count(Status.NOT_MET, Status.MISSING),
        "errors": 0,
        "skipped": check.count(Status.INCONCLUSIVE),
    }
    facts = {name: str(count) for name, count in counts.items()} | {"time": "0"}
    suites = ET.Element("testsuites", {"name": "tfprof check", **facts})
    suite = ET.SubElement(suites, "testsuite", {"name": "tfprof check", **facts})
    for verdict in check.verdicts:
        place = printable(verdict.budget.place)
        case = ET.SubElement(
            suite,
            "testcase",
            {"classname": place, "name": verdict.budget.metric.key, "time": "0"},
        )
        line = printable(texts.sentence_of(verdict, check))
        if problem := _PROBLEMS.get(verdict.status):
            found = ET.SubElement(case, problem, {"message": line, "type": str(verdict.status)})
            found.text = line
        else:
            ET.SubElement(case, "system-out").text = line
    ET.indent(suites)
    text: str = ET.tostring(suites, "unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'.encode()
