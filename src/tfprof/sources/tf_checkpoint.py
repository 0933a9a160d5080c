"""Checkpoints: the variables that they contain, and their values on request."""

from __future__ import annotations

import numpy as np

from tfprof.columns import Coded, Shapes, Strings
from tfprof.formats.checkpoint import Checkpoint, open_checkpoint
from tfprof.model.builder import ProfileBuilder
from tfprof.model.tensors import Tensors
from tfprof.sources.source import FileSummary, InputFile, summary

CHECKPOINT_TYPE = "_checkpoint_variables"


def read(file: InputFile) -> Checkpoint:
    """The index of the checkpoint."""
    return open_checkpoint(file.path)


def add(checkpoint: Checkpoint, builder: ProfileBuilder, file: InputFile) -> FileSummary:
    """Add a type to the ops with a tensor in the checkpoint, and make the values available."""
    entries = checkpoint.tensors
    ops = builder.ids(entry.name for entry in entries)
    held = ops[ops >= 0]
    builder.add_types(held, Coded(np.zeros(len(held), np.int64), Strings([CHECKPOINT_TYPE])))
    builder.set_tensors(
        Tensors(
            name=Strings([entry.name for entry in entries]),
            dtype=Strings([entry.dtype for entry in entries]),
            shape=Shapes.of([entry.shape for entry in entries]),
            read=checkpoint.read,
        )
    )
    return summary(file, tensors=len(entries), values=sum(entry.size for entry in entries))
