"""A checkpoint: which variables it holds, and their values on request."""

from __future__ import annotations

from tfprof.columns import Shapes, Strings
from tfprof.formats.checkpoint import Checkpoint
from tfprof.model.builder import ProfileBuilder
from tfprof.model.tensors import Tensors

CHECKPOINT_TYPE = "_checkpoint_variables"


def add(checkpoint: Checkpoint, builder: ProfileBuilder) -> None:
    """Give ops that the checkpoint holds a tensor of their type, and make the tensors readable."""
    entries = checkpoint.tensors
    for op in builder.ids(entry.name for entry in entries):
        if op >= 0:
            builder.add_types(op, (CHECKPOINT_TYPE,))
    builder.set_tensors(
        Tensors(
            name=Strings([entry.name for entry in entries]),
            dtype=Strings([entry.dtype for entry in entries]),
            shape=Shapes.of([entry.shape for entry in entries]),
            read=checkpoint.read,
        )
    )
