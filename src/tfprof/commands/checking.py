"""The command `check`: compare a model with its budgets, or write them."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tfprof import api, atomic_files
from tfprof.budgets import file, outputs, starter, updating
from tfprof.budgets.check import Check
from tfprof.budgets.check import check as checked
from tfprof.budgets.measuring import Measured
from tfprof.budgets.metrics import BUDGET_METRICS
from tfprof.commands.progress import Progress
from tfprof.errors import OptionError, nearest, printable
from tfprof.options import INPUT_OPTIONS, Inputs
from tfprof.options.groups import READING

if TYPE_CHECKING:
    from tfprof.api import Profile
    from tfprof.budgets.budget import Budget
    from tfprof.commands.command import Call

EXIT_NOT_MET = 3
_SUMMARY = "GITHUB_STEP_SUMMARY"


def check(call: Call) -> int:
    """Check the budgets; the exit status says whether all are met."""
    path = call.value("budget")
    if call.value("update"):
        return _update(call, path)
    if call.value("json") and call.value("markdown"):
        raise OptionError("Use --json or --markdown, not both.")
    budgets, left_out = _chosen(file.read(path), call.value("only"), path)
    found = checked(call.load(), budgets, _base(call), left_out=left_out)
    if call.value("junit"):
        atomic_files.write(call.value("junit"), [outputs.junit(found)])
    with suppress(BrokenPipeError):  # the status matters even if it is not read
        call.show([_answer(call, found)])
    call.say(*found.notes)
    _add_to_summary(call, found)
    return 0 if found.is_met else EXIT_NOT_MET


def _update(call: Call, path: str) -> int:
    """Write the current numbers to the budget file, which is created if there is none."""
    for name in ("base", "only", "json", "markdown", "junit"):
        if call.given.get(name):
            raise OptionError(f"--update writes all budgets: leave out --{name}.")
    measured = Measured(call.load())
    if not os.path.lexists(path):
        atomic_files.write(path, [starter.text(measured).encode()])
        call.say(f"wrote {path}; edit it, and check it with `tfprof check`.")
        return 0
    text, changes = updating.update(path, measured)
    if changes:
        atomic_files.write(path, [text.encode()])
    call.show(f"{printable(change)}\n" for change in changes)
    call.say(f"wrote {path}" if changes else f"{path} is up to date.")
    return 0


def _chosen(
    budgets: tuple[Budget, ...], only: tuple[str, ...], path: str
) -> tuple[tuple[Budget, ...], int]:
    """The budgets of the chosen metrics, and the number of others."""
    for key in only:
        if key not in BUDGET_METRICS:
            raise OptionError(f"`only` cannot be `{key}`. {nearest(key, BUDGET_METRICS)}")
    chosen = tuple(budget for budget in budgets if not only or budget.metric.key in only)
    if not chosen:
        known = {budget.metric.key for budget in budgets}
        raise OptionError(f"{path} has no budget of {', '.join(only)}, only of {_listed(known)}.")
    return chosen, len(budgets) - len(chosen)


def _listed(keys: set[str]) -> str:
    return ", ".join(sorted(keys))


def _base(call: Call) -> Profile | None:
    """The profile to compare with, read in the same way as the files."""
    if not call.value("base"):
        return None
    reading = {name: option for name, option in INPUT_OPTIONS.items() if option.group == READING}
    with Progress(sys.stderr) as progress:
        return api.load_inputs(
            call.value("base"), Inputs(**call.given_of(reading)), progress.reading
        )


def _answer(call: Call, found: Check) -> str:
    if call.value("json"):
        return outputs.as_json(found)
    if call.value("markdown"):
        return outputs.markdown(found)
    return outputs.text(found, colour=call.front.screen.has_colour)


def _add_to_summary(call: Call, found: Check) -> None:
    """Add the result to the summary of a workflow step, if the environment names its file."""
    if not (path := os.environ.get(_SUMMARY)):
        return
    try:
        with Path(path).open("a", encoding="utf-8") as summary:
            summary.write(outputs.markdown(found))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        call.say(f"the result was not added to {path}, which {_SUMMARY} names: {reason}.")
