"""Compares two profiles column by column."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

import numpy as np

from tfprof.columns import Coded, Shapes, Strings
from tfprof.model.ops import Origins
from tfprof.model.profile import ProfileColumns
from tfprof.model.tensors import Tensors


def assert_same_columns(one: ProfileColumns, other: ProfileColumns) -> None:
    """Fail unless everything that can be asked of two profiles is the same."""
    left, right = dict(values(one)), dict(values(other))
    assert left.keys() == right.keys()
    for name, value in left.items():
        assert value == right[name], name


def values(profile: ProfileColumns) -> Iterator[tuple[str, object]]:
    """Every column as plain values, and every fact."""
    yield from _values("profile", profile)
    yield "phase", profile.phase.tolist()
    yield "forward_of", profile.forward_of.tolist()
    yield "is_defined", profile.ops.is_defined.tolist()
    for op in range(len(profile.ops)):
        yield f"attributes of op {op}", dict(profile.ops.origins.encoded_attributes(op))


def _values(name: str, holder: object) -> Iterator[tuple[str, object]]:
    if isinstance(holder, np.ndarray):
        yield name, holder.tolist()
    elif isinstance(holder, Strings):
        yield name, list(holder)
    elif isinstance(holder, Coded | Shapes):
        yield name, [holder[row] for row in range(len(holder))]
    elif isinstance(holder, Origins):
        yield name, holder.input.tolist()  # positions depend on the kind of file
    elif is_dataclass(holder):
        for part in fields(holder):
            is_left_out = part.name == "memo" or (
                isinstance(holder, Tensors) and part.name in ("read", "has_values")
            )
            if not is_left_out:
                yield from _values(f"{name}.{part.name}", getattr(holder, part.name))
    else:
        yield name, dict(holder) if hasattr(holder, "keys") else holder
