"""Finds the graph that a compiled call ran, and so the lines that its ops were compiled from."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence
from itertools import islice
from typing import NamedTuple

from tfprof.model.between_files import CompiledGraph, CompiledKernel
from tfprof.model.code import Frame

_CALLED = re.compile(r"(?:torch\.ops\.)?(\w+)\.(\w+)(?:\.\w+)?")
_EXTERN = "extern_kernels"
_OTHER_NAMES = {"bias_addmm": "addmm"}  # a function of Inductor that calls the op
# Graphs with the same key that differ; more are not compared, so that hostile files end.
_MOST_ALIKE = 100


def op_name(kernel: str) -> str:
    """The name of a kernel in a trace: `extern_kernels.addmm` is a call of `aten::addmm`."""
    found = _CALLED.fullmatch(kernel)
    if found is None:
        return kernel
    space, name = ("aten", found[2]) if found[1] == _EXTERN else (found[1], found[2])
    return f"{space}::{_OTHER_NAMES.get(name, name)}"


class _Called(NamedTuple):
    """What a graph calls, among the ops that can be in the trace."""

    key: str
    function: Frame | None
    names: tuple[str, ...]
    lines: tuple[int, ...]  # places in `KnownGraphs._frames`

    def last(self, count: int) -> _Called:
        return self._replace(names=self.names[-count:], lines=self.lines[-count:])


class KnownGraphs:
    """The compiled graphs of a program, for the calls in a trace."""

    def __init__(
        self, graphs: Sequence[CompiledGraph], names: Collection[str], functions: Sequence[Frame]
    ) -> None:
        """`names` are those of the ops in the compiled calls of a trace, `functions` its own."""
        files = _TraceFiles({one.file for one in functions}, graphs)
        compiled = [files.shortened(one.function) if one.function else None for one in graphs]
        self._functions = _Functions(functions)
        self._compiled_functions = _Functions(one for one in compiled if one is not None)
        self._by_key: dict[str, dict[_Called, None]] = {}
        self._by_names: dict[tuple[str, ...], dict[_Called, None]] = {}
        numbers = _Numbers()
        rows = [[numbers.of(kernel) for kernel in graph.kernels] for graph in graphs]
        self._frames = [tuple(map(files.shortened, one.frames)) for one in numbers.kernels]
        of_kernel = [op_name(one.name) for one in numbers.kernels]
        is_seen = [name in names for name in of_kernel]
        for graph, function, row, start in zip(
            graphs, compiled, rows, _own_starts(rows), strict=True
        ):
            seen = tuple(number for number in row if is_seen[number])
            called = tuple(of_kernel[number] for number in seen)
            known = _Called(graph.key, function, called, seen)
            if own := sum(is_seen[number] for number in row[start:]):
                self._by_key.setdefault(graph.key, {})[known] = None
                self._by_names.setdefault(called[-own:], {})[known.last(own)] = None

    def lines(
        self, key: str, names: tuple[str, ...], around: Collection[Frame]
    ) -> list[tuple[Frame, ...]] | None:
        """The frames of each op of a call, or None if no graph or more than one can be its graph.

        A graph must call the ops in the same order, and come from the compiled function: PyTorch
        uses a graph again, with its old lines, for another function that computes the same. That
        function is one of those `around` the call, as far as these are known.
        """
        alike = self._alike(key, names)
        functions = {one.function for one in alike}
        if not around and len(functions) > 1:
            return None
        known, allowed = (
            (self._functions, {*around}) if around else (self._compiled_functions, functions)
        )
        fits = {one.lines: None for one in alike if self._is_from(one, known, allowed)}
        found = {tuple(self._frames[number] for number in lines) for lines in fits}
        return list(found.pop()) if len(found) == 1 else None

    def _is_from(
        self, graph: _Called, known: _Functions, allowed: Collection[Frame | None]
    ) -> bool:
        outermost = {self._frames[number][0] for number in graph.lines if self._frames[number]}
        return allowed == {None} or {known.of(one) for one in outermost} <= {*allowed}

    def _alike(self, key: str, names: tuple[str, ...]) -> list[_Called]:
        """The graphs that call these ops and may have this key, which is empty if unknown."""
        if key and key in self._by_key:
            # Which of its kernels are of earlier graphs may be unknown; its own are the last.
            last = (one.last(len(names)) for one in islice(self._by_key[key], _MOST_ALIKE))
            return [one for one in last if one.names == names]
        alike = islice(self._by_names.get(names, ()), _MOST_ALIKE)
        return [one for one in alike if not key or not one.key]


class _Functions:
    """Functions by the lines where they begin."""

    def __init__(self, functions: Iterable[Frame]) -> None:
        self._known: dict[tuple[str, str], list[Frame]] = {}
        for one in sorted(functions, key=lambda one: one.line):
            self._known.setdefault((one.file, one.function), []).append(one)

    def of(self, frame: Frame) -> Frame | None:
        """The function that a frame is in: the last one of its name that begins before it."""
        known = self._known.get((frame.file, frame.function), [])
        place = bisect_right(known, frame.line, key=lambda one: one.line)
        return known[place - 1] if place else None


class _Numbers:
    """A number for each kernel, equal for equal ones."""

    def __init__(self) -> None:
        self._by_id: dict[int, int] = {}  # a graph may repeat those of others, and hashing is slow
        self._by_kernel: dict[CompiledKernel, int] = {}

    @property
    def kernels(self) -> Iterable[CompiledKernel]:
        return self._by_kernel

    def of(self, kernel: CompiledKernel) -> int:
        number = self._by_id.get(id(kernel))
        if number is None:
            number = self._by_kernel.setdefault(kernel, len(self._by_kernel))
            self._by_id[id(kernel)] = number
        return number


def _own_starts(graphs: Sequence[Sequence[int]]) -> list[int]:
    """Where the own kernels of each graph start: after those of the longest that it begins with."""
    states: dict[tuple[int, int], int] = {}  # a tree of beginnings
    paths = []
    for kernels in graphs:
        state, path = 0, []
        for kernel in kernels:
            state = states.setdefault((state, kernel), len(states) + 1)
            path.append(state)
        paths.append(path)
    ends = {path[-1] for path in paths if path}
    return [
        max((place for place, state in enumerate(path[:-1], 1) if state in ends), default=0)
        for path in paths
    ]


class _TraceFiles:
    """Writes paths of files as a trace does, which are relative to folders of the program."""

    def __init__(self, known: Collection[str], graphs: Iterable[CompiledGraph]) -> None:
        """`known` are files as the trace writes them; those of graphs have absolute paths."""
        self._folders: set[str] = set()
        stacks = {one.frames for graph in graphs for one in graph.kernels}
        for file in {frame.file for frames in stacks for frame in frames}:
            cut = (place.end() for place in re.finditer(r"[/\\]", file))
            if place := next((at for at in cut if file[at:] in known), 0):
                self._folders.add(file[:place])

    def shortened(self, frame: Frame) -> Frame:
        """The same frame, with the file as in the trace."""
        folders = (one for one in self._folders if frame.file.startswith(one))
        return frame._replace(file=frame.file[len(max(folders, key=len, default="")) :])
