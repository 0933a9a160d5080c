"""FunctionDef: the functions in a graph's library, with their bodies as columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tfprof.columns import Coded, Ints, Shapes, Strings, ints, offsets_of
from tfprof.columns import Shape as Dims
from tfprof.errors import InputError
from tfprof.formats.graph_def import NODE, RAW_NODE, ShapeReader
from tfprof.formats.records import Records
from tfprof.formats.scan_plan import Codes, Fields, Plan, Rows
from tfprof.formats.scanned import Scanned, scanned_or_parsed

_SIGNATURE = "raw.FunctionDef"  # everything except the nodes
_NODES = 3  # the field of a FunctionDef that holds its nodes


@dataclass(frozen=True, slots=True, eq=False)
class Body:
    """The nodes of a function, one row each; `start` and `end` bound their messages in the file.

    The inputs of node `i` are those from `input_offsets[i]` to `input_offsets[i + 1]`, spelled as
    in the file: `x` for an argument, `conv:output:0` for an output, `^conv` for a control input.
    """

    start: Ints
    end: Ints
    name: Strings
    op: Coded
    input_offsets: Ints
    input: Coded
    shape: Shapes
    output_offsets: Ints
    output_shape: Shapes


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """A function: its arguments, its results, the nodes run for their effects, and its body."""

    name: str
    arguments: tuple[str, ...]
    results: tuple[str, ...]  # spelled like inputs
    also_run: tuple[str, ...]  # names of nodes that run for their side effects
    body: Body


class Library:
    """The functions of a graph by name, each read on first access."""

    def __init__(self, records: Records, spans: list[tuple[int, int]]) -> None:
        """Index the functions of the FunctionDefLibraries at `spans` in `records`."""
        self._records = records
        self._spans: dict[str, tuple[int, int]] = {}
        for start, end in spans:
            for first, last in records.spans(1, start, end):
                # As elsewhere, the first definition of a name counts.
                self._spans.setdefault(self._signature(first, last).signature.name, (first, last))
        self._functions: dict[str, Function] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._spans

    def __len__(self) -> int:
        return len(self._spans)

    def __getitem__(self, name: str) -> Function:
        if name not in self._functions:
            self._functions[name] = self._read(name)
        return self._functions[name]

    @property
    def size(self) -> int:
        """The number of nodes in all functions."""
        spans = self._spans.values()
        return sum(sum(1 for _ in self._records.spans(_NODES, *span)) for span in spans)

    def _signature(self, start: int, end: int) -> Any:
        return self._records.parse(_SIGNATURE, start, end)

    def _read(self, name: str) -> Function:
        start, end = self._spans[name]
        message = self._signature(start, end)
        results = []
        for result in message.signature.output_arg:
            if result.name not in message.ret:
                path = self._records.path
                raise InputError(
                    path, f"the function `{name}` does not define its result `{result.name}`."
                )
            results.append(message.ret[result.name])
        arguments = tuple(argument.name for argument in message.signature.input_arg)
        also_run = tuple(message.control_ret.values())
        return Function(name, arguments, tuple(results), also_run, self._body(start, end))

    def _body(self, start: int, end: int) -> Body:
        records = Records(self._records.path, self._records.data[start:end])
        found = scanned_or_parsed(records, _scanned, _parsed)
        return Body(
            start=found.start + start,
            end=found.end + start,
            name=found.name,
            op=found.op,
            input_offsets=found.input_offsets,
            input=found.input,
            shape=found.shape,
            output_offsets=found.output_offsets,
            output_shape=found.output_shape,
        )


_BODY_NODE: Fields = {**NODE, 3: Codes("input")}
_PLAN = Plan({_NODES: Rows("node", _BODY_NODE, has_place=True)})


def _scanned(data: bytes) -> Body | None:
    found = Scanned.of(_PLAN, data)
    if found is None:
        return None
    return Body(
        start=found["node.start"],
        end=found["node.end"],
        name=found.strings("node.name"),
        op=found.coded("node.op"),
        input_offsets=found["node.input"],
        input=found.coded("input.code"),
        shape=found.shapes("node", "dim"),
        output_offsets=found["node.output"],
        output_shape=found.shapes("output", "output_dim"),
    )


def _parsed(records: Records) -> Body:
    reader = ShapeReader(records.path)
    spans = list(records.spans(_NODES))
    nodes = [records.parse(RAW_NODE, *span) for span in spans]
    outputs: list[list[Dims]] = [reader.outputs(node.attr) for node in nodes]
    return Body(
        start=ints([start for start, _ in spans]),
        end=ints([end for _, end in spans]),
        name=Strings([node.name for node in nodes]),
        op=Coded.of([node.op for node in nodes]),
        input_offsets=offsets_of(ints([len(node.input) for node in nodes])),
        input=Coded.of([text for node in nodes for text in node.input]),
        shape=Shapes.of([reader.own(node.attr) for node in nodes]),
        output_offsets=offsets_of(ints([len(shapes) for shapes in outputs])),
        output_shape=Shapes.of([shape for shapes in outputs for shape in shapes]),
    )
