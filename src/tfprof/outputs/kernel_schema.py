"""The JSON Schema of a table of kernels."""

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


def properties() -> dict[str, Schema]:
    """The keys of a table of kernels besides its options and notes."""
    shape = list_of(INTEGER)
    kernel = {
        "name": described(TEXT, "The whole name, demangled."),
        "short_name": described(TEXT, "A name that no other kernel of the profile has."),
        "launches": described(INTEGER, "How often it ran."),
        "total_ns": described(INTEGER, "How long all launches took together."),
        "mean_ns": described(INTEGER, "How long a launch took, rounded."),
        "min_ns": described(INTEGER, "How long the shortest took."),
        "max_ns": described(INTEGER, "How long the longest took."),
        "share": described(NUMBER, "Of the time of all kernels, as a fraction."),
        "occupancy": described(
            or_null(NUMBER),
            "The achieved occupancy in percent as the profiler estimates it, the mean of all "
            "launches weighted by time; null if it was not recorded.",
        ),
        "registers": list_of(
            INTEGER,
            "Registers per thread; as in the following lists, what took "
            "the most time comes first, and what was not recorded is missing.",
        ),
        "shared_memory": list_of(INTEGER, "Bytes per block."),
        "grids": list_of(shape, "The blocks in each dimension."),
        "blocks": list_of(shape, "The threads of a block in each dimension."),
        "streams": list_of(TEXT, "The lanes of accelerators on which it ran."),
        "ops": list_of(TEXT, "The kinds of the ops that launched it; `unattributed` if unknown."),
        "modules": list_of(TEXT, "The modules or layers of these ops."),
        "shapes": list_of(
            list_of(or_null(list_of(INTEGER))), "The shapes of the inputs of these ops."
        ),
    }
    return {
        "launches": described(INTEGER, "Of all kernels in the chosen steps."),
        "total_ns": described(INTEGER, "The time of all kernels in the chosen steps, added up."),
        "kernels": list_of(
            object_of(kernel), "The kernels whose names match, in the chosen order."
        ),
        "hidden_kernels": described(INTEGER, "The kernels whose names do not match."),
    }
