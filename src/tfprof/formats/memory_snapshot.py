"""Memory snapshots of PyTorch (`torch.cuda.memory._dump_snapshot`): allocations as columns.

A snapshot is a pickle of plain values: the blocks in use when it was taken, and the allocations and
releases before that, as far as they were recorded. It is read without unpickling it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from tfprof.columns import Bools, Coded, Ints, ints
from tfprof.errors import InputError
from tfprof.formats.inert_pickle import PickleError, load

_LARGEST: Final = 1 << 62
_LATEST_US: Final = 1 << 52  # fits into 64 bits as nanoseconds
_MOST_DEVICES: Final = 1024
_AGAIN: Final = "take it again or fetch it again"
_ALLOCATED: Final = "active_allocated"


class StackFrame(NamedTuple):
    """A frame of a stack, of Python or C++; the line is 0 if it is unknown."""

    file: str
    line: int
    function: str


@dataclass(frozen=True, slots=True, eq=False)
class Events:
    """One row per entry of the history, in the order of recording for each device."""

    device: Ints
    action: Coded  # `alloc`, `free_requested`, `free_completed`, `segment_alloc`, `oom`, …
    address: Ints
    size: Ints  # as requested
    time_us: Ints  # 0 if it is not recorded
    is_timed: Bools
    stack: Ints  # a row of `Snapshot.stacks`

    def __len__(self) -> int:
        return len(self.device)


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """One row per block of memory when the snapshot was taken."""

    device: Ints
    address: Ints
    size: Ints  # in the allocator, which is at least what was requested
    requested: Ints  # 0 if it is not known
    is_allocated: Bools  # the others are kept for later, or wait for a stream
    stack: Ints

    def __len__(self) -> int:
        return len(self.device)


class Annotation(NamedTuple):
    """The start or the end of a part of the program that it named."""

    name: str
    is_start: bool
    time_us: int


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """The content of a file."""

    events: Events
    blocks: Blocks
    annotations: Sequence[Annotation]
    stacks: Sequence[Sequence[StackFrame]]  # each innermost first; the first one is empty


def decode(path: str, data: bytes) -> Snapshot:
    """The snapshot in `data`; errors name the file as `path`."""
    try:
        content, _ = load(data)
        return _decoded(content)
    except PickleError as error:
        raise InputError(path, f"is not a memory snapshot: it {error}; {_AGAIN}.") from None
    except (AttributeError, LookupError, TypeError, ValueError):
        raise InputError(path, f"is a damaged memory snapshot; {_AGAIN}.") from None


def _decoded(content: Any) -> Snapshot:
    stacks = _Stacks()
    traces = content["device_traces"]
    entries = [(device, entry) for device, rows in enumerate(traces) for entry in rows]
    blocks = [
        (segment, block, address)
        for segment in content["segments"]
        for block, address in _with_addresses(segment)
    ]
    return Snapshot(
        Events(
            device=_column((device for device, _ in entries), 0, _MOST_DEVICES),
            action=Coded.of([_text(entry["action"]) for _, entry in entries]),
            address=_column(entry.get("addr", 0) for _, entry in entries),
            size=_column((entry.get("size", 0) for _, entry in entries), least=0),
            time_us=_times(entry.get("time_us", 0) for _, entry in entries),
            is_timed=np.array(["time_us" in entry for _, entry in entries], np.bool_),
            stack=ints([stacks.row(entry.get("frames")) for _, entry in entries]),
        ),
        Blocks(
            device=_column(
                (segment.get("device", 0) for segment, _, _ in blocks), 0, _MOST_DEVICES
            ),
            address=_column(address for _, _, address in blocks),
            size=_column((block["size"] for _, block, _ in blocks), least=0),
            requested=_column((one.get("requested_size", 0) for _, one, _ in blocks), least=0),
            is_allocated=np.array(
                [block["state"] == _ALLOCATED for _, block, _ in blocks], np.bool_
            ),
            stack=ints([stacks.row(block.get("frames")) for _, block, _ in blocks]),
        ),
        [_annotation(one) for one in content.get("external_annotations") or ()],
        stacks.rows,
    )


def _with_addresses(segment: Any) -> Iterator[tuple[Any, int]]:
    """The blocks of a segment, which follow each other; older snapshots have no addresses."""
    at = segment["address"]
    for block in segment["blocks"]:
        yield block, block.get("address", at)
        at += block["size"]


def _annotation(entry: Any) -> Annotation:
    (time,) = _times([entry["time_us"]]).tolist()
    return Annotation(_text(entry["name"]), entry["stage"] == "START", time)


def _column(values: Iterable[Any], least: int = -_LARGEST, below: int = _LARGEST) -> Ints:
    found = list(values)
    if not all(type(value) is int and least <= value < below for value in found):
        raise ValueError("not a number of bytes or a time")
    return ints(found)


def _times(values: Iterable[Any]) -> Ints:
    return _column(values, 0, _LATEST_US)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


class _Stacks:
    """Collects stacks; equal ones are one row."""

    def __init__(self) -> None:
        self.rows: list[list[StackFrame]] = [[]]
        self._known: dict[tuple[int, ...], int] = {(): 0}
        self._lists: dict[int, int] = {}  # by identity: many entries may have the same list
        self._frames: dict[int, StackFrame] = {}  # by the identity of what was read

    def row(self, frames: Any) -> int:
        """The row of a stack, added if new."""
        if id(frames) not in self._lists:
            key = tuple(map(id, frames or ()))
            if key not in self._known:
                self._known[key] = len(self.rows)
                self.rows.append([self._frame(frame) for frame in frames])
            self._lists[id(frames)] = self._known[key]
        return self._lists[id(frames)]

    def _frame(self, frame: Any) -> StackFrame:
        found = self._frames.get(id(frame))
        if found is None:
            (line,) = _column([frame.get("line", 0)]).tolist()
            found = StackFrame(_text(frame["filename"]), line, _text(frame["name"]))
            self._frames[id(frame)] = found
        return found
