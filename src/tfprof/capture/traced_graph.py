"""A graph traced by TensorFlow, serialised for flattening, and the code lines of its ops."""

from __future__ import annotations

import linecache
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from tfprof.capture.fed_shapes import Fed
from tfprof.capture.layer_lines import LayerLines, runs_layers
from tfprof.capture.runners import is_runner
from tfprof.errors import InputError
from tfprof.formats import graph_def
from tfprof.formats.records import Records
from tfprof.frameworks import tensorflow
from tfprof.model.code import Frame
from tfprof.sources import tf_functions
from tfprof.views.code import is_installed

# TensorFlow has no type information.
Graph: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable that is an argument of a graph."""

    name: str
    dtype: int
    shape: Any  # a TensorShapeProto
    type: str = ""  # what it is for, such as `_trainable_variables`


@dataclass(frozen=True, slots=True, eq=False)
class TracedGraph:
    """A serialised graph, with facts that the message lacks."""

    records: Records
    ends: list[str]  # ops that compute its results or run for their side effects
    stacks: Mapping[tuple[str, str], Stack]  # by op and function

    def flatten(self, run_name: Callable[[str], str] | None = None) -> tf_functions.Flat:
        """All ops that run, with the names that `tf_functions.flatten` gives them."""
        graph = graph_def.decode(self.records)
        return tf_functions.flatten(self.records, graph, self.ends, run_name=run_name)

    def stacks_of(self, flat: tf_functions.Flat) -> list[Stack]:
        """The calls that created each op."""
        return [self.stacks.get(key, Stack([])) for key in flat.definitions()]


def traced_graph(
    graph: Graph, label: str, variables: Mapping[str, Variable], fed: Fed | None = None
) -> TracedGraph:
    """The graph of a function, with the shapes that were fed to it.

    Arguments named in `variables` become variables.
    """
    try:
        definition = graph.as_graph_def(add_shapes=True)
        if fed is not None:
            fed.substitute(definition, [tensor.op.name for tensor in graph.inputs])
        _replace_arguments(definition, variables)
        data = definition.SerializeToString()
    except ValueError as error:  # protobuf allows 2 GiB
        raise InputError(label, f"is too large to serialise: {error}") from None
    ends = [tensor.op.name for tensor in graph.outputs]
    ends += [op.name for op in graph.control_outputs]
    ends = [_named(end, variables) for end in ends]
    return TracedGraph(Records(label, data), ends, dict(_stacks(graph, variables)))


def free_name(name: str, taken: set[str]) -> str:
    """`name`, with a number appended if it is taken; the result is added to `taken`."""
    number, free = 0, name
    while free in taken:
        number += 1
        free = f"{name}_{number}"
    taken.add(free)
    return free


def _replace_arguments(definition: Any, variables: Mapping[str, Variable]) -> None:
    for node in definition.node:
        node.input[:] = [_renamed(text, variables) for text in node.input]
        if (variable := variables.get(node.name)) is not None:
            node.name, node.op = variable.name, "VarHandleOp"
            node.attr["dtype"].type = variable.dtype
            node.attr["shape"].shape.CopyFrom(variable.shape)


def _renamed(text: str, variables: Mapping[str, Variable]) -> str:
    mark = "^" if text.startswith("^") else ""
    name, colon, slot = text.removeprefix("^").partition(":")
    return f"{mark}{_named(name, variables)}{colon}{slot}"


def _named(argument: str, variables: Mapping[str, Variable]) -> str:
    return variables[argument].name if argument in variables else argument


def _stacks(
    graph: Graph, variables: Mapping[str, Variable]
) -> Iterator[tuple[tuple[str, str], Stack]]:
    """The calls that created each op of the graph and of all functions that it calls."""
    stack_of = _StackReader()
    for op in graph.get_operations():
        yield (_named(op.name, variables), ""), stack_of(op)
    for function, body in _functions(graph).items():
        for op in body.get_operations():
            yield (op.name, function), stack_of(op)


def _functions(graph: Graph) -> dict[str, Graph]:
    """The graphs of all functions that `graph` calls, directly or indirectly, by name."""
    found: dict[str, Graph] = {}
    waiting = [graph]
    while waiting:
        for name, called in getattr(waiting.pop(), "_functions", {}).items():
            inner = getattr(called, "graph", None)
            if inner is not None and name not in found:
                found[name] = inner
                waiting.append(inner)
    return found


class Stack(NamedTuple):
    """The program's own calls that created an op, outermost first.

    If there are none, `frames` has the calls in installed packages. `runs_layers` says whether
    Keras called a layer for the innermost of them, so that no line of the program did. `folded` are
    the calls in installed packages that are left out, and `is_inside` says whether the last of them
    created the op.
    """

    frames: list[Frame]
    runs_layers: bool = False
    folded: tuple[Frame, ...] = ()
    is_inside: bool = False

    def placed(self, op: str, layers: LayerLines) -> list[Frame]:
        """The calls to which an op is attributed: those that created its layer, if known."""
        layer = layers.of_op(op) if self.runs_layers else None
        if layer is None:
            return self.frames
        reader = _FrameReader()
        created = own_frames([reader(*call) for call in layer.created])
        return created or [*self.frames, Frame(layer.name, 0, layer.kind, "", -1)]


def own_frames(frames: Sequence[Frame | None]) -> list[Frame]:
    """The frames that are not in installed packages."""
    return [frame for frame in frames if frame is not None and not is_installed(frame.file)]


class _FrameReader:
    """Frames of calls; None for those in TensorFlow and tfprof."""

    def __init__(self) -> None:
        self._tensorflow = f"{Path(tensorflow().__file__).parent}{os.sep}"
        self._known: dict[tuple[str, int, str], Frame | None] = {}

    def __call__(self, *call: Any) -> Frame | None:
        """The frame of a file, line and function; None if it is not the program's own."""
        if call not in self._known:
            file, line, function = call
            text = linecache.getline(file, line).strip()
            is_other = file.startswith(self._tensorflow) or is_runner(file, function)
            self._known[call] = None if is_other else Frame(file, line, function, text, -1)
        return self._known[call]


class _StackReader:
    """Reads the stacks of ops; caches frames, as most stacks share most of theirs."""

    def __init__(self) -> None:
        self._frame = _FrameReader()

    def __call__(self, op: Any) -> Stack:
        stack = op.traceback
        users = getattr(stack, "get_user_frames", None)
        frames = (stack if users is None else users()) or ()
        found = [self._frame(frame.filename, frame.lineno, frame.name) for frame in frames]
        known = [frame for frame in found if frame is not None]
        own = own_frames(known)
        below = known[known.index(own[-1]) + 1 :] if own else known
        folded = tuple(frame for frame in known if is_installed(frame.file)) if own else ()
        runs = any(runs_layers(frame.file) for frame in below)
        return Stack(own or known, runs, folded, bool(own and below))
