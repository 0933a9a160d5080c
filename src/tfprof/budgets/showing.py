"""The command that shows more about a budgeted number."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from tfprof.budgets.budget import Budget
from tfprof.budgets.metrics import Source
from tfprof.budgets.parts import VIEWS, Part

# What shows a number of a part that is not a number of the views.
_COLUMNS = {Source.GRAPH: "occurrence", Source.STEPS: "occurrence"}


def command_for(budget: Budget, part: Part) -> tuple[str, ...]:
    """A command of tfprof with its options, without files."""
    metric, kind = budget.metric, budget.place.kind
    if not budget.place.name or metric.key == "uncounted_ops":
        return metric.command
    column = _COLUMNS.get(metric.source, metric.key)
    if metric.source is Source.MEMORY:
        if kind == "scope":
            return metric.command
        column = "held_bytes"
    return (VIEWS[kind], "-start_name_regexes", re.escape(part.name), "-select", column)


def command_line(command: Sequence[str], words: Sequence[str]) -> str:
    """The whole command; `words` are those that load the files."""
    name, *options = command
    files = shlex.join(words) if words else "FILES…"
    return " ".join(filter(None, ["tfprof", name, files, shlex.join(options)]))
