"""What blocks of memory are for, and which op and line allocated them, by the stacks of a snapshot.

The purpose of a block follows from the phase in which it was allocated and that in which it was
freed: memory of the forward pass that the backward pass frees is an activation, and so on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePath

import numpy as np

from tfprof.columns import Bools, Ints, ints
from tfprof.formats.memory_snapshot import Snapshot, StackFrame
from tfprof.model.clock import NANOS_PER_MICRO
from tfprof.model.code import Frame
from tfprof.model.executions import Purpose
from tfprof.model.ops import HELD_BEFORE_SCOPE, Phase
from tfprof.sources.snapshot_blocks import NO_EVENT, HeldBlocks
from tfprof.sources.snapshot_parameters import parameters_in
from tfprof.sources.torch_annotations import named_phases
from tfprof.sources.torch_modules import FreeNames
from tfprof.sources.torch_stacks import is_of_torch, starts_backward

# The scopes of ops by their phase.
_SCOPES = {
    Phase.FORWARD: "forward",
    Phase.BACKWARD: "backward",
    Phase.OPTIMIZER: "optimizer",
    Phase.OTHER: "unknown_phase",
}

_ENGINE = ("torch::autograd::Engine::", "torch::autograd::python::PythonEngine::")
_NODE = re.compile(r"torch::autograd::(?:generated::)?(\w+)::apply\b")
_OP = re.compile(
    r"at::_ops::(\w+?)(?:_(?:[A-Z]\w*|dim_\w+|memory_format|int|dim|out|dtype|vec|default))?::"
)
_OPTIMIZERS = re.compile(r"(?:^|[/\\])torch[/\\]optim[/\\]")
_MOST_OPS = 50  # in a stack


@dataclass(frozen=True, slots=True, eq=False)
class Sites:
    """The ops that hold memory, and the op and the purpose of each block."""

    names: Sequence[str]
    kinds: Sequence[str]
    phases: Ints
    stacks: Sequence[Sequence[Frame]]  # of the user's own code, outermost first
    of_block: Ints
    purpose: Ints  # a `Purpose` for each block


def sites_of(
    found: Snapshot, time_ns: Ints, blocks: HeldBlocks, shapes: Sequence[tuple[int, ...]] = ()
) -> Sites:
    """The ops of all blocks: one for each phase, chain of ops and line of code.

    `time_ns` are the times of the events, and `shapes` those of the model's parameters, if known.
    """
    of_event = np.append(_phases(found, time_ns), Phase.OTHER)
    chains = [_chain(stack) for stack in found.stacks]
    lines = [tuple(_lines(stack)) for stack in found.stacks]
    # Many blocks have the same phase and stack, and long stacks take long to compare.
    phase_of = np.where(blocks.allocated == NO_EVENT, -1, of_event[blocks.allocated])
    pairs = phase_of * len(chains) + blocks.stack
    _, first, pair = np.unique(pairs, return_index=True, return_inverse=True)
    free = FreeNames()
    known: dict[tuple[str, tuple[str, ...], tuple[Frame, ...]], int] = {}
    names, kinds, phases, stacks = [], [], [], []
    of_pair = np.empty(len(first), np.int64)
    for place in np.argsort(first).tolist():  # names are numbered in the order of the blocks
        event, stack = int(blocks.allocated[first[place]]), int(blocks.stack[first[place]])
        phase = Phase(of_event[event])
        chain = chains[stack] or _by_line(lines[stack])
        scope = HELD_BEFORE_SCOPE if event == NO_EVENT else _SCOPES[phase]
        key = (scope, chain, lines[stack])
        if key not in known:
            known[key] = len(known)
            names.append(free.take("", scope, *chain))
            kinds.append(chain[-1] if chain else scope)
            phases.append(phase)
            stacks.append(lines[stack])
        of_pair[place] = known[key]
    purpose = _purposes(blocks, time_ns, of_event, shapes)
    return Sites(names, kinds, ints(phases), stacks, of_pair[pair], purpose)


def _chain(stack: Sequence[StackFrame]) -> tuple[str, ...]:
    """The nodes of the backward pass and the ops in a stack, outermost first."""
    found: list[str] = []
    for frame in reversed(stack):
        node, op = _NODE.match(frame.function), _OP.match(frame.function)
        name = node[1] if node else f"aten::{op[1]}" if op else ""
        if name and name not in found[-1:] and len(found) < _MOST_OPS:
            found.append(name)
    return tuple(found)


def _lines(stack: Sequence[StackFrame]) -> Iterator[Frame]:
    """The lines of the user's own Python code, outermost first."""
    for frame in reversed(stack):
        if _is_python(frame) and not is_of_torch(frame.file):
            yield Frame(frame.file, frame.line, frame.function, "", -1)


def _is_python(frame: StackFrame) -> bool:
    return frame.line > 0 and "::" not in frame.function and not frame.file.endswith(_C_FILES)


_C_FILES = (".cpp", ".h", ".cc", ".c", ".cu", ".cuh")


def _by_line(lines: Sequence[Frame]) -> tuple[str, ...]:
    """The name of an op that is known only by the line that called it."""
    if not lines:
        return ()
    last = lines[-1]
    return (f"{PurePath(last.file).name}:{last.line}:{last.function}",)


def _purposes(
    blocks: HeldBlocks, time_ns: Ints, of_event: Ints, shapes: Sequence[tuple[int, ...]]
) -> Ints:
    """What each block is for; `of_event` has the phase of each event."""
    made, freed = of_event[blocks.allocated], of_event[blocks.freed]
    # Whether the backward pass allocated while a block was in use.
    backward = np.sort(time_ns[of_event[:-1] == Phase.BACKWARD])
    sooner = np.searchsorted(backward, blocks.start_ns, side="right")
    is_saved = np.searchsorted(backward, blocks.end_ns, side="left") > sooner
    has_backward = len(backward) > 0
    purpose = np.full(len(blocks), Purpose.UNKNOWN)
    forward = made == Phase.FORWARD
    purpose[forward] = Purpose.ACTIVATIONS
    purpose[forward & has_backward & ~is_saved & (freed != Phase.BACKWARD)] = Purpose.TEMPORARY
    purpose[made == Phase.BACKWARD] = Purpose.GRADIENTS
    purpose[(made == Phase.BACKWARD) & (freed == Phase.BACKWARD)] = Purpose.TEMPORARY
    purpose[made == Phase.OPTIMIZER] = Purpose.OPTIMIZER_STATE
    purpose[(made == Phase.OPTIMIZER) & blocks.is_freed] = Purpose.TEMPORARY
    is_old = blocks.allocated == NO_EVENT
    purpose[is_old] = Purpose.EARLIER
    known = parameters_in(blocks.requested, is_old & ~blocks.is_freed, shapes)
    if known is not None:
        purpose[known.parameters] = Purpose.PARAMETERS
        purpose[known.moments] = Purpose.OPTIMIZER_STATE
    return purpose


def _phase(stack: Sequence[StackFrame]) -> Phase:
    """The phase of a stack; the autograd engine has threads of its own."""
    if not stack:
        return Phase.OTHER
    if any(
        frame.function.startswith(_ENGINE) or starts_backward(frame.file, frame.function)
        for frame in stack
    ):
        return Phase.BACKWARD
    if any(_OPTIMIZERS.search(frame.file) for frame in stack):
        return Phase.OPTIMIZER
    return Phase.FORWARD


def _phases(found: Snapshot, time_ns: Ints) -> Ints:
    """The phases of events; those without a stack have that of the annotation around them."""
    of_stack = np.array([_phase(stack) for stack in found.stacks], np.int64)
    phases = of_stack[found.events.stack]
    named = named_phases([one.name for one in found.annotations]).phase
    for phase in (Phase.OPTIMIZER, Phase.BACKWARD, Phase.FORWARD):
        phases[(phases == Phase.OTHER) & _inside(found, time_ns, named == phase)] = phase
    return phases


def _inside(found: Snapshot, time_ns: Ints, is_named: Bools) -> Bools:
    """Whether each event is inside one of these annotations."""
    change = np.zeros(len(time_ns) + 1, np.int64)
    order = np.argsort(time_ns, kind="stable")
    named = [found.annotations[row] for row in np.flatnonzero(is_named).tolist()]
    moments = [one.time_us * NANOS_PER_MICRO for one in named]
    places = np.searchsorted(time_ns[order], moments)
    np.add.at(change, places, [1 if one.is_start else -1 for one in named])
    inside = np.zeros(len(time_ns), np.bool_)
    inside[order] = np.cumsum(change)[:-1] > 0
    return inside
