"""The data of a report: everything the page shows, in sections."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from tfprof import regex_advice
from tfprof.errors import TfprofError
from tfprof.metrics import ORDER_KEYS, Need
from tfprof.options import MemoryOptions
from tfprof.page import advice, graph, kernels, numbers, timeline, views
from tfprof.page import memory as memory_section
from tfprof.page.ops import ops
from tfprof.page.options import options
from tfprof.page.subject import Subject
from tfprof.version import __version__
from tfprof.views import ledger, memory
from tfprof.views.view import View

_T = TypeVar("_T")

SCHEMA = "tfprof/report/1"

_NO_LINES = "The code view requires the code lines that created the ops"

# The views of recorded runs.
_OF_RUNS = frozenset(("timeline", "memory", "kernels"))


def content(subject: Subject, built: Mapping[str, View] | None = None) -> dict[str, Any]:
    """All sections of a report; `static/types.d.ts` describes them.

    `built` are the views, if they are known already.
    """
    return served_content(subject, built) | graph_content(subject)


def graph_content(subject: Subject) -> dict[str, Any]:
    """The section that takes longest, and that only one view needs."""
    return {"graph": graph.section(subject.profile)}


def served_content(subject: Subject, built: Mapping[str, View] | None = None) -> dict[str, Any]:
    """All other sections."""
    profile, words = subject.profile, subject.command_words
    missing: dict[str, str] = {}
    built = views.build_views(profile) if built is None else built
    _unless_missing("code", missing, partial(profile.require, Need.CODE, _NO_LINES))
    measured = numbers.Measured(
        profile,
        words,
        ledger.build(profile),
        _unless_missing("timeline", missing, partial(timeline.measured, profile)),
        _unless_missing("memory", missing, partial(memory.build, profile, MemoryOptions())),
    )
    return {
        "schema": SCHEMA,
        "version": __version__,
        "title": subject.name,
        "words": words,
        "facts": numbers.facts(profile),
        "notes": list(subject.notes),
        "cards": numbers.cards(measured),
        "bar": numbers.bar(measured),
        "metrics": views.metrics(profile),
        "ops": ops(profile, built),
        "views": views.sections(profile, built),
        "timeline": measured.steps
        and _unless_missing(
            "timeline",
            missing,
            partial(timeline.section, profile, measured.steps, timeline.MOST_RUNS),
        ),
        "memory": measured.memory
        and _unless_missing(
            "memory", missing, partial(memory_section.section, profile, measured.memory)
        ),
        "kernels": _unless_missing("kernels", missing, partial(kernels.section, profile)),
        "advice": advice.section(profile, words),
        "missing": missing if profile.has(Need.RUNS) else _with_hints(missing),
        "options": options(),
        "order_keys": ORDER_KEYS,
        "advice_on_regexes": regex_advice.ADVICE,
    }


def _unless_missing(view: str, missing: dict[str, str], ask: Callable[[], _T]) -> _T | None:
    """The answer, or None if the files do not have it; the reason is added to `missing`."""
    try:
        return ask()
    except TfprofError as error:
        missing[view] = str(error)
        return None


def _with_hints(missing: Mapping[str, str]) -> dict[str, str]:
    """The reasons with how to record a run, for files that have none."""
    return {
        view: f"{reason} “tfprof run PROGRAM” records a program." if view in _OF_RUNS else reason
        for view, reason in missing.items()
    }
