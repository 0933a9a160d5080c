"""The JSON Schema of the answer of `tfprof check`."""

from __future__ import annotations

from tfprof.outputs.schema_types import (
    INTEGER,
    NUMBER,
    TEXT,
    Schema,
    described,
    list_of,
    object_of,
    or_null,
)

_AMOUNTS = {
    "measured": "The number; null if the files do not contain it.",
    "base": "The number of the base, if the budget is relative to it.",
    "limit": "The bound that was compared: the one that is not met, or else the upper one.",
    "excess": "How far the number is above the limit; negative if it is below.",
}


def properties() -> dict[str, Schema]:
    """The keys of the answer besides `schema`."""
    budget: dict[str, Schema] = {
        "status": {
            "enum": ["met", "not met", "missing", "inconclusive"],
            "description": "`not met` and `missing` fail the check.",
        },
        "metric": TEXT,
        "unit": {"enum": ["count", "bytes", "microseconds"]},
        "part": {"enum": ["model", "scope", "layer"]},
        "name": described(or_null(TEXT), "Of the scope or layer."),
        "line": described(or_null(TEXT), "The line of code that created most of the part."),
        "budget": described(TEXT, "The budget in words."),
        **{key: described(or_null(NUMBER), text) for key, text in _AMOUNTS.items()},
        "interval": described(
            or_null(list_of(NUMBER)), "The 95 % interval of the change of a time: low, high."
        ),
        "remark": described(TEXT, "What to do, or to know; may be empty."),
        "command": described(TEXT, "The command that shows more."),
    }
    return {
        "met": described({"type": "boolean"}, "Whether the check succeeds."),
        "summary": described(TEXT, "The result in a sentence."),
        "budgets": list_of(object_of(budget), "In the order of the file."),
        "not_checked": described(INTEGER, "Budgets left out by `--only`."),
        "notes": list_of(TEXT, "Notes on the files, in sentences."),
    }
