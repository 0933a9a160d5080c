"""Counts the float operations and MACs of a single op, to test its rule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from build import op, profile
from tfprof.measures import flops
from tfprof.model.attributes import AttributeValue
from tfprof.model.profile import ProfileColumns

Shape = tuple[int, ...] | None


def counted(kind: str, **about: Any) -> int | None:
    """The float ops of one op with these shapes; None if they could not be counted."""
    built, row = _built(kind, **about)
    found = flops.count(built)
    return int(found.per_run[row]) if found.is_counted[row] else None


def counted_macs(kind: str, **about: Any) -> int | None:
    """The multiply-accumulates of one op with these shapes; None if they are unknown."""
    built, row = _built(kind, **about)
    found = flops.count(built)
    macs = flops.count_macs(built, found)
    is_known = found.is_counted[row] and not macs.is_missing[row]
    return int(macs.per_run[row]) if is_known else None


def _built(
    kind: str,
    *,
    inputs: Sequence[Shape] = (),
    output: Shape = None,
    outputs: Sequence[Shape] = (),
    stated: Sequence[Shape] = (),
    **attributes: AttributeValue,
) -> tuple[ProfileColumns, int]:
    """A profile with the op, and the op's row."""
    names = [f"input_{position}" for position in range(len(inputs))]
    sources = [
        op(name, "Placeholder", outputs=[shape]) for name, shape in zip(names, inputs, strict=True)
    ]
    asked = op(
        "op",
        kind,
        inputs=names,
        outputs=outputs or [output],
        attributes=attributes,
        stated_inputs=stated,
    )
    built = profile(asked, *sources, counts_float_ops=True)
    return built, list(built.ops.name).index("op")
