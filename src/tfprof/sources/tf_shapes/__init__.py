"""Infers the shapes that a program leaves open, and the trip counts of its loops.

Most programs accept any number of examples, so their graphs leave the first dim of many shapes
open. Given the batch size, one pass over all ops in topological order derives all shapes that
follow from the inputs: a rule for each kind of op computes the shapes of its outputs from those of
its inputs, from its attributes, and from the values of small integer tensors such as shapes, which
are followed as well, element by element. Where a kind has no rule, or a shape depends on data, the
shape stays as the graph states it; nothing is guessed.
"""

from __future__ import annotations

from tfprof.sources.tf_shapes import (  # noqa: F401 -- fill the registry
    arrangement,
    elementwise,
    filling,
    gathering,
    images,
    lists,
    matrices,
    products,
    reductions,
    slicing,
    values,
    windows,
)
from tfprof.sources.tf_shapes.engine import Inferred, Stop, infer, leaves_only_batch_open
from tfprof.sources.tf_shapes.program import Given, Loop, Program

__all__ = ["Given", "Inferred", "Loop", "Program", "Stop", "infer", "leaves_only_batch_open"]
