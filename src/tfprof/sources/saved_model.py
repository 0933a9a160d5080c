"""SavedModels: the ops, variables and code lines of one signature, including its functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import numpy as np

from tfprof.columns import Shapes, Strings
from tfprof.errors import InputError, nearest
from tfprof.formats import checkpoint
from tfprof.formats.checkpoint import Checkpoint, read_renamed
from tfprof.formats.file_spans import is_file
from tfprof.formats.graph_debug_info import DebugInfo
from tfprof.formats.object_graph import OBJECT_GRAPH, object_keys
from tfprof.formats.recognise import SAVED_MODEL_FILES
from tfprof.formats.saved_model import SAVED_MODEL, MetaGraph, decode
from tfprof.formats.saved_objects import SavedObjects
from tfprof.model.builder import ProfileBuilder
from tfprof.model.code import Frame
from tfprof.model.notes import Note, Subject
from tfprof.model.ops import CHECKPOINT_VARIABLE, TRAINABLE_VARIABLE
from tfprof.model.tensors import Tensors
from tfprof.sources import tf_functions, tf_layers, unread_variables
from tfprof.sources.source import Decoded, FileSummary, InputFile, summary
from tfprof.sources.tf_functions.variables import is_parameter

_DEFAULT = "serving_default"
_INTERNAL = "__saved_model_"  # the prefix of signatures that run when a model is loaded


def read(file: InputFile) -> Decoded[MetaGraph]:
    """The graph for serving."""
    return Decoded.of(file.content.first_inside(SAVED_MODEL_FILES).records(SAVED_MODEL), decode)


def add(found: Decoded[MetaGraph], builder: ProfileBuilder, file: InputFile) -> FileSummary:
    """Define the ops that a call of the signature runs, and the variables of the model."""
    records, model = found
    reading = file.reading
    name = _signature(records.path, model, reading.signature)
    roots = model.signatures[name]
    batch = tf_functions.Batch(reading.batch_size, default=1)
    flat = tf_functions.flatten(records, model.graph, roots, batch)
    tf_functions.add(flat, builder)
    builder.notes += _unsized_inputs(records.path, flat)
    variables = _variables(model.objects, flat)
    unread = _add_unread(model.objects, name, variables, builder)
    variables |= unread
    ops = builder.ids(variables)
    known = model.objects.variables
    trainable = [
        op
        for op, number in zip(ops.tolist(), variables.values(), strict=True)
        if number in known and known[number].is_trainable
    ]
    builder.add_type(TRAINABLE_VARIABLE, trainable)
    tf_layers.add(builder, *tf_layers.by_scope(flat, unread))
    folder = Path(records.path).parent
    try:
        _add_values(str(folder / "variables" / "variables"), variables, builder)
        _add_code(str(folder / "debug" / "saved_model_debug_info.pb"), flat, builder)
    except InputError as error:  # everything else is still correct
        builder.notes.append(str(error))
    return summary(file, ops=len(flat.columns.name))


def _signature(path: str, model: MetaGraph, wanted: str) -> str:
    """The name of the wanted signature; by default `serving_default`, or the only one."""
    known = [name for name in model.signatures if not name.startswith(_INTERNAL)]
    if wanted in known:
        return wanted
    if wanted:
        raise InputError(path, f"has no signature `{wanted}`. {nearest(wanted, known)}")
    if _DEFAULT in known:
        return _DEFAULT
    if len(known) == 1:
        return known[0]
    if known:
        names = ", ".join(sorted(known))
        raise InputError(path, f"has several signatures; choose one with --signature: {names}.")
    raise InputError(
        path, "has no signatures; save the model with tf.saved_model.save(…, signatures=…)."
    )


def _unsized_inputs(path: str, found: tf_functions.Flat) -> Iterator[str]:
    """Notes on inputs whose size is open, so that float ops cannot be counted."""
    columns = found.columns
    for row, kind in enumerate(columns.kind.values[code] for code in columns.kind.codes.tolist()):
        shape = columns.outputs.of(row, 0)
        if kind == "Placeholder" and shape is not None and min(shape, default=0) < 0:
            size = "x".join("?" if dim < 0 else str(dim) for dim in shape)
            text = (
                f"{path}: the input `{columns.name[row]}` has no fixed size ({size}); float ops "
                f"that depend on it are not counted. {_advice(shape)}"
            )
            yield Note(text, Subject.FLOAT_OPS)


def _advice(shape: tuple[int, ...]) -> str:
    if min(shape[1:], default=0) < 0:
        return "Export the model with a fixed input size; --batch_size sets only the first dim."
    return "Set the number of examples with --batch_size."


def _variables(objects: SavedObjects, found: tf_functions.Flat) -> dict[str, int]:
    """The names of variable ops, and the number of each variable's object, -1 if unknown.

    The last inputs of a call are the objects to which its function is bound, in order.
    """
    columns = found.columns
    is_variable = columns.shape.sizes() > 0
    variables = {columns.name[row]: -1 for row in np.flatnonzero(is_variable).tolist()}
    for call, function in found.calls:
        bound = objects.bound.get(function, [])
        edges = range(columns.input_offsets[call], columns.input_offsets[call + 1])
        given = [columns.input_name[edge] for edge in edges if columns.input_slot[edge] >= 0]
        for name, number in zip(reversed(given), reversed(bound), strict=False):
            if variables.get(name) == -1:
                variables[name] = number
    return variables


def _add_unread(
    objects: SavedObjects, signature: str, read: Mapping[str, int], builder: ProfileBuilder
) -> dict[str, int]:
    """Add the model's variables that the signature does not read; their ops and object ids."""
    unread = {
        number: objects.variables[number]
        for number in objects.unread(signature, read)
        if is_parameter(objects.variables[number].name)
    }
    names = unread_variables.define([(v.name, v.shape) for v in unread.values()], builder)
    return dict(zip(names, unread, strict=True))


def _add_values(prefix: str, variables: Mapping[str, int], builder: ProfileBuilder) -> None:
    """Make the values in the folder's checkpoint available."""
    if checkpoint.find(prefix) is None:
        return
    saved = checkpoint.open_checkpoint(prefix)
    entries = {entry.name: entry for entry in saved.tensors}
    keys = _keys(prefix, saved, OBJECT_GRAPH in entries, variables)
    held = sorted(name for name, key in keys.items() if key in entries)
    builder.add_type(CHECKPOINT_VARIABLE, builder.ids(held))
    builder.set_tensors(
        Tensors(
            name=Strings(held),
            dtype=Strings([entries[keys[name]].dtype for name in held]),
            shape=Shapes.of([entries[keys[name]].shape for name in held]),
            read=partial(read_renamed, saved, keys),
        )
    )


def _keys(
    prefix: str, saved: Checkpoint, has_objects: bool, variables: Mapping[str, int]
) -> dict[str, str]:
    """The checkpoint key of each variable: that of its object, or in old checkpoints its name."""
    if not has_objects:
        return {name: name for name in variables}
    keys = object_keys(prefix, bytes(saved.read(OBJECT_GRAPH).item()))
    return {
        name: keys[number]
        for name, number in variables.items()
        if 0 <= number < len(keys) and keys[number]
    }


def _add_code(path: str, found: tf_functions.Flat, builder: ProfileBuilder) -> None:
    """Add the lines of code that created the ops, if they were saved."""
    if not is_file(path):
        return
    info = DebugInfo(path)
    stacks = [info.stack_of(*op) for op in found.definitions()]
    rows = {
        stack: builder.add_stack([Frame(*line, -1) for line in info.lines(stack)])
        for stack in dict.fromkeys(stacks)
        if stack is not None
    }
    if rows:
        builder.mark_has_code()
    located = {place: rows[stack] for place, stack in enumerate(stacks) if stack is not None}
    ops = builder.ids(found.columns.name)
    builder.set_code(ops[list(located)], list(located.values()))
