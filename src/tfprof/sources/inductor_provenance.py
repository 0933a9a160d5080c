"""Provenance of Inductor: the lines of Python from which compiled kernels were generated.

The Kineto trace of the same run has the ops and kernels; `kineto.compiled` finds out which of them
are which.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import takewhile

from tfprof.formats import inductor_provenance
from tfprof.formats.inductor_provenance import CompiledFunction, Provenance
from tfprof.model.between_files import CompiledGraph, CompiledKernel
from tfprof.model.builder import ProfileBuilder
from tfprof.model.code import Frame
from tfprof.model.notes import Note, Subject
from tfprof.sources.source import FileSummary, InputFile, summary
from tfprof.sources.torch_stacks import own_frames
from tfprof.units import counted


def read(file: InputFile) -> Provenance:
    """The compiled graphs, and the stacks of their kernels."""
    return inductor_provenance.read(file.content)


def add(found: Provenance, builder: ProfileBuilder, file: InputFile) -> FileSummary:
    """Keep the graphs for the traces, which are added later."""
    frames = cache(lambda stack: tuple(own_frames(stack)))
    kernel = cache(lambda one: CompiledKernel(one.name, _shared(map(frames, one.stacks))))
    graphs = [
        CompiledGraph(list(map(kernel, one.kernels)), one.key, _beginning(one.function))
        for one in found.graphs
    ]
    builder.between.compiled_graphs += graphs
    if found.damaged:
        text = counted(found.damaged, "compiled graph is", "compiled graphs are")
        builder.notes.append(Note(f"{file.path}: {text} damaged and left out.", Subject.CODE))
    if not graphs and not found.damaged:
        text = "has no lines of compiled kernels; run with INDUCTOR_PROVENANCE=1 too."
        builder.notes.append(Note(f"{file.path} {text}", Subject.CODE))
    stacks = {one.frames for graph in graphs for one in graph.kernels}
    lines = {(frame.file, frame.line) for frames in stacks for frame in frames}
    return summary(file, graphs=len(graphs), lines=len(lines))


def _shared(stacks: Iterable[tuple[Frame, ...]]) -> tuple[Frame, ...]:
    """The outer frames that all stacks have in common."""
    levels = takewhile(lambda level: len(set(level)) == 1, zip(*stacks, strict=False))
    return tuple(level[0] for level in levels)


def _beginning(function: CompiledFunction | None) -> Frame | None:
    if function is None:
        return None
    return Frame(function.file, function.line, function.name, "", function.line)
