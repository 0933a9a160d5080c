"""Encode a view as JSON: the options, what is hidden, and the rows.

JSON has no non-finite floats: they become the strings `NaN`, `Infinity` and `-Infinity`, which
`float` accepts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from tfprof.columns import ints
from tfprof.metrics import METRICS
from tfprof.outputs import json_document, schemas, shared_modules
from tfprof.outputs.tabular import json_rows, numbers
from tfprof.units import exact_micros
from tfprof.views.registry import Trait
from tfprof.views.view import View


def as_dict(view: View) -> dict[str, Any]:
    """The whole answer as plain values."""
    return head(view) | {"rows": list(json_rows(view))}


def head(view: View) -> dict[str, Any]:
    """Everything but the rows."""
    options = asdict(view.options)
    is_aligned = Trait.ALIGNED in view.traits
    shared = shared_modules.as_dicts(view) if is_aligned else []
    return {
        "schema": schemas.name_of("view"),
        "view": view.kind,
        "options": {key: list(v) if isinstance(v, tuple) else v for key, v in options.items()},
        "steps": view.profile.steps.numbers(),
        "recordings": list(view.profile.recordings.label),
        "notes": list(view.notes),
        "hidden": {"ops": view.hidden.ops, **_hidden_numbers(view)},
        **({"shared_modules": shared} if shared else {}),
    }


def _hidden_numbers(view: View) -> dict[str, int | float]:
    """The hidden part of each number; times have fractions of a microsecond if recorded."""
    found = view.hidden.numbers
    wholes = [metric for metric in METRICS if metric.is_number and not metric.part_of]
    times = {metric.key: exact_micros(found[metric.exact]) for metric in wholes if metric.exact}
    counted = {metric.key: found[metric.key] for metric in wholes}
    runs = numbers(view.runs(ints([found["runs"]])))[0]
    return counted | times | {"runs": runs, "definitions": found["definitions"]}


def encode(view: View) -> Iterator[bytes]:
    """The answer as JSON text, one line per row."""
    return json_document.encode(head(view), json_rows(view))
