"""A view as a protobuf message, with the field names and numbers programs know."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

import numpy as np

from tfprof.errors import OutputError
from tfprof.formats.messages import Message, message_class
from tfprof.formats.tensor_types import TENSOR_TYPES
from tfprof.measures.numbers import Numbers
from tfprof.outputs.tensor_text import rounded
from tfprof.views.view import View

GRAPH_NODE = "tensorflow.tfprof.GraphNodeProto"
MULTI_NODE = "tensorflow.tfprof.MultiGraphNodeProto"

# What a number is called in the messages; the total of each is called the same behind `total_`.
_FIELDS = {
    "micros": "exec_micros",
    "accelerator_micros": "accelerator_exec_micros",
    "cpu_micros": "cpu_exec_micros",
    "bytes": "requested_bytes",
    "peak_bytes": "peak_bytes",
    "residual_bytes": "residual_bytes",
    "output_bytes": "output_bytes",
    "params": "parameters",
    "float_ops": "float_ops",
}

_COLUMNS = (*_FIELDS, "runs", "definitions")

# By the kind of numpy type.
_TENSOR_FIELDS = {
    "f": "value_double",
    "i": "value_int64",
    "u": "value_int64",
    "b": "value_int64",
    "O": "value_str",
}
# Readers stop at 100 levels, and the lowest row takes up to three more: an op, its inputs' shapes
# and their sides.
_MOST_LEVELS = 97

_TYPE_NUMBERS = {kind.name: number for number, kind in TENSOR_TYPES.items()}


def encode(view: View) -> Iterator[bytes]:
    """The message as a file holds it; refused where no protobuf library could read it back."""
    levels = len(view) if view.kind == "op" else int(view.tree.depths.max())
    if levels > _MOST_LEVELS:
        raise OutputError(
            f"A message of this view nests {levels:,} levels deep, and protobuf reads "
            f"{_MOST_LEVELS}: lower -max_depth, or use json:outfile=PATH."
        )
    yield build(view).SerializeToString(deterministic=True)


def build(view: View) -> Message:
    """The root's message, with all shown rows below it.

    Rows of the op view hang below each other, as the running totals suggest.
    """
    root = message_class(MULTI_NODE if view.is_gathered else GRAPH_NODE)()
    fill = _fill_multi if view.is_gathered else _fill_single
    numbers = _Columns(*(_filled(table) for table in (view.own, view.total)))
    ops = _filled({key: view.op_numbers(key) for key in _COLUMNS}) if view.is_gathered else {}
    messages = {0: root}
    parents = view.tree.parents.tolist()
    for row in range(len(view)):
        if row:
            parent = row - 1 if view.kind == "op" else parents[row]
            messages[row] = messages[parent].children.add()
        message = messages[row]
        message.name = view.name[row]
        _fill_numbers(message, numbers, row)
        fill(view, row, message, numbers, ops)
    return root


_Filled: TypeAlias = dict[str, list[int]]


class _Columns(NamedTuple):
    """Numbers that are not all zero, which is what a message without them says."""

    own: _Filled
    total: _Filled


def _filled(table: Numbers) -> _Filled:
    return {key: table[key].tolist() for key in _COLUMNS if table[key].any()}


def _fill_single(view: View, row: int, message: Message, numbers: _Columns, _: _Filled) -> None:
    _fill_counts(message, numbers, row)
    for op in view.members[row].tolist():
        _fill_facts(view, op, message)
    if row and "tensor_value" in view.options.select:
        _fill_value(view, message)


def _fill_multi(view: View, row: int, message: Message, _: _Columns, ops: _Filled) -> None:
    """The ops that a row gathers: all there is of each is its own."""
    whole = _Columns(ops, ops)
    for op in view.members[row].tolist():
        gathered = message.graph_nodes.add(name=view.profile.ops.name[op])
        _fill_numbers(gathered, whole, op)
        _fill_counts(gathered, whole, op)
        _fill_facts(view, op, gathered)


def _fill_numbers(message: Message, numbers: _Columns, row: int) -> None:
    for key, column in numbers.own.items():
        if key in _FIELDS and column[row]:
            setattr(message, _FIELDS[key], column[row])
    for key, column in numbers.total.items():
        if key in _FIELDS and column[row]:
            setattr(message, f"total_{_FIELDS[key]}", column[row])


def _fill_counts(message: Message, numbers: _Columns, row: int) -> None:
    """How often there were runs, and how many ops there are."""
    if "runs" in numbers.own:
        message.run_count = numbers.own["runs"][row]
    if "runs" in numbers.total:
        message.total_run_count = numbers.total["runs"][row]
    if "definitions" in numbers.total:
        message.total_definition_count = numbers.total["definitions"][row]


def _fill_facts(view: View, op: int, message: Message) -> None:
    devices = view.profile.op_devices[op].tolist()
    message.devices.extend(sorted({view.profile.devices.name[device] for device in devices}))
    for place, shape in enumerate(view.input_shapes(op)):
        entry = message.input_shapes[place]
        entry.unknown_rank = shape is None
        for size in () if shape is None else shape or (1,):
            entry.dim.add().size = size


def _fill_value(view: View, message: Message) -> None:
    """The checkpoint's values for a row, flat."""
    tensors = view.profile.tensors
    row = tensors.find(message.name)
    if row < 0:
        return
    values = tensors.read(message.name)
    field = _TENSOR_FIELDS.get(values.dtype.kind)
    if field is None:
        return
    message.tensor_value.dtype = _TYPE_NUMBERS[tensors.dtype[row]]
    if values.dtype.kind in "ub":
        # Beyond 63 bits a number keeps its bits, which is how protobuf writes both kinds.
        values = values.astype(np.uint64).view(np.int64)
    flat = np.ravel(values).tolist()
    if field == "value_double":
        flat = [rounded(value) for value in flat]
    elif field == "value_str":
        flat = [value.decode("utf-8", "replace") for value in flat]
    getattr(message.tensor_value, field).extend(flat)
