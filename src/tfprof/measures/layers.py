"""The layers of a model and the ops of each: as stated, or else the scopes that have variables."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from tfprof.columns import Bools, Ints, NameTable, Ragged, Shape, Shapes, Strings, ints
from tfprof.kernels import trees
from tfprof.memo import remembered
from tfprof.model.layers import MOST_DEPTH, NO_LAYER, Layer, Layers, LayersBuilder
from tfprof.model.ops import NOT_A_GRADIENT, OPTIMIZER_VARIABLE, Ops, Phase
from tfprof.model.profile import ProfileColumns

_CONSTANT = "Const"
_STATIC_DISTANCE = 8  # from a variable to its share of a regularization loss
# The scopes of calls of functions, and how they start.
_CALL_SCOPES = re.compile(r"^(?:(?:Stateful)?PartitionedCall(?:_\d+)?/)+", re.ASCII)
_CALLS = ("StatefulPartitionedCall", "PartitionedCall")
_INPUTS = "Placeholder"  # the start of the kinds of ops that have a shape but are no variables


class ModelLayers(NamedTuple):
    """The table of layers, the layer of each op, or `NO_LAYER`, and which ops are slots."""

    table: Layers
    of_ops: Ints
    is_slot: Bools  # variables of an optimizer


@remembered
def model_layers(profile: ProfileColumns) -> ModelLayers:
    """The layers that a source stated; without any, each scope that has variables is a layer."""
    if len(profile.layers):
        is_slot = profile.ops.types.having(OPTIMIZER_VARIABLE)
        return ModelLayers(profile.layers, profile.ops.layer, is_slot)
    return _by_variable_scope(profile)


def _by_variable_scope(profile: ProfileColumns) -> ModelLayers:
    """A layer for each scope with variables in it; gradients belong to their forward ops' layers.

    A variable in the scope of another one is a slot of an optimizer and belongs to no layer.
    """
    ops = profile.ops
    weights = np.flatnonzero((ops.shape.sizes() > 0) & ~_is_input(ops))
    names = list(ops.name.take(weights))
    known = {*names}
    is_slot = ops.types.having(OPTIMIZER_VARIABLE)
    inside = [name.rpartition("/")[0] in known for name in names]
    is_slot[weights] |= np.array(inside, np.bool_)
    in_order = np.argsort(ops.defined[weights])
    paths = _scopes([names[place] for place in in_order.tolist() if not is_slot[weights[place]]])
    builder = LayersBuilder()
    places = {path: place for place, path in enumerate(paths)}
    ids = builder.add([_layer(path, places) for path in paths])
    found = np.append(builder.rows()[ids], NO_LAYER)[_enclosing_ops(ops.name, Strings(paths))]
    found[is_slot] = NO_LAYER
    gradients = np.flatnonzero(profile.forward_of != NOT_A_GRADIENT)
    found[gradients] = np.append(found, NO_LAYER)[np.maximum(profile.forward_of[gradients], -1)]
    return ModelLayers(builder.build(), ints(found), is_slot)


def _is_input(ops: Ops) -> Bools:
    return ops.kind.values.starts_with(_INPUTS)[ops.kind.codes]


def _scopes(names: list[str]) -> list[str]:
    """All scopes of these names, outer ones first, in the order of the names."""
    found: dict[str, None] = {}
    for name in names:
        parts = name.split("/")
        if all(parts):  # a scope without a name cannot be a layer
            inner = range(1, min(len(parts), MOST_DEPTH + 1))
            found |= dict.fromkeys("/".join(parts[:end]) for end in inner)
    return list(found)


def _layer(path: str, places: dict[str, int]) -> Layer:
    above, _, name = path.rpartition("/")
    return Layer(name, places.get(above, NO_LAYER))


def _enclosing_ops(names: Strings, scopes: Strings) -> Ints:
    """For each op, the innermost of `scopes` that it is in, or -1, whichever calls led to it."""
    found = _enclosing(names, scopes)
    called = np.flatnonzero(names.starts_with(_CALLS[0]) | names.starts_with(_CALLS[1]))
    if len(called):
        inner = [_CALL_SCOPES.sub("", name) for name in names.take(called)]
        known = {name: place for place, name in enumerate(dict.fromkeys(inner))}
        found[called] = _enclosing(Strings(known), scopes)[[known[name] for name in inner]]
    return found


def _enclosing(names: Strings, scopes: Strings) -> Ints:
    """For each name, the innermost of `scopes` that it is in, or -1."""
    rows = names.scope_rows()
    table = NameTable()
    table.add(scopes)
    near = np.flatnonzero(rows.depth <= MOST_DEPTH)
    first, last = names.starts[rows.first[near]], rows.end[near]
    of_row = np.full(len(rows.first), -1)
    of_row[near] = table.find(Strings.of_spans(names.data, first, last))
    ends = trees.ends_of(rows.depth)
    inner = np.full(len(of_row), -1)
    for row in np.flatnonzero(of_row >= 0).tolist():  # inner scopes follow outer ones
        inner[row : ends[row]] = of_row[row]
    found = np.full(len(names), -1)
    is_name = rows.whole >= 0
    found[rows.whole[is_name]] = inner[is_name]
    return found


@remembered
def output_shapes(profile: ProfileColumns) -> Shapes:
    """The output shape of each layer: as stated, or of its last result that is used outside.

    Open dims of stated shapes, such as the batch, are those of the result if they are known there.
    """
    stated = model_layers(profile).table.output_shape
    is_open = [shape is None or min(shape, default=0) < 0 for shape in stated.values]
    if not len(profile.ops) or not any(is_open):
        return stated
    last = _last_results(profile)
    results = first_outputs(profile.ops, np.maximum(last, 0))
    shapes = [
        _closed(stated[row], results[row] if found >= 0 else None)
        for row, found in enumerate(last.tolist())
    ]
    return Shapes.of(shapes)


def _closed(stated: Shape, result: Shape) -> Shape:
    """`stated`, or `result` if it is the same shape with fewer open dims."""
    if stated is None or result is None or len(stated) != len(result):
        return result if stated is None else stated
    fits = all(side in (-1, other) for side, other in zip(stated, result, strict=True))
    return result if fits else stated


def first_outputs(ops: Ops, chosen: Ints) -> Shapes:
    """The shape of the first output of each of `chosen`: from the graph, or else from a run."""
    columns = (ops.outputs, ops.seen_outputs)
    both = Shapes.joined([*(column.shape for column in columns), Shapes.of([None])])
    is_known = both.are_known()
    row = np.full(len(chosen), len(both) - 1)
    before = 0
    for column in columns:
        first = column.offsets[chosen]
        has_output = first < column.offsets[chosen + 1]
        place = np.where(has_output, first + before, len(both) - 1)
        row = np.where(is_known[row], row, place)
        before += len(column.shape)
    return both.take(row)


def _last_results(profile: ProfileColumns) -> Ints:
    """For each layer, the forward op defined last whose output is used outside it, or -1."""
    table, layer, _ = model_layers(profile)
    ops, is_forward = profile.ops, profile.phase == Phase.FORWARD
    ends = trees.ends_of(_depths(table.parent))
    edges = Ragged(ops.inputs.offsets, ops.inputs.source)
    unused = np.flatnonzero(~ops.is_source())  # results of the model
    source = np.concatenate((edges.values, unused))
    user = np.concatenate((edges.owners, np.full(len(unused), -1)))
    is_data = np.concatenate((ops.inputs.slot >= 0, np.ones(len(unused), np.bool_)))
    has_shape = first_outputs(ops, np.arange(len(ops))).are_known()
    is_result = is_forward & has_shape & ~_is_static(ops)
    kept = is_data & (source >= 0) & is_result[source] & np.append(is_forward, True)[user]
    source, inside = source[kept], np.append(layer, NO_LAYER)[user[kept]]
    outer = layer[source]
    latest = np.full(len(table), -1)
    while len(source):
        leaves = (outer >= 0) & ~((inside >= outer) & (inside < np.append(ends, 0)[outer]))
        source, inside, outer = source[leaves], inside[leaves], outer[leaves]
        np.maximum.at(latest, outer, ops.defined[source])
        outer = table.parent[outer]
    by_definition = np.empty(len(ops) + 1, np.int64)
    by_definition[ops.defined] = np.arange(len(ops))
    by_definition[-1] = -1
    return ints(by_definition[latest])


def _is_static(ops: Ops) -> Bools:
    """Whether each op depends only on variables and constants, up to a distance of a few ops."""
    code = ops.kind.values.row_of(_CONSTANT)
    static: Bools = (ops.shape.sizes() > 0) | (ops.kind.codes == code)
    inputs = Ragged(ops.inputs.offsets, ops.inputs.source)
    for _ in range(_STATIC_DISTANCE):
        static |= (inputs.lengths > 0) & ~inputs.any(~np.append(static, False)[inputs.values])
    return static


def _depths(parents: Ints) -> Ints:
    """The depth of each layer, 1 at the top."""
    depths: list[int] = []
    for parent in parents.tolist():
        depths.append(1 if parent < 0 else depths[parent] + 1)
    return ints(depths)
