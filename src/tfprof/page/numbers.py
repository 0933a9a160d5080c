"""The model in numbers: the cards and facts at the top of a report."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tfprof.measures.numbers import EVERYTHING, per_op
from tfprof.metrics import BY_KEY
from tfprof.model.profile import ProfileColumns
from tfprof.page import views
from tfprof.page.units import formatted
from tfprof.units import counted


def facts(profile: ProfileColumns) -> list[str]:
    """What the report is about, in a few words each."""
    found = [counted(len(profile.ops), "op")]
    if len(profile.steps):
        found.append(counted(len(profile.steps), "step"))
        found.append(counted(len(set(profile.devices.name)), "device"))
    return found


def cards(profile: ProfileColumns, words: str) -> Iterator[dict[str, Any]]:
    """The numbers that describe the model as a whole."""
    numbers = per_op(profile, EVERYTHING)
    for key, label in (("params", "Parameters"), ("float_ops", "Float operations")):
        value = int(numbers[key].sum())
        if value:
            unit = "count"
            yield {
                "label": label,
                "text": formatted(value, unit),
                "detail": BY_KEY[key].meaning,
                "value": value,
                "command": f"tfprof scope {words} -select {key} -max_depth 1",
            }
    if numbers["micros"].any():
        value = int(views.column(profile, numbers, BY_KEY["micros"]).sum())
        yield {
            "label": "Op time per step",
            "text": formatted(value, "nanos"),
            "detail": BY_KEY["micros"].meaning,
            "value": value,
            "command": f"tfprof scope {words} -select micros -max_depth 1",
        }
