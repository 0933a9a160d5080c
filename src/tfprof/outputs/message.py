"""Encode a view as a protobuf message of the original's types."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import assert_never

import numpy as np

from tfprof.columns import Ints, Shapes
from tfprof.errors import OutputError
from tfprof.formats.messages import Message, message_class
from tfprof.formats.tensor_types import TENSOR_TYPES
from tfprof.memo import OnDemand
from tfprof.metrics import METRICS, NUMBERS
from tfprof.model.tensors import Tensors
from tfprof.outputs import tabular
from tfprof.outputs.tensor_text import rounded
from tfprof.views import facts
from tfprof.views.facts import Counts, ShapeLists, Sizes, TensorValues, Texts
from tfprof.views.registry import Trait
from tfprof.views.view import View, single_members

GRAPH_NODE = "tensorflow.tfprof.GraphNodeProto"
MULTI_NODE = "tensorflow.tfprof.MultiGraphNodeProto"

# The field of each number; its total is in `total_FIELD`. Not every message has every field.
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
    "runs": "run_count",
    "definitions": "definition_count",
}

# By the `kind` of the numpy dtype.
_TENSOR_FIELDS = {
    "f": "value_double",
    "i": "value_int64",
    "u": "value_int64",
    "b": "value_int64",
    "O": "value_str",
}
# Protobuf readers stop at 100 levels, and the deepest row nests up to three more: an op, the shapes
# of its inputs and their dimensions.
_MAX_LEVELS = 97

_TYPE_NUMBERS = {kind.name: number for number, kind in TENSOR_TYPES.items()}


def encode(view: View) -> Iterator[bytes]:
    """The serialized message; fails if it nests too deeply for protobuf to read it back."""
    levels = int(view.tree.depths.max()) if Trait.NESTED in view.traits else len(view)
    if levels > _MAX_LEVELS:
        raise OutputError(
            f"The message of this view nests {levels:,} levels deep, but protobuf reads at most "
            f"{_MAX_LEVELS}: lower -max_depth, or use json:outfile=PATH."
        )
    yield build(view).SerializeToString(deterministic=True)


def build(view: View) -> Message:
    """The root's message, which contains all shown rows.

    In a flat view each row contains the next one, just as its total includes the next one's.
    """
    root = message_class(MULTI_NODE if view.is_gathered else GRAPH_NODE)()
    messages = _row_messages(view, root)
    _fill_numbers(view, messages)
    if view.is_gathered:
        ops = _ops(view)
        owners = view.members.owners.tolist()
        gathered = [
            messages[row].graph_nodes.add(name=name)
            for row, name in zip(owners, ops.name, strict=True)
        ]
        _fill_numbers(ops, gathered)
        _fill_facts(ops, gathered)
    else:
        _fill_facts(view, messages)
    return root


def _row_messages(view: View, root: Message) -> list[Message]:
    """The message of each row, added to the message of its parent."""
    root.name = view.name[0]
    messages = [root]
    is_nested = Trait.NESTED in view.traits
    parents = view.tree.parents.tolist() if is_nested else range(-1, len(view) - 1)
    for parent, name in list(zip(parents, view.name, strict=True))[1:]:
        messages.append(messages[parent].children.add(name=name))
    return messages


def _ops(view: View) -> View:
    """The same view with one row per op; an op's total equals its own numbers."""
    ops = view.members.values
    numbers = OnDemand(NUMBERS, lambda key: view.op_numbers(key)[ops])
    return replace(
        view,
        name=view.profile.ops.name.take(ops),
        members=single_members(ops),
        own=numbers,
        total=numbers,
    )


def _fill_numbers(view: View, messages: Sequence[Message]) -> None:
    for key, field in _FIELDS.items():
        own, total = view.own[key], view.total[key]
        if key == "runs":  # the field is an integer
            own, total = (np.rint(view.runs(column)).astype(np.int64) for column in (own, total))
        _fill_number(messages, field, own)
        _fill_number(messages, f"total_{field}", total)


def _fill_number(messages: Sequence[Message], field: str, column: Ints) -> None:
    if messages and field in messages[0].DESCRIPTOR.fields_by_name:
        rows = np.flatnonzero(column)  # 0 is the default
        for row, number in zip(rows.tolist(), column[rows].tolist(), strict=True):
            setattr(messages[row], field, number)


def _fill_facts(view: View, messages: Sequence[Message]) -> None:
    """Fill every fact the messages have a field for; tensor values only if they are selected."""
    fields = messages[0].DESCRIPTOR.fields_by_name if messages else {}
    for metric in METRICS:
        if metric.fact not in fields:
            continue
        match column := facts.column(metric, view, slice(0, len(messages))):
            case Texts():
                _fill_texts(messages, metric.fact, column)
            case ShapeLists():
                _fill_shape_lists(messages, metric.fact, column)
            case TensorValues():
                if metric.key in view.options.select:
                    _fill_values(messages, metric.fact, column)
            case np.ndarray():
                _fill_number(messages, metric.fact, column)
            case None | Counts() | Shapes() | Sizes():
                # `_fill_numbers` fills the counts, and no message has a field for the others.
                pass
            case _:
                assert_never(column)


def _fill_texts(messages: Sequence[Message], field: str, column: Texts) -> None:
    for message, texts in zip(messages, tabular.texts(column), strict=True):
        getattr(message, field).extend(texts)


def _fill_shape_lists(messages: Sequence[Message], field: str, column: ShapeLists) -> None:
    lists = column.of_rows()
    for row, message in enumerate(messages):
        entries = getattr(message, field)
        for place, code in enumerate(lists[row].tolist()):
            shape = column.shapes[code]
            entry = entries[place]
            entry.unknown_rank = shape is None
            for size in () if shape is None else shape or (1,):
                entry.dim.add().size = size


def _fill_values(messages: Sequence[Message], field: str, column: TensorValues) -> None:
    for row in np.flatnonzero(column.place >= 0).tolist():
        _fill_value(getattr(messages[row], field), column.tensors, int(column.place[row]))


def _fill_value(message: Message, tensors: Tensors, place: int) -> None:
    """Fill in the flattened values of a tensor; messages cannot hold complex values."""
    values = tensors.read(tensors.name[place])
    field = _TENSOR_FIELDS.get(values.dtype.kind)
    if field is None:
        return
    message.dtype = _TYPE_NUMBERS[tensors.dtype[place]]
    if values.dtype.kind in "ub":
        # Numbers over 63 bits keep their bits: protobuf encodes int64 and uint64 alike.
        values = values.astype(np.uint64).view(np.int64)
    flat = np.ravel(values).tolist()
    if field == "value_double":
        flat = [rounded(value) for value in flat]
    elif field == "value_str":
        flat = [value.decode("utf-8", "replace") for value in flat]
    getattr(message, field).extend(flat)
