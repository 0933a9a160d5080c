"""Traces Keras models and TensorFlow functions into graphs, without running them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from tfprof.capture import optimizer_ops
from tfprof.capture.keras_layers import KerasLayers
from tfprof.capture.traced_graph import TracedGraph, Variable, free_name, traced_graph
from tfprof.capture.variable_roles import VariableRoles
from tfprof.columns import Coded, Shape
from tfprof.errors import OptionError
from tfprof.frameworks import tensorflow
from tfprof.model.builder import ProfileBuilder
from tfprof.model.ops import (
    OPTIMIZER_OP,
    OPTIMIZER_VARIABLE,
    TAPE_GRADIENT,
    TAPE_SCOPE,
    TRAINABLE_VARIABLE,
)
from tfprof.sources import tf_functions, unread_variables

# TensorFlow and Keras have no type information.
Program: TypeAlias = Any


@dataclass(frozen=True, slots=True)
class Weight:
    """A variable of a Keras model."""

    name: str
    shape: Shape
    is_trainable: bool


@dataclass(frozen=True, slots=True, eq=False)
class TracedProgram:
    """The graph of a program, the types of its variables by name, its optimizers and layers.

    `unread` are the weights of a model that the program never reads.
    """

    graph: TracedGraph
    variable_types: dict[str, str]
    optimizers: list[str]
    layers: KerasLayers
    unread: Sequence[Weight] = ()

    def add(self, builder: ProfileBuilder) -> None:
        """Add the ops of the program, with the code lines that created them."""
        flat = self.graph.flatten()
        tf_functions.add(flat, builder)
        unread = unread_variables.define([(v.name, v.shape) for v in self.unread], builder)
        trainable = [name for name, v in zip(unread, self.unread, strict=True) if v.is_trainable]
        types = self._types(flat) | dict.fromkeys(trainable, TRAINABLE_VARIABLE)
        ops = builder.ids(list(types))
        rows = np.flatnonzero(ops >= 0)
        builder.add_types(ops[rows], Coded.of(list(types.values())).take(rows))
        builder.mark_has_code()
        names, stacks = list(flat.columns.name), self.graph.stacks_of(flat)
        placed = [
            stack.placed(name, self.layers) for name, stack in zip(names, stacks, strict=True)
        ]
        builder.set_code(builder.ids(names), list(map(builder.add_stack, placed)))

    def _types(self, flat: tf_functions.Flat) -> dict[str, str]:
        """The types of variables and of the ops of optimizers, by name."""
        names = list(flat.columns.name)
        types = self.variable_types
        slots = {name for name, role in types.items() if role == OPTIMIZER_VARIABLE}
        updates = optimizer_ops.find(names, flat.sources(), slots, self.optimizers)
        gradients = dict.fromkeys((name for name in names if TAPE_SCOPE in name), TAPE_GRADIENT)
        calls = {names[row] for row in flat.walked}
        found = gradients | {names[row]: OPTIMIZER_OP for row in updates}
        return {name: found[name] for name in found.keys() - calls} | types


def trace(program: Program, arguments: Sequence[Any], batch_size: int) -> TracedProgram:
    """Trace a Keras model, a `tf.function` or a concrete function."""
    if hasattr(program, "structured_input_signature"):
        if arguments or batch_size:
            raise OptionError("A concrete function already has its arguments: pass it alone.")
        return _traced(program, "the function")
    if hasattr(program, "get_concrete_function"):
        if batch_size:
            raise OptionError("`batch_size` is for Keras models; pass a function its arguments.")
        return _traced(program.get_concrete_function(*arguments), "the function")
    concrete = _inference(program, arguments, batch_size)
    return _traced(concrete, _label(program), _weights(program))


def _inference(model: Program, arguments: Sequence[Any], batch_size: int) -> Program:
    """A concrete function that calls a Keras model for inference."""
    tf = tensorflow()
    if arguments and batch_size:
        raise OptionError("Pass `batch_size` or an example of the inputs, not both.")
    wanted = tuple(arguments) or (_inputs(model, batch_size or 1),)
    function = tf.function(lambda *inputs: model(*inputs, training=False))
    return function.get_concrete_function(*wanted)


def _inputs(model: Program, batch_size: int) -> Any:
    """Specs of the inputs of a model, with this batch size."""
    tf = tensorflow()

    def spec(tensor: Any) -> Any:
        first, *others = tensor.shape
        if None in others:
            raise OptionError(
                f"{_label(model)} accepts inputs of any size: pass an example, "
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
        f"{_label(model)} declares no inputs: pass an example, tfprof.load(model, example)."
    )


def _traced(
    concrete: Program, label: str, weights: Mapping[int, Weight] | None = None
) -> TracedProgram:
    """The graph of a concrete function, including the variables that it captures.

    `weights` are those of a model, by the identity of their handles.
    """
    captured = {id(variable.handle): variable for variable in concrete.graph.variables}
    unread = dict(weights or {})
    roles = VariableRoles()
    roles.learn([concrete.graph])
    taken = {op.name for op in concrete.graph.get_operations()}
    variables: dict[str, Variable] = {}
    for outside, inside in concrete.graph.captures:
        variable = captured.get(id(outside))
        if variable is None:
            continue
        name = free_name(variable.name.partition(":")[0], taken)
        dtype, shape = variable.dtype.as_datatype_enum, variable.shape.as_proto()
        weight = unread.pop(id(outside), None)
        role = roles.type_of(outside) if weight is None else _role(weight)
        variables[inside.op.name] = Variable(name, dtype, shape, role)
    types = {variable.name: variable.type for variable in variables.values() if variable.type}
    graph = traced_graph(concrete.graph, label, variables)
    return TracedProgram(graph, types, roles.optimizers, roles.layers, list(unread.values()))


def _role(weight: Weight) -> str:
    return TRAINABLE_VARIABLE if weight.is_trainable else ""


def _weights(model: Program) -> dict[int, Weight]:
    """The weights of a Keras model, by the identity of their handles."""
    # The variables of frozen layers are only missing from this list.
    trainable = {id(weight) for weight in getattr(model, "trainable_weights", ())}
    found = {}
    for weight in getattr(model, "weights", ()):
        # In Keras 3, a weight has a variable; in Keras 2, it is one.
        variable = weight if hasattr(weight, "handle") else weight.value
        name = variable.name.partition(":")[0]
        shape = tuple(variable.shape.as_list())
        found[id(variable.handle)] = Weight(name, shape, id(weight) in trainable)
    return found


def _label(model: Program) -> str:
    return f"the model {getattr(model, 'name', type(model).__name__)}"
