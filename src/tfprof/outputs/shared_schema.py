"""The JSON Schema of the modules that several others call."""

from __future__ import annotations

from tfprof.outputs.schema_types import (
    INTEGER,
    NUMBER,
    TEXT,
    Schema,
    described,
    list_of,
    object_of,
)


def shared_modules() -> Schema:
    """The key `shared_modules` of the view of layers."""
    module = object_of(
        {
            "name": described(TEXT, "The layer where its parameters are."),
            "layer_class": TEXT,
            "rows": list_of(TEXT, "The layers that are this module, one per caller."),
            "callers": described(INTEGER, "How many modules call it."),
            "calls": described(INTEGER, "Calls in a step, by all callers; rounded."),
            "params": described(INTEGER, "Its parameters, and those of the modules in it."),
            "float_ops": described(INTEGER, "Float operations per step, for all callers."),
            "micros": described(NUMBER, "Op time per step in microseconds, for all callers."),
        }
    )
    return list_of(
        module,
        "In the view of layers, the PyTorch modules that several others call; left out if there "
        "are none.",
    )
