"""Encodes the ops of a model as records of TensorFlow's files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from math import prod
from random import Random
from typing import Any

from call_stacks import Frame, stack
from google.protobuf import text_format
from towers import Call, Op, Shape

from tfprof.formats.messages import message_class

DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0"

_NODE = message_class("tensorflow.NodeDef")
_ATTR = message_class("tensorflow.AttrValue")
_STATS = message_class("tensorflow.NodeExecStats")
_ENTRY = message_class("tensorflow.tfprof.OpLogEntry")
_LOG = message_class("tensorflow.tfprof.OpLogProto")

_FLOAT, _INT32 = 1, 3
_INT32_KINDS = frozenset({"ShapeN"})
_NEVER_RUN = frozenset({"VariableV2", "Const"})


def framed(field: int, content: bytes) -> bytes:
    """A length-delimited field of a message: tag, length and `content`."""
    return header(field, len(content)) + content


def header(field: int, length: int) -> bytes:
    """The tag and length that precede the `length` bytes of a field."""
    return _varint(field << 3 | 2) + _varint(length)


def _varint(number: int) -> bytes:
    digits = bytearray()
    while number > 0x7F:
        digits.append(number & 0x7F | 0x80)
        number >>= 7
    digits.append(number)
    return bytes(digits)


def node(op: Op) -> bytes:
    """The NodeDef of an op."""
    # Concatenated messages are one message. Many ops have the same attributes: encode them once.
    own = _NODE(name=op.name, op=op.kind, input=op.inputs)
    if op.home:
        own.attr["_class"].list.s.append(f"loc:@{op.home}".encode())
    return bytes(own.SerializeToString()) + _encoded_attributes(*_look(op))


def node_text(op: Op) -> str:
    """The NodeDef of an op as a field `node` of protobuf text."""
    inputs = "".join(f'  input: "{source}"\n' for source in op.inputs)
    home = _HOME_TEXT.format(op.home) if op.home else ""
    attributes = _attributes_as_text(*_look(op))
    return f'node {{\n  name: "{op.name}"\n  op: "{op.kind}"\n{inputs}{home}{attributes}}}\n'


_HOME_TEXT = """\
  attr {{
    key: "_class"
    value {{
      list {{
        s: "loc:@{}"
      }}
    }}
  }}
"""


def _look(op: Op) -> tuple[str, int, tuple[Shape, ...]]:
    """What the attributes of an op depend on, except for `_class`, its placement."""
    return op.kind, len(op.inputs), op.outputs


@cache
def _encoded_attributes(kind: str, input_count: int, outputs: tuple[Shape, ...]) -> bytes:
    attributes = _attributes(kind, input_count, outputs)
    return bytes(_NODE(attr=attributes).SerializeToString(deterministic=True))


@cache
def _attributes_as_text(kind: str, input_count: int, outputs: tuple[Shape, ...]) -> str:
    text = text_format.MessageToString(_NODE(attr=_attributes(kind, input_count, outputs)))
    return "".join(f"  {line}\n" for line in text.splitlines())


def _attributes(kind: str, input_count: int, outputs: tuple[Shape, ...]) -> dict[str, Any]:
    plain = dict(_ATTRIBUTES.get(kind, _T))
    if kind in ("AddN", "ShapeN"):
        plain["N"] = {"i": input_count}
    if kind == "Const":
        kind_of_number = {"type": _FLOAT if outputs == ((),) else _INT32}
        tensor = {"dtype": kind_of_number["type"], "tensor_shape": _shape(outputs[0])}
        plain |= {"dtype": kind_of_number, "value": {"tensor": tensor}}
    if kind == "VariableV2":
        plain["shape"] = {"shape": _shape(outputs[0])}
    if outputs:
        plain["_output_shapes"] = {"list": {"shape": [_shape(shape) for shape in outputs]}}
    return {name: _ATTR(**value) for name, value in sorted(plain.items())}


def _shape(dims: Shape) -> dict[str, Any]:
    return {"dim": [{"size": dim} for dim in dims]}


_T = {"T": {"type": _FLOAT}}
_NHWC = {"data_format": {"s": b"NHWC"}}
_KEEPS_DIMS = {"Tidx": {"type": _INT32}, "keep_dims": {"b": False}}
_CONVOLUTION = {
    **_T,
    **_NHWC,
    "dilations": {"list": {"i": [1, 1, 1, 1]}},
    "explicit_paddings": {"list": {}},
    "padding": {"s": b"SAME"},
    "strides": {"list": {"i": [1, 1, 1, 1]}},
    "use_cudnn_on_gpu": {"b": True},
}

_ATTRIBUTES: Mapping[str, Mapping[str, Any]] = {
    "ApplyMomentum": {**_T, "use_locking": {"b": False}, "use_nesterov": {"b": False}},
    "BiasAdd": {**_T, **_NHWC},
    "BiasAddGrad": {**_T, **_NHWC},
    "Const": {},
    "Conv2D": _CONVOLUTION,
    "Conv2DBackpropFilter": _CONVOLUTION,
    "Conv2DBackpropInput": _CONVOLUTION,
    "FIFOQueueV2": {
        "capacity": {"i": 64},
        "component_types": {"list": {"type": [_FLOAT, _INT32]}},
        "container": {"s": b""},
        "shared_name": {"s": b""},
    },
    "Fill": {**_T, "index_type": {"type": _INT32}},
    "MatMul": {**_T, "transpose_a": {"b": False}, "transpose_b": {"b": False}},
    "Mean": {**_T, **_KEEPS_DIMS},
    "NoOp": {},
    "QueueDequeueManyV2": {
        "component_types": {"list": {"type": [_FLOAT, _INT32]}},
        "timeout_ms": {"i": -1},
    },
    "Reshape": {**_T, "Tshape": {"type": _INT32}},
    "ShapeN": {**_T, "out_type": {"type": _INT32}},
    "SparseSoftmaxCrossEntropyWithLogits": {**_T, "Tlabels": {"type": _INT32}},
    "Sum": {**_T, **_KEEPS_DIMS},
    "Tile": {**_T, "Tmultiples": {"type": _INT32}},
    "VariableV2": {
        "container": {"s": b""},
        "dtype": {"type": _FLOAT},
        "shared_name": {"s": b""},
    },
}


class Step:
    """One recorded step, in which ops run one after another."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)  # noqa: S311 -- not used for cryptography
        self._now = 1_700_000_000_000_000
        self._address = 0x7F31_0000_0000

    def stats(self, op: Op) -> bytes | None:
        """The NodeExecStats of an op, or None for a variable or a constant."""
        if op.kind in _NEVER_RUN:
            return None
        sizes = [4 * prod(shape) for shape in op.outputs]
        micros = 2 + sum(sizes) // 8192 + op.float_ops // 20_000_000 + self._random.randrange(12)
        stats = _STATS(
            node_name=op.name,
            all_start_micros=self._now,
            op_start_rel_micros=1,
            op_end_rel_micros=micros,
            all_end_rel_micros=micros + 1,
            scheduled_micros=self._now - 3,
            thread_id=op.call.stage,
        )
        if sizes:
            self._add_memory(stats, op, sizes)
        self._now += micros + 2
        return bytes(stats.SerializeToString())

    def _add_memory(self, stats: Any, op: Op, sizes: list[int]) -> None:
        total = sum(sizes)
        stats.memory.add(allocator_name="cpu", total_bytes=total, peak_bytes=total)
        if op.kind.startswith("Conv2D"):
            stats.memory_stats.temp_memory_size = total
        dtype = _INT32 if op.kind in _INT32_KINDS else _FLOAT
        for slot, (shape, size) in enumerate(zip(op.outputs, sizes, strict=True)):
            tensor = stats.output.add(slot=slot).tensor_description
            tensor.CopyFrom(_tensor(dtype, shape, size))
            tensor.allocation_description.ptr = self._address
            self._address += -(-size // 256) * 256


@cache
def _tensor(dtype: int, shape: Shape, size: int) -> Any:
    memory = {"requested_bytes": size, "allocated_bytes": size, "allocator_name": "cpu"}
    described = message_class("tensorflow.TensorDescription")
    return described(dtype=dtype, shape=_shape(shape), allocation_description=memory)


class Log:
    """The op log: one entry per op, and a table of the strings in their code lines."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {"none": 0}
        self._stacks: dict[tuple[Call, str], bytes] = {}

    def entry(self, op: Op) -> bytes:
        """The OpLogEntry of an op."""
        key = (op.call, op.kind)
        if key not in self._stacks:
            self._stacks[key] = self._encoded_stack(stack(*key))
        types = ["_trainable_variables"] if op.is_trainable else []
        own = _ENTRY(name=op.name, float_ops=op.float_ops, types=types)
        return bytes(own.SerializeToString()) + self._stacks[key]

    def strings(self) -> bytes:
        """The table of strings; write it after the last entry."""
        table = {number: text for text, number in self._ids.items()}
        return bytes(_LOG(id_to_string=table).SerializeToString(deterministic=True))

    def _encoded_stack(self, frames: Iterable[Frame]) -> bytes:
        traces = [
            {
                "file_id": self._id(frame.file),
                "lineno": frame.line,
                "function_id": self._id(frame.function),
                "func_start_line": frame.function_line,
            }
            for frame in frames
        ]
        return bytes(_ENTRY(code_def={"traces": traces}).SerializeToString())

    def _id(self, text: str) -> int:
        return self._ids.setdefault(text, len(self._ids))
