"""A view as a protobuf message, with the field names and numbers programs know."""

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
from tfprof.views.facts import Counts, ShapeLists, TensorValues, Texts
from tfprof.views.registry import Trait
from tfprof.views.view import View, single_members

GRAPH_NODE = "tensorflow.tfprof.GraphNodeProto"
MULTI_NODE = "tensorflow.tfprof.MultiGraphNodeProto"

# The field of each number; that of its total has `total_` before it. Some messages lack some.
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
    levels = int(view.tree.depths.max()) if Trait.NESTED in view.traits else len(view)
    if levels > _MOST_LEVELS:
        raise OutputError(
            f"A message of this view nests {levels:,} levels deep, and protobuf reads "
            f"{_MOST_LEVELS}: lower -max_depth, or use json:outfile=PATH."
        )
    yield build(view).SerializeToString(deterministic=True)


def build(view: View) -> Message:
    """The root's message, with all shown rows below it.

    Of rows that are side by side each holds the next one, as their totals do.
    """
    root = message_class(MULTI_NODE if view.is_gathered else GRAPH_NODE)()
    messages = _of_rows(view, root)
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


def _of_rows(view: View, root: Message) -> list[Message]:
    """A message for each row, within that of the row above it."""
    root.name = view.name[0]
    messages = [root]
    is_nested = Trait.NESTED in view.traits
    parents = view.tree.parents.tolist() if is_nested else range(-1, len(view) - 1)
    for parent, name in list(zip(parents, view.name, strict=True))[1:]:
        messages.append(messages[parent].children.add(name=name))
    return messages


def _ops(view: View) -> View:
    """The same view with a row for each op that its rows gather: all there is of it is its own."""
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
        _fill_number(messages, field, view.own[key])
        _fill_number(messages, f"total_{field}", view.total[key])


def _fill_number(messages: Sequence[Message], field: str, column: Ints) -> None:
    if messages and field in messages[0].DESCRIPTOR.fields_by_name:
        rows = np.flatnonzero(column)  # a message without a number says 0
        for row, number in zip(rows.tolist(), column[rows].tolist(), strict=True):
            setattr(messages[row], field, number)


def _fill_facts(view: View, messages: Sequence[Message]) -> None:
    """Every fact that the messages have a field for, by its name; values only if selected."""
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
            case None | Counts() | Shapes():
                pass  # counts are filled in with the numbers, and no message has a shape
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
    """The values of a tensor, flat; complex ones have no place in a message."""
    values = tensors.read(tensors.name[place])
    field = _TENSOR_FIELDS.get(values.dtype.kind)
    if field is None:
        return
    message.dtype = _TYPE_NUMBERS[tensors.dtype[place]]
    if values.dtype.kind in "ub":
        # Beyond 63 bits a number keeps its bits, which is how protobuf writes both kinds.
        values = values.astype(np.uint64).view(np.int64)
    flat = np.ravel(values).tolist()
    if field == "value_double":
        flat = [rounded(value) for value in flat]
    elif field == "value_str":
        flat = [value.decode("utf-8", "replace") for value in flat]
    getattr(message, field).extend(flat)
