"""What each op belongs to: a module, lines of code, a phase of the step and, if backward, an op."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np

from tfprof.columns import Bools, Ints
from tfprof.formats.kineto.columns import Slices, Trace
from tfprof.kernels import nesting
from tfprof.kernels.nesting import Chains
from tfprof.model.ops import COLLECTIVE_WORK, Phase
from tfprof.sources.kineto.backward import forward_ops
from tfprof.sources.kineto.groups import group_of_rows
from tfprof.sources.kineto.host import LOADER, OPTIMIZER, STEP, Host, Role
from tfprof.sources.kineto.lost_threads import ENGINE
from tfprof.sources.kineto.phases import Inside, phases_of
from tfprof.sources.kineto.python_calls import PythonCalls, place_of
from tfprof.sources.torch_stacks import starts_backward

_ACCUMULATE = "torch::autograd::AccumulateGrad"
_NODE = re.compile(r"[A-Z]\w*Backward\d*")
_PYTHON = ("PythonDispatchMode", "PythonSubclass")
_COMMUNICATION = ("c10d::", "_c10d_functional", "record_param_comms", *COLLECTIVE_WORK)
_CHECKPOINT = r".*torch[/\\]utils[/\\]checkpoint\.py\(\d+\): "
_SAVES = re.compile(_CHECKPOINT + "pack_hook", re.DOTALL)
_COMPUTES_AGAIN = re.compile(_CHECKPOINT + "(?:recompute_fn|unpack_hook)", re.DOTALL)
STEP_END = "tfprof.step_end#"  # written by tfprof.capture
_MARKS = (*OPTIMIZER, LOADER, STEP, STEP_END)


@dataclass(frozen=True, slots=True, eq=False)
class Belonging:
    """One row per event of the host; only those of ops and launches are used."""

    phase: Ints
    instance: Ints  # the module, or -1
    code: Ints  # a chain of frames, or -1
    forward: Ints  # the row of the forward op, as in `Conventions.forward_of`, or -1
    annotation: Ints  # the row of the annotation that decides the phase, or -1
    annotations: Chains  # the names of the others, outermost first
    group: Ints  # the process group of a collective, or -1
    is_idle: Bools  # the op was called, but computed nothing itself

    def at_lines(self, calls: PythonCalls) -> Belonging:
        """The same with the code of `calls`."""
        return replace(self, code=_of_forward(calls.chains.of_row, self.forward))


def belonging(trace: Trace, host: Host, calls: PythonCalls) -> Belonging:
    """What each event of the host belongs to."""
    slices = trace.slices
    row = np.arange(len(host))
    node, forward = _backward(trace, host)
    module = calls.module_row
    called = nesting.inherited(host.in_python, _backward_calls(slices, host))
    own = np.where(_named(slices, host, _COMMUNICATION) & (host.role == Role.OP), row, -1)
    communicates = nesting.inherited(host.in_op, own) >= 0
    inside = Inside(node, called, module)
    phase, annotation = phases_of(trace, host, inside, forward, communicates)
    # A module that is called inside a backward op computes its forward pass again.
    is_gradient = (forward >= 0) & (node > module) & (phase == Phase.BACKWARD)
    forward = np.where(is_gradient, forward, -1)
    instance = np.where(communicates & (node > module), -1, calls.instance)
    return Belonging(
        phase=phase,
        instance=_of_forward(instance, forward),
        code=_of_forward(calls.chains.of_row, forward),
        forward=forward,
        annotation=annotation,
        annotations=nesting.chains(host.in_annotation, _plain_annotations(slices, host)),
        group=group_of_rows(trace, host, communicates),
        is_idle=(_stopped(slices, host) & (phase == Phase.BACKWARD)) | _dispatched(slices, host),
    )


def _of_forward(value: Ints, forward: Ints) -> Ints:
    """The value of each event; gradients have that of their forward op."""
    origin = np.where(forward >= 0, forward, np.arange(len(forward)))
    # The forward op may itself be the gradient of another one. Each round doubles the distance, so
    # that these rounds suffice for any chain, and a damaged trace with a cycle ends too.
    for _ in range(len(origin).bit_length()):
        further = origin[origin]
        if np.array_equal(further, origin):
            break
        origin = further
    found: Ints = value[origin]
    return found


def _stopped(slices: Slices, host: Host) -> Bools:
    """Which ops ended while their inputs were saved, before they computed anything.

    Checkpointing computes a forward pass again until all that it needs is saved, and then stops:
    the last op saves an input, but calls no other op and launches nothing. The same is true of the
    ops that called it.
    """
    is_saving = _python_calls(slices, host, _SAVES) & (host.in_op >= 0)
    is_again = _python_calls(slices, host, _COMPUTES_AGAIN)
    again = nesting.inherited(host.in_python, np.where(is_again, np.arange(len(host)), -1))
    saving = np.flatnonzero(is_saving & (again >= 0))
    found = np.zeros(len(host), np.bool_)
    if not len(saving):
        return found
    _, last = np.unique(again[saving[::-1]], return_index=True)
    found[host.in_op[saving[::-1][last]]] = True
    save = nesting.inherited(host.in_python, np.where(is_saving, np.arange(len(host)), -1))
    inner = np.flatnonzero((host.in_op >= 0) & (host.role != Role.PYTHON) & (host.slice >= 0))
    found[host.in_op[inner[save[inner] < host.in_op[inner]]]] = False
    above = host.in_op[found]
    while len(above := np.unique(above[above >= 0])):
        found[above] = host.role[above] == Role.OP
        above = host.in_op[above]
    return found


def _python_calls(slices: Slices, host: Host, pattern: re.Pattern[str]) -> Bools:
    """Which events are calls of Python functions whose names match."""
    flags = [pattern.fullmatch(name) is not None for name in slices.name.values]
    found: Bools = _flagged(slices, host, flags) & (host.role == Role.PYTHON)
    return found


def _dispatched(slices: Slices, host: Host) -> Bools:
    """Which ops were handed to Python, which may call smaller ones, or none, and those around them.

    That is so for tensors of a class of their own, such as shards, and for modes, such as that of
    selective checkpoints.
    """
    found = np.zeros(len(host), np.bool_)
    above = host.in_op[_named(slices, host, _PYTHON) & (host.role == Role.OP)]
    while len(above := np.unique(above[above >= 0])):
        above = above[~found[above]]
        found[above] = True
        above = host.in_op[above]
    return found


def _backward(trace: Trace, host: Host) -> tuple[Ints, Ints]:
    """For each event, the innermost backward op that contains it, and the row of its forward op."""
    slices = trace.slices
    row = np.arange(len(host))
    known = forward_ops(slices, trace.flows, trace.threads.process.codes, host)
    on_engine = _named(slices, host, (ENGINE,)) & (host.role == Role.OP)
    known = _with_accumulation(slices, host, np.flatnonzero(on_engine), known)
    has_number = host.taken(slices.forward_thread) > 0
    is_named = _flagged(slices, host, [_is_node(name) for name in slices.name.values])
    is_node = (host.role == Role.OP) & (on_engine | has_number | is_named)
    node = nesting.inherited(host.in_op, np.where(is_node, row, -1))
    joined = nesting.inherited(host.in_op, np.where(known >= 0, row, -1))
    return node, np.where(joined >= 0, known[joined], -1)


def _is_node(name: str) -> bool:
    """Whether the engine runs ops of this name; old versions do not record more about them."""
    return name == _ACCUMULATE or _NODE.fullmatch(name) is not None


def _with_accumulation(slices: Slices, host: Host, engine: Ints, known: Ints) -> Ints:
    """The forward ops, also of nodes that add up gradients, which have no number.

    The engine runs such a node directly after the one that computed the gradient.
    """
    name = slices.name.codes[host.slice[engine]]
    flags = [text.endswith(_ACCUMULATE) for text in slices.name.values]
    is_sum = np.array([*flags, False], np.bool_)[name]
    before = np.where(is_sum, -1, np.arange(len(engine)))
    last = np.maximum.accumulate(before) if len(before) else before
    is_same = (last >= 0) & (host.thread[engine[last]] == host.thread[engine]) & is_sum
    filled = known.copy()
    filled[engine[is_same]] = known[engine[last[is_same]]]
    return filled


def _named(slices: Slices, host: Host, starts: tuple[str, ...]) -> Bools:
    """Which events have a name that starts with one of these texts."""
    return _flagged(slices, host, [name.startswith(starts) for name in slices.name.values])


def _flagged(slices: Slices, host: Host, flags: list[bool]) -> Bools:
    """Which events have a flagged name."""
    return np.array([*flags, False], np.bool_)[host.taken(slices.name.codes)]


def _backward_calls(slices: Slices, host: Host) -> Ints:
    """The row of each call of `backward` or `grad`, which also runs ops before the engine does."""
    places = map(place_of, slices.name.values)
    flags = [place is not None and starts_backward(place[0], place[2]) for place in places]
    is_call = _flagged(slices, host, flags) & (host.role == Role.PYTHON)
    return np.where(is_call, np.arange(len(host)), -1)


def _plain_annotations(slices: Slices, host: Host) -> Ints:
    """The name of each other annotation, except those of steps, -1 for other events."""
    is_other = (host.role == Role.ANNOTATION) & ~_named(slices, host, _MARKS)
    return np.where(is_other, host.taken(slices.name.codes), -1)
