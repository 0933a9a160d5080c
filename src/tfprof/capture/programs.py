"""Traces Keras models and TensorFlow functions into graphs, without running them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from tfprof.capture import optimizer_ops
from tfprof.capture.keras_layers import CreatedLayers
from tfprof.capture.keras_models import FoundLayers, UsedModels, Weight, of_models
from tfprof.capture.layer_lines import LayerLines
from tfprof.capture.traced_graph import TracedGraph, Variable, free_name, traced_graph
from tfprof.capture.variable_roles import VariableRoles
from tfprof.columns import Coded
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
from tfprof.sources import tf_functions, tf_layers, unread_variables

# TensorFlow and Keras have no type information.
Program: TypeAlias = Any


@dataclass(frozen=True, slots=True, eq=False)
class TracedProgram:
    """The graph of a program, the types of its variables by name, its optimizers and layers.

    `handles` are the identities of the handles of all variables, by name; `models` refers to
    these, as does `unread`, the weights of a model that the program never reads.
    """

    graph: TracedGraph
    variable_types: dict[str, str]
    optimizers: list[str]
    handles: dict[str, int]
    models: FoundLayers
    unread: Mapping[int, Weight]

    def add(self, builder: ProfileBuilder) -> None:
        """Add the ops of the program, with the code lines that created them."""
        flat = self.graph.flatten()
        tf_functions.add(flat, builder)
        weights = self.unread.values()
        unread = unread_variables.define([(v.name, v.shape) for v in weights], builder)
        trainable = [name for name, v in zip(unread, weights, strict=True) if v.is_trainable]
        types = self._types(flat) | dict.fromkeys(trainable, TRAINABLE_VARIABLE)
        ops = builder.ids(list(types))
        rows = np.flatnonzero(ops >= 0)
        builder.add_types(ops[rows], Coded.of(list(types.values())).take(rows))
        builder.mark_has_code()
        names, stacks = list(flat.columns.name), self.graph.stacks_of(flat)
        layers = LayerLines(self.models, CreatedLayers(), names)
        placed = [stack.placed(name, layers) for name, stack in zip(names, stacks, strict=True)]
        builder.set_code(builder.ids(names), list(map(builder.add_stack, placed)))
        handles = self.handles | dict(zip(unread, self.unread, strict=True))
        tf_layers.add(builder, self.models.layers, self.models.owners(handles))

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
    return _traced(concrete, _label(program), program)


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


def _traced(concrete: Program, label: str, model: Program = None) -> TracedProgram:
    """The graph of a concrete function, including the variables that it captures.

    `model` is the model that was traced, if it is one; others are found by their variables.
    """
    captured = {id(variable.handle): variable for variable in concrete.graph.variables}
    models = _models(concrete, model)
    unread = dict(models.weights) if model is not None else {}
    roles = VariableRoles()
    roles.learn([concrete.graph])
    taken = {op.name for op in concrete.graph.get_operations()}
    variables: dict[str, Variable] = {}
    handles: dict[str, int] = {}
    for outside, inside in concrete.graph.captures:
        variable = captured.get(id(outside))
        if variable is None:
            continue
        name = free_name(variable.name.partition(":")[0], taken)
        dtype, shape = variable.dtype.as_datatype_enum, variable.shape.as_proto()
        weight = unread.pop(id(outside), None)
        role = roles.type_of(outside) if weight is None else _role(weight)
        variables[inside.op.name] = Variable(name, dtype, shape, role)
        handles[name] = id(outside)
    types = {variable.name: variable.type for variable in variables.values() if variable.type}
    graph = traced_graph(concrete.graph, label, variables)
    return TracedProgram(graph, types, roles.optimizers, handles, models, unread)


def _models(concrete: Program, model: Program) -> FoundLayers:
    """The layers of the model, or of the models whose variables the function captures."""
    if model is not None:
        return of_models([model])
    used = UsedModels()
    used.learn([concrete.graph])
    return used.describe({id(outside) for outside, _ in concrete.graph.captures})


def _role(weight: Weight) -> str:
    return TRAINABLE_VARIABLE if weight.is_trainable else ""


def _label(model: Program) -> str:
    return f"the model {getattr(model, 'name', type(model).__name__)}"
