"""Provenance of Inductor: for each generated kernel, the Python stacks of what it computes.

With `INDUCTOR_PROVENANCE=1`, PyTorch writes one table of kernels per compiled graph to its log in
the folder `TORCH_TRACE`. `tlparse` extracts each table to a file of its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from tfprof.errors import InputError, TruncatedError
from tfprof.formats.content import Content
from tfprof.formats.torch_files import is_compile_log

_KERNELS = "inductor_provenance_tracking_kernel_stack_traces"
# What happened in the cache of compiled graphs; it has the key of the graph, which traces name.
_CACHE = "fx_graph_cache_"
# What was compiled: which function, among much else.
_METRICS = "compilation_metrics"
_MARKS = (f'"{_KERNELS}"'.encode(), f'"{_CACHE}'.encode(), f'"{_METRICS}"'.encode())

# `extern_kernels.addmm:2` is the second kernel that the code of a graph calls.
_NUMBERED = re.compile(r"(.+):([0-9]{1,9})", re.DOTALL)
_KEY = re.compile(r"[0-9A-Za-z_-]{1,200}")
_MOST_LINES = 1 << 31
_LARGEST = 1 << 27  # bytes of a table
_MOST_KERNELS = 1 << 19  # that differ, in a file
_DAMAGE = (AttributeError, LookupError, RecursionError, TypeError, ValueError)


class GeneratedKernel(NamedTuple):
    """A call of a kernel in the code of a graph: its name and the stacks of what it computes."""

    name: str
    stacks: tuple[str, ...]  # as text, outermost frame first


class CompiledFunction(NamedTuple):
    """A function that was compiled, and the line where it begins."""

    file: str
    name: str
    line: int


class GeneratedGraph(NamedTuple):
    """A compiled graph and its kernels, in order.

    PyTorch may list the kernels of graphs that it compiled before, in front of its own.
    """

    kernels: list[GeneratedKernel]
    key: str = ""  # by which traces name it; empty if unknown
    function: CompiledFunction | None = None  # from which it was compiled, if known


class Provenance(NamedTuple):
    """The graphs in a file, and how many were left out because of damage."""

    graphs: list[GeneratedGraph]
    damaged: int = 0


def read(content: Content) -> Provenance:
    """The graphs in a log, or the graph in a file of its own; raises `InputError`."""
    return _of_log(content) if is_compile_log(content.head) else _of_table(content)


def _of_table(content: Content) -> Provenance:
    data, _ = content.read(_LARGEST)
    try:
        return Provenance([GeneratedGraph(_Kernels().of(data))])
    except json.JSONDecodeError:
        trouble = "ends early or is damaged; was the copy or download cut short?"
        raise TruncatedError(content.path, trouble) from None
    except _DAMAGE as error:
        trouble = f"is damaged ({type(error).__name__}: {str(error)[:80]}); fetch it again."
        raise InputError(content.path, trouble) from None


def _of_log(content: Content) -> Provenance:
    """The graphs in a log; one that is cut short has those before its end."""
    graphs: list[GeneratedGraph] = []
    compiled: list[str] = []  # the compilation of each graph
    functions: dict[str, CompiledFunction] = {}
    known = _Kernels()
    damaged = 0
    for record, payload in _records(_lines(content.pieces())):
        is_graph = record.name == _KERNELS
        try:
            if record.function is not None:
                functions[record.compiled] = record.function
            elif is_graph and payload != b"null":  # it was compiled with provenance
                graphs.append(GeneratedGraph(known.of(payload)))
                compiled.append(record.compiled)
            elif graphs and not graphs[-1].key and compiled[-1] == record.compiled:
                graphs[-1] = graphs[-1]._replace(key=_key(payload))
        except _DAMAGE:
            damaged += is_graph
    pairs = zip(graphs, compiled, strict=True)
    return Provenance([one._replace(function=functions.get(name)) for one, name in pairs], damaged)


class _Kernels:
    """Reads tables of kernels; kernels and texts that are equal become one object."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._known: dict[GeneratedKernel, GeneratedKernel] = {}

    def of(self, table: bytes) -> list[GeneratedKernel]:
        """The kernels of a graph by the order of their calls."""
        if len(table) > _LARGEST or table.count(b'":') > 2 * _MOST_KERNELS:
            raise ValueError("a graph has too many kernels")
        numbered = []
        for place, (called, stacks) in enumerate(json.loads(table).items()):
            if not isinstance(stacks, list) or not all(isinstance(one, str) for one in stacks):
                raise TypeError("the stacks of a kernel are no texts")
            found = _NUMBERED.fullmatch(called)
            name, number = (found[1], int(found[2])) if found else (called, place)
            numbered.append((number, self._kernel(name, stacks)))
        return [kernel for _, kernel in sorted(numbered, key=lambda one: one[0])]

    def _kernel(self, name: str, stacks: list[str]) -> GeneratedKernel:
        shared = (self._texts.setdefault(one, one) for one in stacks)
        kernel = GeneratedKernel(name, tuple(shared))
        if len(self._known) >= _MOST_KERNELS and kernel not in self._known:
            raise ValueError("there are too many kernels")
        return self._known.setdefault(kernel, kernel)


def _key(payload: bytes) -> str:
    key = json.loads(payload).get("key")
    return key if isinstance(key, str) and _KEY.fullmatch(key) else ""


class _Record(NamedTuple):
    """A record of a log that is needed."""

    name: str
    compiled: str  # the compilation that it belongs to: `0/1`
    function: CompiledFunction | None = None


def _records(lines: Iterable[bytes]) -> Iterator[tuple[_Record, bytes]]:
    """The records of a log that are needed, with their payloads, which are indented by a tab."""
    record: _Record | None = None
    payload: list[bytes] = []
    size = 0
    for line in lines:
        if line.startswith(b"\t"):
            size += len(line)
            if record is not None and size <= _LARGEST:
                payload.append(line[1:])
            continue
        if record is not None:
            yield record, b"\n".join(payload)
        record, payload, size = _record(line), [], 0
    if record is not None:
        yield record, b"\n".join(payload)


def _record(line: bytes) -> _Record | None:
    if not any(mark in line for mark in _MARKS):
        return None
    try:
        found = json.loads(line.partition(b"] ")[2])
        compiled = f"{found.get('frame_id')}/{found.get('frame_compile_id')}"
        if _METRICS in found:
            return _Record(_METRICS, compiled, _function(**found[_METRICS]))
        name = found["artifact"]["name"]
        return _Record(name, compiled) if name == _KERNELS or name.startswith(_CACHE) else None
    except _DAMAGE:
        return None


def _function(co_filename: Any, co_name: Any, co_firstlineno: Any, **_: Any) -> CompiledFunction:
    texts, line = (co_filename, co_name), co_firstlineno
    if not all(isinstance(text, str) for text in texts) or type(line) is not int:
        raise TypeError("a function is unknown")
    if not 0 <= line < _MOST_LINES:
        raise ValueError("a function begins at an impossible line")
    return CompiledFunction(*texts, line)


def _lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of a file that is read in pieces; lines that are too long are cut."""
    parts: list[bytes] = []
    size = 0
    for piece in pieces:
        first, *others = piece.split(b"\n")
        if size <= _LARGEST:
            parts.append(first)
            size += len(first)
        if others:
            yield b"".join(parts)
            yield from others[:-1]
            parts, size = [others[-1]], len(others[-1])
    yield b"".join(parts)
