"""Checkpoints: the variables that they contain, and their values on request."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from tfprof.columns import Shapes, Strings
from tfprof.formats.checkpoint import Checkpoint, open_checkpoint, read_renamed
from tfprof.formats.tensors import TensorEntry
from tfprof.model.builder import OpColumns, ProfileBuilder
from tfprof.model.notes import Note, Subject
from tfprof.model.ops import CHECKPOINT_VARIABLE, OPTIMIZER_VARIABLE, TRAINABLE_VARIABLE
from tfprof.model.tensors import Tensors
from tfprof.sources.source import FileSummary, InputFile, summary
from tfprof.sources.tf_variables import Role, variables_of

_KIND = "Variable"


def read(file: InputFile) -> Checkpoint:
    """The index of the checkpoint."""
    return open_checkpoint(file.path)


def add(checkpoint: Checkpoint, builder: ProfileBuilder, file: InputFile) -> FileSummary:
    """Add a type to the ops with a tensor in the checkpoint, and make the values available.

    If no other file has ops, the variables of the checkpoint become the ops.
    """
    entries = checkpoint.tensors
    if len(builder):
        names = [entry.name for entry in entries]
        builder.set_tensors(_tensors(names, entries, checkpoint))
    else:
        names = _define(file.path, checkpoint, builder)
    builder.add_type(CHECKPOINT_VARIABLE, builder.ids(names))
    return summary(file, tensors=len(entries), values=sum(entry.size for entry in entries))


def _define(path: str, checkpoint: Checkpoint, builder: ProfileBuilder) -> list[str]:
    """Define an op for each variable; parameters and the optimizer's variables have a shape."""
    variables = variables_of(path, checkpoint)
    names = [variable.name for variable in variables]
    shapes = [None if one.role is Role.STATE else one.entry.shape for one in variables]
    builder.add_ops(OpColumns.variables(names, _KIND, shapes))
    builder.set_tensors(_tensors(names, [one.entry for one in variables], checkpoint))
    text = f"{path} contains variables only; float operations and times require other files."
    builder.notes.append(Note(text, Subject.FLOAT_OPS | Subject.TIME))
    of_optimizer = [one.name for one in variables if one.role is Role.OPTIMIZER]
    builder.add_type(OPTIMIZER_VARIABLE, builder.ids(of_optimizer))
    trainable = [one.name for one in variables if one.is_trainable]
    builder.add_type(TRAINABLE_VARIABLE, builder.ids(trainable))
    return names


def _tensors(
    names: Sequence[str], entries: Sequence[TensorEntry], checkpoint: Checkpoint
) -> Tensors:
    keys = {name: entry.name for name, entry in zip(names, entries, strict=True)}
    is_renamed = any(name != key for name, key in keys.items())
    return Tensors(
        name=Strings(names),
        dtype=Strings([entry.dtype for entry in entries]),
        shape=Shapes.of([entry.shape for entry in entries]),
        read=partial(read_renamed, checkpoint, keys) if is_renamed else checkpoint.read,
    )
