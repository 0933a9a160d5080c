"""Compiled regions: the calls of compiled graphs, and the ops directly inside them.

A trace has no modules and no Python calls inside these: generated code calls the kernels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfprof.columns import Bools, Ints
from tfprof.formats.kineto.columns import Slices
from tfprof.kernels import nesting
from tfprof.sources.kineto.host import Host, Role

# The starts of the names of what surrounds the kernels of a compiled graph, outermost first.
GRAPH = "## Call CompiledFxGraph"  # an annotation; in older versions an op
COMPILED = ("Torch-Compiled Region", "CompiledFunction", GRAPH)


@dataclass(frozen=True, slots=True, eq=False)
class CompiledCalls:
    """The ops directly inside calls of compiled graphs, as rows of the host, in ascending order."""

    op: Ints
    call: Ints  # the call that each op is in


def compiled_calls(slices: Slices, host: Host) -> CompiledCalls:
    """The calls of compiled graphs.

    Several events may surround the same kernels. The innermost one counts, because ops between it
    and the others, such as copies of gradients, are not of the graph.
    """
    is_call = _named(slices, host)
    row = np.arange(len(host))
    as_op = np.where(is_call & (host.role == Role.OP), row, -1)
    annotated = nesting.inherited(
        host.in_annotation, np.where(is_call & (host.role == Role.ANNOTATION), row, -1)
    )
    called = nesting.inherited(host.in_op, as_op)
    calls = np.flatnonzero(is_call)
    around = np.maximum(
        np.append(called, -1)[host.in_op[calls]],
        np.append(annotated, -1)[host.in_annotation[calls]],
    )
    is_innermost = np.append(is_call, False)
    is_innermost[around] = False
    ops = np.flatnonzero((host.role == Role.OP) & ~is_call)
    inside = host.in_op[ops]
    direct = np.where(annotated[ops] > inside, annotated[ops], np.append(as_op, -1)[inside])
    is_direct = is_innermost[direct]
    return CompiledCalls(ops[is_direct], direct[is_direct])


def _named(slices: Slices, host: Host) -> Bools:
    """Which events are calls of compiled graphs, or surround them."""
    flags = np.array([name.startswith(COMPILED) for name in slices.name.values], np.bool_)
    found = np.zeros(len(host), np.bool_)
    rows = np.flatnonzero((host.role == Role.OP) | (host.role == Role.ANNOTATION))
    found[rows] = flags[slices.name.codes[host.slice[rows]]]
    return found
