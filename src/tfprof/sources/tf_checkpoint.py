"""Checkpoints: the variables that they contain, and their values on request."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tfprof.columns import Coded, Shapes, Strings
from tfprof.formats.checkpoint import Checkpoint, RenamedTensors, open_checkpoint
from tfprof.formats.tensors import TensorEntry
from tfprof.model.builder import OpColumns, ProfileBuilder
from tfprof.model.notes import Note, Subject
from tfprof.model.ops import OPTIMIZER_VARIABLE
from tfprof.model.tensors import Tensors
from tfprof.sources.source import FileSummary, InputFile, summary
from tfprof.sources.tf_variables import Role, variables_of

CHECKPOINT_TYPE = "_checkpoint_variables"
TRAINABLE_TYPE = "_trainable_variables"
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
    _add_type(CHECKPOINT_TYPE, names, builder)
    return summary(file, tensors=len(entries), values=sum(entry.size for entry in entries))


def _define(path: str, checkpoint: Checkpoint, builder: ProfileBuilder) -> list[str]:
    """Define an op for each variable; parameters and the optimizer's variables have a shape."""
    variables = variables_of(path, checkpoint)
    names = [variable.name for variable in variables]
    shapes = [None if one.role is Role.STATE else one.entry.shape for one in variables]
    nothing: list[tuple[()]] = [()] * len(names)
    builder.add_ops(OpColumns.of(names, [_KIND] * len(names), nothing, shapes, nothing))
    builder.set_tensors(_tensors(names, [one.entry for one in variables], checkpoint))
    text = f"{path} contains variables only; float operations and times require other files."
    builder.notes.append(Note(text, Subject.FLOAT_OPS | Subject.TIME))
    of_optimizer = [one.name for one in variables if one.role is Role.OPTIMIZER]
    _add_type(OPTIMIZER_VARIABLE, of_optimizer, builder)
    _add_type(TRAINABLE_TYPE, [one.name for one in variables if one.is_trainable], builder)
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
        read=RenamedTensors(checkpoint, keys) if is_renamed else checkpoint.read,
    )


def _add_type(name: str, variables: Sequence[str], builder: ProfileBuilder) -> None:
    """Add a type to the ops of these variables."""
    ops = builder.ids(variables)
    held = ops[ops >= 0]
    builder.add_types(held, Coded(np.zeros(len(held), np.int64), Strings([name])))
