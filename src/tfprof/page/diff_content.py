"""The data of a diff page: two profiles compared, in sections."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any

from tfprof.comparison.compared import Compared
from tfprof.comparison.pair import Pair
from tfprof.comparison.summary import DiffSummary
from tfprof.errors import TfprofError
from tfprof.metrics import Need
from tfprof.options import VIEW_OPTIONS
from tfprof.outputs.diff_sentences import sentences
from tfprof.page import diff_timelines, diff_views, timeline, units
from tfprof.page.numbers import facts
from tfprof.page.subject import Subject
from tfprof.units import counted
from tfprof.version import __version__
from tfprof.views.registry import VIEWS

SCHEMA = "tfprof/diff-page/1"

_NO_LINES = "The code view requires the code lines that created the ops"
# The word between the files of both sides.
_BETWEEN = "vs"
# Options that the page has controls for, and those about what a command prints.
_OF_PAGE = frozenset(
    ("max_depth", "order_by", "select", "output", "dump_to_file", "viz", "dialect")
)


def content(compared: Compared) -> dict[str, Any]:
    """All sections of a diff page; `static/diff_types.d.ts` describes them.

    The page has all views and numbers. Options that choose or count rows apply to them.
    """
    pair, options = compared.view.pair, compared.view.options
    numbers = diff_views.compared_numbers(pair)
    missing: dict[str, str] = {}
    rows = {}
    for kind in VIEWS:
        try:
            if kind == "code":
                for side in (pair.base, pair.new):
                    side.require(Need.CODE, _NO_LINES)
            rows[kind] = diff_views.build_rows(pair, kind, numbers, options)
        except TfprofError as error:
            missing[kind] = str(error)
    return {
        "schema": SCHEMA,
        "version": __version__,
        "title": title(compared),
        "words": _command_words(compared),
        "sides": [
            {"name": side.name, "facts": facts(side.profile)} for side in _subjects(compared)
        ],
        "notes": list(compared.notes),
        "sentences": sentences(compared.summary),
        "totals": list(_totals(compared.summary)),
        "metrics": diff_views.metrics(numbers),
        "views": {kind: diff_views.section(one, numbers) for kind, one in rows.items()},
        "timelines": _timelines(pair, rows, missing),
        "missing": missing,
    }


def title(compared: Compared) -> str:
    """The names of both sides."""
    return " → ".join(side.name for side in _subjects(compared))


def _subjects(compared: Compared) -> tuple[Subject, Subject]:
    pair = compared.view.pair
    return Subject(pair.base, words=compared.base), Subject(pair.new, words=compared.new)


def _command_words(compared: Compared) -> str:
    """The words that ask the same question, quoted for a shell; empty if files are unknown."""
    if not compared.base or not compared.new:
        return ""
    is_short = len(compared.base) == len(compared.new) == 1
    words = [*compared.base, *([] if is_short else [_BETWEEN]), *compared.new]
    options = compared.view.options
    for name, option in VIEW_OPTIONS.items():
        if name not in _OF_PAGE and (value := getattr(options, name)) != option.default:
            words += [f"-{name}", option.text(value)]
    return shlex.join(words)


def _totals(summary: DiffSummary) -> Iterator[dict[str, Any]]:
    """The numbers of the whole, before and after; the wall time of a step is a median."""
    if summary.step is not None:
        step = summary.step
        yield {
            "label": "Step time",
            "unit": units.NANOS,
            "before": float(step.before[0]),
            "after": float(step.after[0]),
            "detail": _steps(summary.steps),
            "times": {
                "is_conclusive": step.is_conclusive,
                "shown": bool(step.is_shown[0]),
                "low": float(step.low[0]) if step.is_conclusive else 0,
                "high": float(step.high[0]) if step.is_conclusive else 0,
            },
        }
    for total in summary.totals:
        name = total.number.label.removeprefix("# ")
        yield {
            "label": name[:1].upper() + name[1:],
            "unit": units.NAMES[total.number.unit],
            "before": total.before,
            "after": total.after,
            "detail": "",
            "times": None,
        }


def _steps(steps: tuple[int, int]) -> str:
    before, after = steps
    both = (
        f"{counted(before, 'step')} each" if before == after else f"{before:,} and {after:,} steps"
    )
    return f"median of {both}" if max(steps) > 1 else both


def _timelines(
    pair: Pair, rows: dict[str, diff_views.Rows], missing: dict[str, str]
) -> list[dict[str, Any]] | None:
    """The timelines of both sides; None if a side has none."""
    sides = [("base", pair.base), ("new", pair.new)]
    times = []
    for name, profile in sides:
        try:
            times.append(timeline.measured(profile))
        except TfprofError as error:
            missing["timeline"] = f"No timelines: the {name} profile lacks them. {error}"
            return None
    return [
        diff_timelines.section(profile, one, rows, is_new=name == "new")
        for (name, profile), one in zip(sides, times, strict=True)
    ]
