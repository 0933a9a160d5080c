"""The command that shows more about a budgeted number."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from tfprof.budgets.budget import Budget
from tfprof.budgets.metrics import Source
from tfprof.budgets.parts import VIEWS, Part

_DIFF = "diff"

# What shows a number of a part that is not a number of the views.
_COLUMNS = {Source.GRAPH: "occurrence", Source.STEPS: "occurrence"}


def command_for(budget: Budget, part: Part) -> tuple[str, ...]:
    """A command of tfprof with its options, without files."""
    metric, kind = budget.metric, budget.place.kind
    if budget.is_relative:
        return _comparison(budget, part)
    if not budget.place.name or metric.key == "uncounted_ops":
        return metric.command
    column = _COLUMNS.get(metric.source, metric.key)
    if metric.source is Source.MEMORY:
        if kind == "scope":
            return metric.command
        column = "held_bytes"
    return (VIEWS[kind], "-start_name_regexes", re.escape(part.name), "-select", column)


def _comparison(budget: Budget, part: Part) -> tuple[str, ...]:
    """The comparison with the base; its summary has the numbers that are not those of views."""
    if budget.metric.source is not Source.VIEW:
        return (_DIFF,)
    view = ("-view", VIEWS[budget.place.kind], "-select", budget.metric.key)
    start = ("-start_name_regexes", re.escape(part.name)) if budget.place.name else ()
    return (_DIFF, *view, *start)


def command_line(command: Sequence[str], words: Sequence[str], base: Sequence[str]) -> str:
    """The whole command; `words` and `base` are those that load the files and the base."""
    name, *options = command
    files = _files(words, "FILES…")
    if name == _DIFF:
        # A comparison does not take the options that name files.
        has_options = any(word.endswith("_path") for word in (*words, *base))
        old, new = ([], []) if has_options else (base, words)
        files = f"{_files(old, 'BASE…')} vs {_files(new, 'FILES…')}"
    return " ".join(filter(None, ["tfprof", name, files, shlex.join(options)]))


def _files(words: Sequence[str], otherwise: str) -> str:
    return shlex.join(words) if words else otherwise
