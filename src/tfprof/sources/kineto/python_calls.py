"""The Python calls of a trace: which module, and which lines of code, each event belongs to.

A trace states the line where each function begins. Recordings of `tfprof.capture` also have the
lines that made the calls.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tfprof.columns import Coded, Ints, Strings, ints
from tfprof.formats.kineto.columns import Slices, Trace
from tfprof.kernels import nesting
from tfprof.kernels.nesting import Chains
from tfprof.model.between_files import ByStart
from tfprof.model.code import Frame
from tfprof.sources.kineto.host import Host, Role
from tfprof.sources.module_places import NOWHERE, ModulePlaces

_MODULE = "nn.Module: "
_FRAME = re.compile(r"(.*)\((\d{1,9})\): (.*)", re.DOTALL)
# Files of PyTorch and tfprof, whose paths are relative to the folder of installed packages, and the
# module with which tfprof runs programs.
_OTHER_FILE = re.compile(
    r"(?:.*[/\\](?:site|dist)-packages[/\\])?(?:torch|tfprof)[/\\].*|<frozen runpy>|runpy\.py",
    re.DOTALL,
)
_COMMAND = re.compile(r"(?:.*[/\\])?tfprof(?:\.exe|-script\.py)?", re.DOTALL)
_CLASS = re.compile(r"(.+)_\d+", re.DOTALL)


@dataclass(frozen=True, eq=False)
class Instances:
    """The modules where they were called, in the order of their first calls, callers first.

    A module that several others call has a row for each of them.
    """

    name: list[str]  # as in the trace: the class and a number
    class_name: list[str]
    parent: list[int]  # the row of the module that called it, or -1

    def __len__(self) -> int:
        return len(self.name)

    @cached_property
    def module(self) -> list[int]:
        """For each row the first row of the same module."""
        first: dict[str, int] = {}
        return [first.setdefault(name, row) for row, name in enumerate(self.name)]

    @cached_property
    def once(self) -> Instances:
        """The same modules with one row each, below the module that called it first."""
        rows = [row for row, first in enumerate(self.module) if row == first]
        place = {row: number for number, row in enumerate(rows)}
        return Instances(
            [self.name[row] for row in rows],
            [self.class_name[row] for row in rows],
            [-1 if self.parent[row] < 0 else place[self.module[self.parent[row]]] for row in rows],
        )


@dataclass(frozen=True, slots=True, eq=False)
class PythonCalls:
    """For each event of the host, the module and the lines that it belongs to."""

    instances: Instances
    instance: Ints  # of the innermost module call, or -1
    module_row: Ints  # the row of that call, or -1
    frames: list[Frame]
    frame: Ints  # of Python calls, where their functions begin, or -1 for those of PyTorch
    chains: Chains  # of frames
    has_lines: bool = False  # of calls, not only of functions

    def at_lines(self, host: Host, base_ns: int, lines: ByStart[Frame]) -> PythonCalls:
        """The same calls with the lines that made them.

        Ops that a function runs itself, such as `a + b`, stay where it begins.
        """
        made_by = _matched(self, host, base_ns, lines)
        around = np.append(self.frame, -1)[host.in_python]
        label = np.where(host.role == Role.PYTHON, -1, around)
        label = np.where(made_by >= 0, made_by + len(self.frames), label)
        return replace(
            self,
            frames=[*self.frames, *lines.values],
            chains=nesting.chains(host.in_python, label),
            has_lines=True,
        )


def is_of_program(file: str, function: str) -> bool:
    """Whether a function is neither of PyTorch nor of tfprof, which may run the program."""
    return not is_command(file, function) and _OTHER_FILE.fullmatch(file) is None


def is_command(file: str, function: str) -> bool:
    """Whether a function is the installed command `tfprof`."""
    return function == "<module>" and _COMMAND.fullmatch(file) is not None


def _matched(calls: PythonCalls, host: Host, base_ns: int, lines: ByStart[Frame]) -> Ints:
    """For each Python call the line that made it, as a place in `lines.values`, or -1.

    A line counts only if it is in the function that the call is inside of.
    """
    found = np.full(len(host), -1)
    rows = host.rows(Role.PYTHON)
    place = lines.places(host.start_ns[rows] + base_ns)
    functions: dict[tuple[str, str], int] = {}
    own, stated = (
        ints([functions.setdefault((one.file, one.function), len(functions)) for one in frames])
        for frames in (calls.frames, lines.values)
    )
    around = np.append(calls.frame, -1)[host.in_python[rows]]
    is_same = (place >= 0) & (around >= 0)
    is_same &= np.append(own, -1)[around] == np.append(stated, -1)[place]
    found[rows] = np.where(is_same, place, -1)
    return found


def renamed(trace: Trace, modules: ByStart[str]) -> Trace:
    """The trace with the stated names of modules, where several have the same name in it."""
    if not len(modules):
        return trace
    name = trace.slices.name
    place = modules.places(trace.slices.start_ns + trace.base_ns)
    place = np.where(name.values.starts_with(_MODULE)[name.codes], place, -1)
    stated = Strings([f"{_MODULE}{one}" for one in modules.values])
    both = Coded.joined([name, Coded(np.arange(len(stated)), stated)])
    own, new = both.codes[: len(name)], both.codes[len(name) :]
    codes = np.where(place >= 0, np.append(new, -1)[place], own)
    return replace(trace, slices=replace(trace.slices, name=Coded(codes, both.values)))


def python_calls(slices: Slices, host: Host) -> PythonCalls:
    """Interpret the Python calls of a trace."""
    rows = host.rows(Role.PYTHON)
    code = slices.name.codes[host.slice[rows]]
    used, place = np.unique(code, return_inverse=True)
    texts = [slices.name.values[one] for one in used.tolist()]
    module_of = np.full(len(host), -1)
    module_of[rows] = _numbered([text.startswith(_MODULE) for text in texts])[place]
    modules = [text.removeprefix(_MODULE) for text in texts if text.startswith(_MODULE)]
    is_call = module_of >= 0
    # Not the module of the innermost call: calls may cross if their times were rounded.
    (in_module,) = nesting.containers(
        host.thread, host.start_ns, host.end_ns, np.where(is_call, 0, -1), 1
    )
    module_row = np.where(is_call, np.arange(len(host)), in_module)
    nested = nesting.chains(in_module, module_of)
    instance, instances = _instances(modules, nested, np.flatnonzero(is_call), host.start_ns)
    frames = [_frame(text) for text in texts]
    label = np.full(len(host), -1)
    label[rows] = _numbered([frame is not None for frame in frames])[place]
    return PythonCalls(
        instances=instances,
        instance=instance[nested.of_row],
        module_row=module_row,
        frames=[frame for frame in frames if frame is not None],
        frame=label,
        chains=nesting.chains(host.in_python, label),
    )


def _numbered(flags: list[bool]) -> Ints:
    """A number for each flagged entry, counting from 0, and -1 for the others."""
    found = np.array(flags, np.bool_)
    return ints(np.where(found, np.cumsum(found) - 1, -1))


def _frame(text: str) -> Frame | None:
    """The line where a Python function begins, or None for one that is not of the program."""
    place = place_of(text)
    if place is None or not is_of_program(place[0], place[2]):
        return None
    file, line, function = place
    return Frame(file, line, function, "", line)


def place_of(text: str) -> tuple[str, int, str] | None:
    """File, line and function in the name of a Python call; None for built-in functions."""
    found = _FRAME.fullmatch(text)
    return (found[1], int(found[2]), found[3]) if found else None


def _instances(
    names: list[str], calls: Chains, rows: Ints, start_ns: Ints
) -> tuple[Ints, Instances]:
    """The modules where they were called in `rows`, and which of them each chain of calls is.

    With checkpointing, modules are called again outside of theirs, so those calls come last.
    """
    first = np.full(len(calls.label), np.iinfo(np.int64).max)
    np.minimum.at(first, calls.of_row[rows], start_ns[rows])
    outer = np.append(calls.label, -1)[calls.above]
    is_called = np.zeros(len(names), np.bool_)
    is_called[calls.label[(outer >= 0) & (outer != calls.label)]] = True
    again = nesting.inherited(calls.above, np.where(calls.above < 0, is_called[calls.label], -1))
    places = ModulePlaces()
    found = np.full(len(calls.label) + 1, NOWHERE)
    for chain in np.lexsort((first, again)).tolist():
        found[chain] = places.called(int(found[calls.above[chain]]), int(calls.label[chain]))
    classes = [match[1] if (match := _CLASS.fullmatch(name)) else name for name in names]
    return found, Instances(
        [names[one] for one in places.module],
        [classes[one] for one in places.module],
        places.caller,
    )
