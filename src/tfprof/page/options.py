"""The section `options`: the options of views, which the filter bar of the page offers."""

from __future__ import annotations

from typing import Any

from tfprof.metrics import BY_KEY, RUN_NUMBERS
from tfprof.options import VIEW_OPTIONS, Option
from tfprof.page import units

_THRESHOLD = "min_"
# Options about what a command prints, not about rows.
_OF_COMMANDS = frozenset(("select", "output", "dump_to_file", "viz"))


def options() -> list[dict[str, Any]]:
    """The options that choose, count or order rows."""
    return [_described(option) for name, option in VIEW_OPTIONS.items() if name not in _OF_COMMANDS]


def _described(option: Option) -> dict[str, Any]:
    key = option.name.removeprefix(_THRESHOLD)
    metric = BY_KEY.get(key) if option.name.startswith(_THRESHOLD) else None
    return {
        "name": option.name,
        "value": option.text(option.default),
        "help": option.help,
        "kind": option.kind.name.lower(),
        "placeholder": option.value,
        # The number that a threshold is compared with.
        "metric": key if metric else "",
        "unit": units.NAMES[metric.unit] if metric and metric.unit else "count",
        "is_measured": key in RUN_NUMBERS,
    }
