"""Keras models and TensorFlow functions as graphs: traced, never run."""

from __future__ import annotations

import linecache
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from tfprof.columns import Coded, Strings
from tfprof.errors import InputError, OptionError
from tfprof.formats import graph_def
from tfprof.formats.records import Records
from tfprof.frameworks import tensorflow
from tfprof.model.builder import ProfileBuilder
from tfprof.model.code import Frame
from tfprof.sources import tf_functions

_HERE = Path(__file__).parent
_TRAINABLE = "_trainable_variables"

# What TensorFlow and Keras give us has no types that a checker knows.
Program: TypeAlias = Any
Graph: TypeAlias = Any
Stacks: TypeAlias = Mapping[tuple[str, str], list[Frame]]  # by op and function


@dataclass(frozen=True, slots=True, eq=False)
class Traced:
    """A program as a graph, and what a file would not tell of it."""

    records: Records
    ends: list[str]  # the ops that give its results, or run for what they do
    trainable: list[str]
    stacks: Stacks

    def add(self, builder: ProfileBuilder) -> None:
        """Define the ops of the program, and say which lines of code made them."""
        graph = graph_def.decode(self.records)
        found = tf_functions.flatten(self.records, graph, self.ends)
        tf_functions.add(found, builder)
        ops = builder.ids(self.trainable)
        ops = ops[ops >= 0]
        builder.add_types(ops, Coded(np.zeros(len(ops), np.int64), Strings([_TRAINABLE])))
        stacks = [self.stacks.get(key, []) for key in found.definitions()]
        builder.mark_has_code()
        builder.set_code(builder.ids(found.columns.name), list(map(builder.add_stack, stacks)))


def trace(program: Program, arguments: Sequence[Any], batch_size: int) -> Traced:
    """The graph of a Keras model, a `tf.function` or a concrete function."""
    if hasattr(program, "structured_input_signature"):
        if arguments or batch_size:
            raise OptionError("A concrete function has its arguments already: give it alone.")
        return _traced(program, "the function")
    if hasattr(program, "get_concrete_function"):
        if batch_size:
            raise OptionError("`batch_size` is for Keras models; give a function its arguments.")
        return _traced(program.get_concrete_function(*arguments), "the function")
    return _traced(_of_model(program, arguments, batch_size), _label(program))


def _of_model(model: Program, arguments: Sequence[Any], batch_size: int) -> Program:
    """The function that calls a Keras model as for a prediction."""
    tf = tensorflow()
    if arguments and batch_size:
        raise OptionError("Give `batch_size` or an example of the inputs, not both.")
    wanted = tuple(arguments) or (_inputs(model, batch_size or 1),)
    function = tf.function(lambda *inputs: model(*inputs, training=False))
    return function.get_concrete_function(*wanted)


def _inputs(model: Program, batch_size: int) -> Any:
    """What a model takes, with so many examples at once."""
    tf = tensorflow()

    def spec(tensor: Any) -> Any:
        first, *others = tensor.shape
        if None in others:
            raise OptionError(
                f"{_label(model)} takes inputs of any size: give an example of them, "
                "tfprof.load(model, example)."
            )
        return tf.TensorSpec((first or batch_size, *others), tensor.dtype, tensor.name)

    inputs = getattr(model, "inputs", None)
    if inputs:
        known = getattr(model, "_inputs_struct", None)
        if known is None:
            known = inputs[0] if len(inputs) == 1 else inputs
        return tf.nest.map_structure(spec, known)
    raise OptionError(
        f"{_label(model)} does not say what it takes: give an example, tfprof.load(model, example)."
    )


def _traced(concrete: Program, label: str) -> Traced:
    """The graph of a concrete function, with variables in place of what it captures."""
    graph = concrete.graph
    try:
        definition = graph.as_graph_def(add_shapes=True)
        names, trainable = _name_variables(graph, definition)
        data = definition.SerializeToString()
    except ValueError as error:  # protobuf has room for 2 GiB
        raise InputError(label, f"is too large for a graph: {error}") from None
    ends = [tensor.op.name for tensor in graph.outputs]
    ends += [op.name for op in graph.control_outputs]
    return Traced(
        Records(label, data), [names.get(end, end) for end in ends], trainable, dict(_stacks(graph))
    )


def _name_variables(graph: Graph, definition: Any) -> tuple[dict[str, str], list[str]]:
    """Make variables of the placeholders for them; their new names, and which are trainable."""
    variables = {id(variable.handle): variable for variable in graph.variables}
    nodes = {node.name: node for node in definition.node}
    taken = set(nodes)
    renamed: dict[str, str] = {}
    trainable = []
    for outside, inside in graph.captures:
        variable = variables.get(id(outside))
        node = nodes.get(inside.op.name)
        if variable is None or node is None:
            continue
        name = _free(variable.name.partition(":")[0], taken)
        renamed[node.name] = node.name = name
        node.op = "VarHandleOp"
        node.attr["dtype"].type = variable.dtype.as_datatype_enum
        node.attr["shape"].shape.CopyFrom(variable.shape.as_proto())
        if variable.trainable:
            trainable.append(name)
    for node in definition.node:
        node.input[:] = [_renamed(text, renamed) for text in node.input]
    return renamed, trainable


def _free(name: str, taken: set[str]) -> str:
    number, free = 0, name
    while free in taken:
        number += 1
        free = f"{name}_{number}"
    taken.add(free)
    return free


def _renamed(text: str, names: Mapping[str, str]) -> str:
    mark = "^" if text.startswith("^") else ""
    name, colon, slot = text.removeprefix("^").partition(":")
    return f"{mark}{names.get(name, name)}{colon}{slot}"


def _stacks(graph: Graph) -> Iterator[tuple[tuple[str, str], list[Frame]]]:
    """The lines of code that made each op, of the graph and of all functions it calls."""
    waiting = [("", graph)]
    seen = {""}
    while waiting:
        function, graph = waiting.pop()
        for op in graph.get_operations():
            yield (op.name, function), _frames(op)
        for name, called in getattr(graph, "_functions", {}).items():
            inner = getattr(called, "graph", None)
            if inner is not None and name not in seen:
                seen.add(name)
                waiting.append((name, inner))


def _frames(op: Any) -> list[Frame]:
    """The calls that made an op, outermost first, but for those within TensorFlow and tfprof."""
    stack = op.traceback
    users = getattr(stack, "get_user_frames", None)
    frames = stack if users is None else users()
    return [
        Frame(
            frame.filename,
            frame.lineno,
            frame.name,
            linecache.getline(frame.filename, frame.lineno).strip(),
            -1,
        )
        for frame in frames or ()
        if Path(frame.filename).parent != _HERE
    ]


def _label(model: Program) -> str:
    return f"the model {getattr(model, 'name', type(model).__name__)}"
