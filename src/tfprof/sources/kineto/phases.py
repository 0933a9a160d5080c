"""The phase of each event: from what contains it, or else from the order of a step.

On its thread, an op is inside Python calls, annotations and other ops. Its phase is that of the
innermost of them that tells: an annotation (`torch_annotations.py`), a backward op, or a module.
Without any, autograd's numbers of forward ops tell, and what ran before and after it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from tfprof.columns import Bools, Ints
from tfprof.formats.kineto.columns import Trace
from tfprof.kernels import nesting
from tfprof.model.ops import Phase
from tfprof.sources.kineto.host import OPTIMIZER, STEP, Host, Role
from tfprof.sources.torch_annotations import named_phases

_UNKNOWN = -1
_OF_STEPS = (Phase.FORWARD, Phase.BACKWARD, Phase.OPTIMIZER)
_ZERO_GRAD = OPTIMIZER[1]
_GRADIENT = re.compile(r"aten::\w+_backward(?:_\w+)?")


class Inside(NamedTuple):
    """For each event of the host, the rows of what contains it, or -1."""

    node: Ints  # the innermost backward op
    call: Ints  # the innermost call of `backward`
    module: Ints  # the innermost call of a module


class Phases(NamedTuple):
    """One row per event of the host."""

    phase: Ints  # a `Phase`
    annotation: Ints  # the row of the annotation that decides it, or -1


class _Annotated(NamedTuple):
    """The innermost annotation around each event that names a phase."""

    row: Ints  # or -1
    phase: Ints  # or -1
    is_whole: Bools  # it, or one around it, stands for all work of a phase


def phases_of(
    trace: Trace, host: Host, inside: Inside, forward: Ints, communicates: Bools
) -> Phases:
    """The phases; `forward` has the row of the forward op of each backward op, or -1."""
    annotated = _annotated(trace, host)
    is_backward = (inside.node >= 0) | (inside.call > inside.module)
    by_annotation = annotated.row > np.maximum.reduce(inside)
    # What a checkpoint computes again is part of the backward pass, whatever it calls itself.
    by_annotation &= ~is_backward | _is(annotated.phase, Phase.OPTIMIZER, Phase.INPUT)
    in_module = np.where(annotated.phase == Phase.BACKWARD, Phase.BACKWARD, Phase.FORWARD)
    found = np.where(inside.module >= 0, in_module, _UNKNOWN)
    found[is_backward] = Phase.BACKWARD
    found[by_annotation] = annotated.phase[by_annotation]
    rows = np.flatnonzero((host.role == Role.OP) | ((host.role < 0) & (host.slice >= 0)))
    found = _with_engines(trace, host, inside.node, found)
    if not _is(found[rows], Phase.BACKWARD, Phase.OPTIMIZER).any():
        found[found == _UNKNOWN] = Phase.FORWARD
    elif (found[rows] == _UNKNOWN).any():
        found = _with_recorded(host, forward, found)
        found = _in_order(trace, host, rows[~communicates[rows]], annotated, found)
    found[communicates] = Phase.COMMUNICATION
    return Phases(found, np.where(by_annotation, annotated.row, -1))


def _annotated(trace: Trace, host: Host) -> _Annotated:
    rows, slices = host.rows(Role.ANNOTATION), trace.slices
    codes, place = np.unique(slices.name.codes[host.slice[rows]], return_inverse=True)
    named = named_phases(slices.name.values.take(codes))
    own = np.full(len(host), -1)
    tells = named.phase[place] >= 0
    own[rows[tells]] = rows[tells]
    row = nesting.inherited(host.in_annotation, own)
    phase = np.full(len(host) + 1, _UNKNOWN)
    phase[rows] = named.phase[place]
    is_whole = np.zeros(len(host), np.bool_)
    if named.is_whole.any():
        whole = np.full(len(host), -1)
        whole[rows[named.is_whole[place]]] = 1
        is_whole = nesting.inherited(host.in_annotation, whole) > 0
    return _Annotated(row, phase[row], is_whole)


def _with_engines(trace: Trace, host: Host, node: Ints, found: Ints) -> Ints:
    """The phases with those of gradients, and of threads on which only the backward pass runs."""
    names = trace.slices.name
    is_mark = _flagged(host, names.codes, names.values.starts_with(STEP))
    gradients = ["_backward" in name and bool(_GRADIENT.fullmatch(name)) for name in names.values]
    is_gradient = _flagged(host, names.codes, gradients) & (host.role == Role.OP)
    if is_gradient.any():
        own = np.where(is_gradient & (found == _UNKNOWN), Phase.BACKWARD, found)
        found = np.where(found == _UNKNOWN, nesting.inherited(host.in_op, own), found)
    is_program = _is(found, Phase.FORWARD, Phase.OPTIMIZER) | is_mark
    is_engine = np.zeros(len(trace.threads), np.bool_)
    is_engine[host.thread[(node >= 0) | is_gradient]] = True
    is_engine[host.thread[is_program]] = False
    return np.where(is_engine[host.thread] & (found == _UNKNOWN), Phase.BACKWARD, found)


def _with_recorded(host: Host, forward: Ints, found: Ints) -> Ints:
    """The phases with those of the ops whose backward ops were recorded, and the ops inside them.

    The ops around them, which call them, belong to the same phase.
    """
    is_made = np.zeros(len(host), np.bool_)
    is_made[forward[forward >= 0]] = True
    made = np.flatnonzero(is_made & (found == _UNKNOWN))
    own = found.copy()
    while len(made):
        own[made] = Phase.FORWARD
        above = np.unique(host.in_op[made])
        made = above[(above >= 0) & (own[above] == _UNKNOWN)]
    inherited = nesting.inherited(host.in_op, own)
    return np.where(found == _UNKNOWN, inherited, found)


def _in_order(trace: Trace, host: Host, rows: Ints, annotated: _Annotated, found: Ints) -> Ints:
    """The phases with those that follow from what ran before and after, or are unknown.

    `rows` are the ops and launches.
    """
    names, process = trace.slices.name, trace.threads.process.codes[host.thread]
    is_zero = _flagged(host, names.codes, names.values.starts_with(_ZERO_GRAD))
    is_zero = np.append(is_zero, [False])[annotated.row]  # programs do so anywhere in a step
    known = rows[_is(found[rows], *_OF_STEPS) & ~is_zero[rows]]
    unknown = rows[found[rows] == _UNKNOWN]
    outermost = unknown[np.append(found, Phase.OTHER)[host.in_op[unknown]] != _UNKNOWN]
    before, after = _neighbours(process, host.start_ns, known, outermost)
    phase, is_whole = np.append(found, _UNKNOWN), np.append(annotated.is_whole, [False])
    last, following = phase[before], phase[after]
    is_forward = (following == Phase.FORWARD) & _same_number(trace, host, outermost, after)
    is_forward |= (last == Phase.FORWARD) & (following != Phase.OPTIMIZER) & ~is_whole[before]
    is_forward &= ~is_whole[after]
    # The forward pass of a backward pass has to be somewhere, even if nothing tells where.
    is_forward |= _is(last, _UNKNOWN, Phase.OPTIMIZER) & (following == Phase.BACKWARD)
    own = found.copy()
    own[outermost] = np.where(is_forward, Phase.FORWARD, Phase.OTHER)
    own = nesting.inherited(host.in_op, own)
    return np.where(own == _UNKNOWN, Phase.FORWARD, own)  # of what is neither an op nor a launch


def _same_number(trace: Trace, host: Host, rows: Ints, others: Ints) -> Bools:
    """Which forward ops have the number of another op of the same step.

    The number is that of the next node of the autograd graph, so an op without a node of its own
    has the number of the next op with one, which can be that of the next step.
    """
    slices, event = trace.slices, np.append(host.slice, -1)
    is_pair = others >= 0
    numbers = []
    for one in (rows[is_pair], others[is_pair]):
        place = event[one]
        is_forward = (place >= 0) & (slices.forward_thread[place] == 0)
        numbers.append(np.where(is_forward, slices.sequence[place], -1))
    found = is_pair.copy()
    found[is_pair] = (numbers[0] >= 0) & (numbers[0] == numbers[1])
    found[found] = host.thread[rows[found]] == host.thread[others[found]]
    if found.any():
        step = _steps(trace, host)
        found[found] = step[rows[found]] == step[others[found]]
    return found


def _steps(trace: Trace, host: Host) -> Ints:
    """The row of the mark of the step around each event, or -1."""
    names = trace.slices.name
    marks = np.flatnonzero(_flagged(host, names.codes, names.values.starts_with(STEP)))
    own = np.full(len(host), -1)
    own[marks] = marks
    return nesting.inherited(host.in_annotation, own)


def _is(phases: Ints, *wanted: int) -> Bools:
    """Which phases are among the wanted ones; `numpy.isin` is much slower for so few."""
    found: Bools = phases == wanted[0]
    for one in wanted[1:]:
        found |= phases == one
    return found


def _flagged(host: Host, codes: Ints, flags: Bools | list[bool]) -> Bools:
    """Which events have a flagged name."""
    found: Bools = np.append(flags, [False])[host.taken(codes)]
    return found


def _neighbours(group: Ints, time: Ints, known: Ints, wanted: Ints) -> tuple[Ints, Ints]:
    """For each wanted row, the last known one before it in its group, and the first after it."""
    rows = np.concatenate((wanted, known))  # a wanted row precedes known ones of the same time
    order = np.lexsort((time[rows], group[rows]))
    rows = rows[order]
    is_known = order >= len(wanted)
    place = np.arange(len(rows))
    last = np.maximum.accumulate(np.where(is_known, place, -1))
    following = np.minimum.accumulate(np.where(is_known, place, len(rows))[::-1])[::-1]
    padded = np.append(rows, -1)
    found = np.empty((2, len(wanted)), np.int64)
    here = ~is_known
    for way, near in enumerate((last, np.where(following < len(rows), following, -1))):
        row = padded[near]
        is_same = (row >= 0) & (group[row] == group[rows])
        found[way][order[here]] = np.where(is_same, row, -1)[here]
    return found[0], found[1]
