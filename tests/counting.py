"""Counts the float operations of a single op, to test its rule."""

from __future__ import annotations

from collections.abc import Sequence

from build import op, profile
from tfprof.measures import flops
from tfprof.model.attributes import AttributeValue

Shape = tuple[int, ...] | None


def counted(
    kind: str,
    *,
    inputs: Sequence[Shape] = (),
    output: Shape = None,
    outputs: Sequence[Shape] = (),
    **attributes: AttributeValue,
) -> int | None:
    """The float ops of one op with these shapes; None if they could not be counted."""
    names = [f"input_{position}" for position in range(len(inputs))]
    sources = [
        op(name, "Placeholder", outputs=[shape]) for name, shape in zip(names, inputs, strict=True)
    ]
    asked = op("op", kind, inputs=names, outputs=outputs or [output], attributes=attributes)
    built = profile(asked, *sources, counts_float_ops=True)
    found = flops.count(built)
    row = list(built.ops.name).index("op")
    return int(found.per_run[row]) if found.is_counted[row] else None
