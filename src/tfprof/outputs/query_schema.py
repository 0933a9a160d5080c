"""The JSON Schema of the answer to a query."""

from __future__ import annotations

from tfprof.outputs.schema_types import TEXT, Schema, described, list_of, object_of


def properties() -> dict[str, Schema]:
    """The keys of the answer to a query."""
    column = {"name": TEXT, "type": described(TEXT, "As DuckDB calls it.")}
    row = {"type": "object", "description": "The value of each column; NULL is null."}
    return {
        "columns": list_of(
            object_of(column), "The columns of the answer; their names are distinct."
        ),
        "rows": list_of(row, "The rows of the answer."),
    }
