"""Shapes of slices, and values sliced in the same way."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tfprof.columns import Shape
from tfprof.sources.tf_shapes.dims import OPEN, Unknown, dim_of
from tfprof.sources.tf_shapes.op import Op, Value
from tfprof.sources.tf_shapes.registry import shapes, values


class _Part(NamedTuple):
    """What a strided slice does along one dim of its input, or a new dim."""

    is_new: bool = False
    is_index: bool = False  # takes one entry, so the dim disappears
    begin: int | None = None
    end: int | None = None
    step: int | None = 1
    is_open: bool = False  # begin or end is unknown


@shapes("StridedSlice")
def strided(op: Op) -> list[Shape]:
    """The number of steps along each dim, without indexed dims and with new ones."""
    shape = op.shape(0)
    found: list[int] = []
    dims = iter(shape)
    for part in _parts(op, len(shape)):
        if part.is_new:
            found.append(1)
            continue
        dim = next(dims)
        if not part.is_index:
            found.append(_steps(part, dim))
    return [tuple(found)]


@values("StridedSlice")
def strided_value(op: Op) -> list[Value | None]:
    """The same slice of known numbers."""
    value = op.value(0)
    index: list[int | slice | None] = []
    for part in _parts(op, value.ndim):
        if part.is_open or part.step is None:
            raise Unknown
        if part.is_new:
            index.append(None)
        elif part.is_index:
            index.append(part.begin or 0)
        else:
            index.append(slice(part.begin, part.end, part.step))
    found = value[tuple(index)]
    return [np.array(found, object)]


def _steps(part: _Part, dim: int) -> int:
    if part.begin is None and part.end is None and part.step in (1, -1) and not part.is_open:
        return dim
    if part.is_open or part.step is None:
        return OPEN
    if dim >= 0:
        return len(range(*slice(part.begin, part.end, part.step).indices(dim)))
    return OPEN


def _parts(op: Op, rank: int) -> Iterator[_Part]:
    """The parts of a strided slice of a tensor with this rank, in order."""
    begins, ends, steps = (_listed(op, position) for position in (1, 2, 3))
    count = max(len(begins), len(ends), len(steps))
    masks = {
        name: op.integer(f"{name}_mask")
        for name in ("begin", "end", "ellipsis", "new_axis", "shrink_axis")
    }
    bits = [{name: mask >> place & 1 for name, mask in masks.items()} for place in range(count)]
    taken = sum(not bit["new_axis"] and not bit["ellipsis"] for bit in bits)
    has_ellipsis = False
    for place, bit in enumerate(bits):
        if bit["ellipsis"] and not has_ellipsis:
            has_ellipsis = True
            for _ in range(rank - taken):
                yield _Part()
        elif bit["new_axis"]:
            yield _Part(is_new=True)
        else:
            begin, end = begins[place], ends[place]
            yield _part(bit, begin, end, steps[place])
    if not has_ellipsis:
        for _ in range(rank - taken):
            yield _Part()


def _part(bit: dict[str, int], begin: int | None, end: int | None, step: int | None) -> _Part:
    if bit["shrink_axis"]:
        return _Part(is_index=True, begin=begin, is_open=begin is None)
    is_open = (begin is None and not bit["begin"]) or (end is None and not bit["end"])
    return _Part(
        begin=None if bit["begin"] else begin,
        end=None if bit["end"] else end,
        step=step,
        is_open=is_open,
    )


def _listed(op: Op, position: int) -> list[int | None]:
    """The elements of an input, None where unknown."""
    value = op.maybe_value(position)
    if value is not None:
        return list(value.flat)
    return [None] * len(op.dims(position))


@shapes("Slice")
def sliced(op: Op) -> list[Shape]:
    """The given sizes; -1 means all entries after the start."""
    shape, begins, sizes = op.shape(0), _listed(op, 1), _listed(op, 2)
    return [tuple(map(_size, shape, begins, sizes))]


def _size(dim: int, begin: int | None, wanted: int | None) -> int:
    if wanted is not None and wanted >= 0:
        return wanted
    if wanted is None or begin is None or dim < 0:
        return OPEN
    return dim_of(dim - begin)


@values("Slice")
def sliced_value(op: Op) -> list[Value | None]:
    """The same slice of known numbers."""
    value = op.value(0)
    begins, sizes = op.numbers(1), op.numbers(2)
    index = [
        slice(begin, None if wanted < 0 else begin + wanted)
        for begin, wanted in zip(begins, sizes, strict=True)
    ]
    return [value[tuple(index)]]


@shapes("StridedSliceGrad")
def slice_gradient(op: Op) -> list[Shape]:
    """The shape in the first input."""
    return [op.dims(0)]
