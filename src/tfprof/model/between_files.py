"""What one file states that another one needs, while both are being added."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain, count
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from tfprof.columns import Ints
from tfprof.model.code import Frame
from tfprof.model.executions import Purpose

T = TypeVar("T")


class RecordedCalls(NamedTuple):
    """The calls of a process, for files that state more about them."""

    record: Ints  # the number by which other files refer to the call
    op: Ints  # -1 for calls that belong to none
    phase: Ints


@dataclass(frozen=True, slots=True, eq=False)
class ByStart(Generic[T]):
    """What a file states about the events of a trace, which it knows by their starts."""

    values: Sequence[T]
    start_ns: Ints  # of each event, ascending
    place: Ints  # in `values`

    def __len__(self) -> int:
        return len(self.start_ns)

    def places(self, start_ns: Ints) -> Ints:
        """For the event with each of these starts, the place in `values`, or -1."""
        if not len(self):
            return np.full(len(start_ns), -1)
        found = np.minimum(np.searchsorted(self.start_ns, start_ns), len(self) - 1)
        return np.where(self.start_ns[found] == start_ns, self.place[found], -1)


class ModuleNames:
    """The names of modules, the same for the same place in the calls of all traces.

    A trace numbers the modules of a class in the order of their first calls, which differs between
    the traces of a program with several threads.
    """

    def __init__(self) -> None:
        self._names: dict[str, str] = {}  # by place
        self._taken: set[tuple[str, str]] = set()  # the place of the caller, and a name

    def name(self, caller: str, place: str, class_name: str, proposed: str) -> str:
        """The name of the module at `place`; `proposed` if it is new and no other has that name."""
        if place not in self._names:
            others = (f"{class_name}_{number}" for number in count())
            names = (
                name for name in chain([proposed], others) if (caller, name) not in self._taken
            )
            self._names[place] = next(names)
            self._taken.add((caller, self._names[place]))
        return self._names[place]


class TracedProgram(NamedTuple):
    """What a trace states about its program."""

    path: str
    rank: int
    ranks: int  # that the program has; 1 if it is not distributed
    modules: frozenset[str]  # their paths by class


class TensorPlace(NamedTuple):
    """Where the values of a tensor are: the device, and the address and size of its storage."""

    device: str = ""  # empty if unknown
    storage: int = 0
    bytes: int = 0


class HeldTensor(NamedTuple):
    """A tensor of a model or an optimizer that is in memory."""

    op: str  # that stands for it
    place: TensorPlace
    purpose: Purpose


class BesideTrace(NamedTuple):
    """What the file beside a trace states about it."""

    lines: ByStart[Frame]  # that made calls
    inputs: ByStart[tuple[str, str]]  # long lists of shapes and numbers, as JSON
    modules: ByStart[str]  # that were called, where several have the same name in the trace
    usual_step_ns: int  # how long a step took that was not recorded, 0 if unknown
    tensors: Sequence[HeldTensor]
    momentary: frozenset[str]  # modules that were deleted and had no parts, by names in the trace


class CompiledKernel(NamedTuple):
    """A kernel of a compiled graph, and the calls that everything in it comes from."""

    name: str  # in the generated code
    frames: tuple[Frame, ...]  # outermost first


class CompiledGraph(NamedTuple):
    """The kernels that a compiled graph calls, in order; those of earlier graphs may precede."""

    kernels: Sequence[CompiledKernel]
    key: str = ""  # by which traces name it; empty if unknown
    function: Frame | None = None  # where the compiled function begins, if known


@dataclass(slots=True, eq=False)
class BetweenFiles:
    """What the files that were added so far state for those that follow."""

    recorded_calls: dict[str, RecordedCalls] = field(default_factory=dict)  # by process
    beside: dict[str, BesideTrace] = field(default_factory=dict)  # by the folder of the recording
    compiled_graphs: list[CompiledGraph] = field(default_factory=list)
    traced_programs: list[TracedProgram] = field(default_factory=list)
    module_names: ModuleNames = field(default_factory=ModuleNames)
