"""The JSON Schema of a comparison of two profiles."""

from __future__ import annotations

from tfprof.outputs.schema_types import (
    INTEGER,
    NUMBER,
    TEXT,
    Schema,
    described,
    list_of,
    map_of,
    object_of,
    or_null,
)
from tfprof.views.registry import VIEWS

_TIMES = {
    "median_before": "The median over the steps of the base, of times.",
    "median_after": "The median over the steps of the new profile.",
    "low": "The lower end of the 95 % interval of the change; null with fewer than 4 steps.",
    "high": "The upper end of it.",
}


def properties() -> dict[str, Schema]:
    """The keys of the answer besides `schema`."""
    return {
        "view": {"enum": list(VIEWS)},
        "base": list_of(TEXT, "The words of a command that load the base."),
        "new": list_of(TEXT, "The words of a command that load the new profile."),
        "options": {"type": "object", "description": "The options of the question."},
        "summary": _summary(),
        "numbers": list_of(
            object_of({"key": TEXT, "metric": TEXT, "label": TEXT}),
            "The numbers that are compared; `metric` selects it.",
        ),
        "notes": list_of(TEXT, "What is missing from the answer, in sentences."),
        "rows": list_of(_row(), "The rows that changed, the largest change first."),
    }


def _summary() -> Schema:
    step = {
        "before_ns": described(NUMBER, "The median wall time of a step of the base."),
        "after_ns": NUMBER,
        "low_ns": described(or_null(NUMBER), "The 95 % interval of the change."),
        "high_ns": or_null(NUMBER),
        "p_value": described(
            or_null(NUMBER), "The chance that steps differ as much although nothing changed."
        ),
        "is_conclusive": described({"type": "boolean"}, "Whether there are enough steps."),
        "is_shown": described(
            {"type": "boolean"}, "Whether a part of the model, not the machine, explains a change."
        ),
    }
    cause = {
        "kind": described(TEXT, "The view that has the row."),
        "name": TEXT,
        "old_name": TEXT,
        "before_ns": described(INTEGER, "In the median step."),
        "after_ns": INTEGER,
        "ratio": described(
            or_null(NUMBER), "How many times as long it takes if the rest takes as long as before."
        ),
        "share": described(NUMBER, "Of the change of the time of all ops, as a fraction."),
        "phase": described(
            TEXT, "forward, backward, optimizer or communication; empty if it is several."
        ),
        "line": described(TEXT, "The line of code that holds most of it; empty if unknown."),
        "facts": list_of(TEXT, "What is different there."),
    }
    idle: dict[str, Schema] = {
        "is_input_wait": described({"type": "boolean"}, "Whether it is waiting for input."),
        "before_ns": INTEGER,
        "after_ns": INTEGER,
    }
    total = {"key": TEXT, "label": TEXT, "before": INTEGER, "after": INTEGER}
    return object_of(
        {
            "sentences": list_of(TEXT),
            "steps": list_of(INTEGER, "How many steps with times each side has."),
            "recordings": list_of(INTEGER, "Of how many runs of the program these are."),
            "step": described(or_null(object_of(step)), "The wall time of a step."),
            "pace": described(
                or_null(NUMBER),
                "How many times as long the ops take that are the same on both sides.",
            ),
            "idle": described(
                or_null(object_of(idle)), "The time without ops, if it has most of the change."
            ),
            "cause": described(
                or_null(object_of(cause)), "The part whose time changed beyond that."
            ),
            "totals": list_of(object_of(total), "Numbers of the whole model."),
        }
    )


def _row() -> Schema:
    number = {
        "before": described(NUMBER, "Of the row with all rows below it; times in microseconds."),
        "after": NUMBER,
        "change": NUMBER,
        "share": described(
            or_null(NUMBER), "Of the change of all rows, as a fraction; null if that is 0."
        ),
        **{key: described(or_null(NUMBER), text) for key, text in _TIMES.items()},
        "is_shown": described(
            {"type": "boolean"},
            "Whether the steps show a difference, of so many rows.",
        ),
    }
    return object_of(
        {
            "name": TEXT,
            "old_name": described(or_null(TEXT), "The name in the base; null if it is new."),
            "status": {"enum": ["same", "added", "removed", "renamed", "moved"]},
            "depth": INTEGER,
            "parent": or_null(TEXT),
            "numbers": map_of(
                object_of(number, optional=frozenset({*_TIMES, "is_shown"})), "By key."
            ),
        }
    )
