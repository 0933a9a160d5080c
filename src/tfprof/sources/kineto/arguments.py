"""The inputs of ops: shapes of tensors, and other arguments as attributes."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tfprof.columns import Coded, Ints, Strings, distinct_rows, ints, offsets_of
from tfprof.formats.kineto.columns import Slices, Trace
from tfprof.model.attributes import AttributeTable
from tfprof.model.between_files import ByStart
from tfprof.model.ops import OutputShapes
from tfprof.sources.kineto.host import of_category
from tfprof.sources.torch_arguments import ARGUMENTS

_LARGEST_DIM = 1 << 62
_MOST_INPUTS = 10_000
_TENSOR = "tensor"
# The types of inputs that are no tensors. PyTorch leaves out the shapes of long lists of tensors.
_OTHERS = {"", "Scalar", "ScalarList", "TensorList"}
_WHOLE = re.compile(r"(?<=[0-9])\.(?![0-9])")  # the point of `2.`, which is no JSON


def with_inputs(trace: Trace, inputs: ByStart[tuple[str, str]]) -> Trace:
    """The trace with the shapes and numbers of inputs that it leaves out."""
    if not len(inputs):
        return trace
    slices = trace.slices
    rows = np.flatnonzero(of_category(slices, lambda name: name == "cpu_op"))
    place = inputs.places(slices.start_ns[rows] + trace.base_ns)
    rows, place = rows[place >= 0], place[place >= 0]
    dims = _replaced(slices.input_dims, rows, place, [shapes for shapes, _ in inputs.values])
    values = _replaced(slices.concrete_inputs, rows, place, [one for _, one in inputs.values])
    return replace(trace, slices=replace(slices, input_dims=dims, concrete_inputs=values))


def _replaced(column: Coded, rows: Ints, place: Ints, texts: Sequence[str]) -> Coded:
    """The column with other texts in some rows."""
    codes = column.codes.copy()
    codes[rows] = len(column.values) + place
    return Coded(codes, Strings([*column.values, *texts]))


def stated_inputs(slices: Slices, dims: Ints, types: Ints) -> OutputShapes:
    """The shapes of the inputs of ops, from the codes of `Input Dims` and `Input type`.

    Inputs that are not tensors have no shape. A list of tensors is as many inputs.
    """
    pairs, place = distinct_rows((dims, types))
    rows = [shapes_of(slices, dim, kind) for dim, kind in pairs.tolist()]
    return OutputShapes.of_rows(rows).take(place)


def shapes_of(slices: Slices, dims: int, types: int) -> list[tuple[int, ...] | None]:
    """The shapes of the inputs with these codes; a negative one stands for nothing."""
    return _shapes(
        _loaded(slices.input_dims.values[dims]) if dims >= 0 else [],
        _loaded(slices.input_types.values[types]) if types >= 0 else [],
    )


def _loaded(text: str) -> list[Any]:
    """The JSON list in `text`; empty if there is none."""
    if not text:
        return []
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return []
    return found[:_MOST_INPUTS] if isinstance(found, list) else []


def _shapes(dims: Sequence[Any], types: Sequence[Any]) -> list[tuple[int, ...] | None]:
    found: list[tuple[int, ...] | None] = []
    for position, dim in enumerate(dims):
        kind = types[position] if position < len(types) else ""
        is_list = isinstance(dim, list) and any(isinstance(one, list) for one in dim)
        tensors = dim[:_MOST_INPUTS] if is_list else [dim]
        found += [_shape(one, _TENSOR if is_list else kind) for one in tensors]
    while found and found[-1] is None:
        found.pop()
    return found


def _shape(dims: Any, kind: Any) -> tuple[int, ...] | None:
    """The shape of a tensor; None for other inputs, whose dims are empty too."""
    is_tensor = isinstance(kind, str) and kind not in _OTHERS
    if not isinstance(dims, list) or (not dims and not is_tensor):
        return None
    if not all(type(dim) is int and 0 <= dim < _LARGEST_DIM for dim in dims):
        return None
    return tuple(dims)


def attributes(slices: Slices, kinds: Sequence[str], values: Ints) -> AttributeTable:
    """The other arguments of ops, by name, from the codes of `Concrete Inputs`; -1 for none."""
    names: list[str] = []
    texts: list[str] = []
    lengths: list[int] = []
    known: dict[tuple[str, int], list[tuple[str, str]]] = {}
    for kind, code in zip(kinds, values.tolist(), strict=True):
        key = (kind, code)
        if key not in known:
            known[key] = [] if code < 0 else _named(kind, slices.concrete_inputs.values[code])
        names += [name for name, _ in known[key]]
        texts += [text for _, text in known[key]]
        lengths.append(len(known[key]))
    value = Coded.of(texts)
    return AttributeTable(
        offsets_of(ints(lengths)), Coded.of(names), value.codes, Strings(value.values), "json"
    )


def _named(kind: str, text: str) -> list[tuple[str, str]]:
    """The arguments of an op that have a value, as JSON."""
    pairs = zip(ARGUMENTS.get(kind, ()), _loaded(text), strict=False)
    return [
        (name, found)
        for name, value in pairs
        if isinstance(value, str) and (found := _json(value)) is not None
    ]


def _json(text: str) -> str | None:
    """The JSON of a value as PyTorch writes it, such as `[1, 1]`, `True` and `2.`."""
    plain = _WHOLE.sub(".0", text.replace("True", "true").replace("False", "false"))
    try:
        value = json.loads(plain)
    except (ValueError, RecursionError):
        return None
    return None if value is None or isinstance(value, dict) else json.dumps(value)
