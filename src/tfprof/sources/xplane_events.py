"""What the events of a profiler's recording are: runs of ops, steps, allocations, transfers.

Times are picoseconds since `Recording.base_ns`. The time of an op is its own: what ops ran
within it on the same thread is theirs. Events that only enclose ops (`ExecutorState::Process`,
`EagerKernelExecute` around a function, …) are none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tfprof.columns import Bools, Coded, Ints, NameTable, Strings, ints, joined
from tfprof.errors import InputError
from tfprof.formats.xplane import SpaceColumns, lookup
from tfprof.model.ops import DATA_SCOPE, EAGER_SCOPE

PS_PER_NANO = 1000

# Sums of what is smaller than this stay within 64 bits.
_LARGE = 2**62
# Clocks that count from a start are below this (eleven days), those that count from 1970 above.
_RELATIVE_NS = 10**15

_HOST_PLANE = "/host:CPU"
_DEVICE_PLANE = re.compile(r"/device:GPU:(\d{1,3})", re.ASCII)
_STREAM_LINE = re.compile(r"Stream #(\d{1,9})", re.ASCII)
_OP = re.compile(r"([A-Za-z0-9.][A-Za-z0-9_.\\/>-]*):([A-Z_][A-Za-z0-9_]*)", re.ASCII)
_EAGER = re.compile(r"EagerLocalExecute: ([A-Za-z_][A-Za-z0-9_]*)", re.ASCII)
# The call of a traced function, in whose name its ops run; a function may call another.
_CALLS = re.compile(r"(?:(?:Stateful)?PartitionedCall(?:_\d+)?/)+", re.ASCII)
# A branch or a body that was put in place of its call has a number that no graph knows.
_BRANCHES = re.compile(r"/(then|else|cond|body|branch)(\d*)/_\d+/", re.ASCII)


def op_name(node: str) -> str:
    """The name of an op within the functions that were called to run it."""
    called = _CALLS.match(node)
    return _BRANCHES.sub(_branch, node[called.end() :] if called else node)


def _branch(found: re.Match[str]) -> str:
    """The branch as a flattened graph names it: `branch_0` for `branch0/_12`."""
    return f"/{found[1]}{'_' if found[2] else ''}{found[2]}/"


@dataclass(frozen=True, slots=True, eq=False)
class OpRuns:
    """A row for each run of an op on a thread, or of a kernel of it on a stream."""

    event: Ints
    name: Ints  # of `names`
    gpu: Ints  # whose stream it is on, -1 on a thread
    own_ps: Ints
    names: list[str]
    kinds: list[str]


@dataclass(frozen=True, slots=True, eq=False)
class Transfers:
    """A row for each copy to or from a GPU."""

    event: Ints
    gpu: Ints
    name: list[str]


@dataclass(frozen=True, slots=True, eq=False)
class MemoryEvents:
    """A row for each allocation or, with negative bytes, each release; in the order of time."""

    event: Ints
    allocator: list[str]
    bytes: Ints
    in_use: Ints  # of the whole allocator afterwards
    address: Ints


class Recording:
    """The events of one file, with their names and times resolved."""

    def __init__(self, path: str, space: SpaceColumns) -> None:
        self.path = path
        self._space = space
        self.planes = space.texts("plane", "name")
        self.lines = space.texts("line", "name")
        self.line = space["event"]["owner"]
        self.plane = space["line"]["owner"][self.line]
        self.names = space.texts("event_name", "name")
        # An event whose name is not there has the last one, an empty text.
        self.name = lookup(space["event_name"], self.plane, space["event"]["id"])
        self.names.append("")
        self._stat_names = [*space.texts("stat_name", "name"), ""]
        self.base_ns, self.start_ps = self._times()
        self.duration_ps = np.maximum(space["event"]["duration_ps"], 0)
        self._require_measurable()

    def _times(self) -> tuple[int, Ints]:
        """A moment in nanoseconds, and when each event began in picoseconds after it."""
        stamps = self._space["line"]["timestamp_ns"]
        used = stamps[np.unique(self.line)]
        first = int(used.min()) if len(used) else 0
        since = used - first
        if len(used) and not 0 <= int(since.max()) < _LARGE // 1000:
            raise InputError(self.path, "its lines are centuries apart in time; it is damaged.")
        base = first + (self.profile_start_ns if first < _RELATIVE_NS else 0)
        offset = self._space["event"]["offset_ps"]
        if len(offset) and int(np.abs(offset.astype(np.float64)).max()) > _LARGE:
            raise InputError(self.path, "an event is centuries after the others; it is damaged.")
        return base, (stamps - first)[self.line] * PS_PER_NANO + offset

    def time_ns(self, ps: Ints) -> Ints:
        """Moments in nanoseconds."""
        return self.base_ns + ps // PS_PER_NANO

    @cached_property
    def profile_start_ns(self) -> int:
        """When the recording began, in nanoseconds since 1970; 0 where it does not say."""
        stats = self._space["plane_stat"]
        keys = lookup(self._space["stat_name"], stats["owner"], stats["id"]).tolist()
        for row, key in enumerate(keys):
            if self._stat_names[key] == "profile_start_time":
                value = int(stats["unsigned"][row] or stats["signed"][row])
                return value if 0 < value < _LARGE else 0
        return 0

    def _require_measurable(self) -> None:
        if float(self.duration_ps.astype(np.float64).sum()) > _LARGE:
            raise InputError(self.path, "its events add up to more than 50 days; it is damaged.")

    @cached_property
    def _stat_keys(self) -> Ints:
        """Which of the distinct names of facts each fact has."""
        stats = self._space["stat"]
        rows = lookup(self._space["stat_name"], self.plane[stats["owner"]], stats["id"])
        return self._distinct_stat_names[1][rows]

    @cached_property
    def _distinct_stat_names(self) -> tuple[dict[str, int], Ints]:
        codes: dict[str, int] = {}
        of_row = ints([codes.setdefault(name, len(codes)) for name in self._stat_names])
        return codes, of_row

    def _facts(self, key: str) -> Ints:
        """The facts of that name, a row of `stat` each."""
        code = self._distinct_stat_names[0].get(key, -1)
        return np.flatnonzero(self._stat_keys == code)

    def numbers(self, key: str) -> tuple[Ints, Ints]:
        """Which events have the fact `key`, and the number it is."""
        rows, stats = self._facts(key), self._space["stat"]
        value = np.where(stats["unsigned"] != 0, stats["unsigned"], stats["signed"])
        return stats["owner"][rows], value[rows]

    def texts(self, key: str) -> tuple[Ints, Coded]:
        """Which events have the fact `key`, and the text it is."""
        rows, stats = self._facts(key), self._space["stat"]
        event = stats["owner"][rows]
        is_stated = stats["text_end"][rows] > stats["text_start"][rows]
        meant = lookup(self._space["stat_name"], self.plane[event], stats["ref"][rows])
        # A text that many events have is a reference: it is looked at once.
        known, of_known = np.unique(meant[~is_stated], return_inverse=True)
        texts = [self._stat_names[row] for row in known.tolist()]
        codes = np.empty(len(rows), np.int64)
        codes[~is_stated] = of_known
        codes[is_stated] = len(texts) + np.arange(int(is_stated.sum()))
        texts += self._space.texts("stat", "text", rows[is_stated])
        return event, Coded(codes, Strings(texts))

    def _number_of(self, key: str, events: Ints) -> Ints:
        """The fact `key` of each of `events`, 0 where one has none."""
        values = np.zeros(len(self.name), np.int64)
        owner, value = self.numbers(key)
        values[owner] = value
        return values[events]

    def _on(self, planes: list[bool]) -> Bools:
        return np.array([*planes, False])[self.plane]

    @cached_property
    def _on_host(self) -> Bools:
        return self._on([name == _HOST_PLANE for name in self.planes])

    @cached_property
    def _gpu_of_line(self) -> Ints:
        """The GPU of each line that is a stream of one, -1 for others."""
        gpus = [_DEVICE_PLANE.fullmatch(name) for name in self.planes]
        owners = self._space["line"]["owner"].tolist()
        return ints(
            [
                int(gpu[1]) if (gpu := gpus[plane]) and _STREAM_LINE.match(name) else -1
                for plane, name in zip(owners, self.lines, strict=True)
            ]
        )

    def _named(self, names: set[str]) -> Bools:
        return np.array([name in names for name in self.names])[self.name]

    def runs(self) -> OpRuns:
        """Every run of an op: on threads, and as kernels on streams."""
        table = NameTable()
        kinds: dict[str, str] = {}
        host = self._host_ops(table, kinds)
        kernels = self._kernels(table, kinds)
        event, name, gpu = (np.concatenate(pair) for pair in zip(host, kernels, strict=True))
        own = self.duration_ps[event]
        own[: len(host[0])] = _own(self.line[host[0]], self.start_ps[host[0]], own[: len(host[0])])
        names = list(table.texts())
        return OpRuns(event, name, gpu, own, names, [kinds[one] for one in names])

    def _host_ops(self, table: NameTable, kinds: dict[str, str]) -> tuple[Ints, Ints, Ints]:
        is_data = np.array([line.startswith("tf_data") for line in [*self.lines, ""]])[self.line]
        texts: list[str] = []
        for text in self.names:
            found = _OP.fullmatch(text)
            texts.append(op_name(found[1]) if found else "")
            if found:
                kinds.setdefault(texts[-1], found[2])
                kinds.setdefault(f"{DATA_SCOPE}/{texts[-1]}", found[2])
        is_op = np.array([bool(text) for text in texts])[self.name] & self._on_host
        event = np.flatnonzero(is_op)
        key, code = np.unique(self.name[event] * 2 + is_data[event], return_inverse=True)
        ids = table.add(
            [f"{DATA_SCOPE}/{texts[one // 2]}" if one % 2 else texts[one // 2] for one in key]
        )
        eager, eager_ids = self._eager(table, kinds)
        event = np.concatenate((event, eager))
        return event, np.concatenate((ids[code], eager_ids)), np.full(len(event), -1)

    def _eager(self, table: NameTable, kinds: dict[str, str]) -> tuple[Ints, Ints]:
        """The kernels that ran for single ops, outside of functions, and the op of each."""
        is_kernel = self._named({"EagerKernelExecute"}) & self._on_host
        found = [_EAGER.fullmatch(name) for name in self.names]
        op = ["" if one is None or one[1].startswith("__") else one[1] for one in found]
        is_call = np.array([one is not None for one in found])[self.name] & self._on_host
        order = np.lexsort((is_kernel, self.start_ps, self.line))
        order = order[(is_kernel | is_call)[order]]
        call = np.maximum.accumulate(np.where(is_call[order], np.arange(len(order)), -1))
        kernel = np.flatnonzero(is_kernel[order] & (call >= 0))
        kernel = kernel[self.line[order[call[kernel]]] == self.line[order[kernel]]]
        texts = [op[row] for row in self.name[order[call[kernel]]].tolist()]
        rows = [row for row, text in enumerate(texts) if text]
        names = [f"{EAGER_SCOPE}/{texts[row]}" for row in rows]
        kinds.update({f"{EAGER_SCOPE}/{texts[row]}": texts[row] for row in rows})
        return order[kernel[rows]], table.add(names)

    @cached_property
    def _is_copy(self) -> Bools:
        flags = np.zeros(len(self.name), np.bool_)
        flags[self._space["stat"]["owner"][self._facts("memcpy_details")]] = True
        on_line = np.array(["memcpy" in line.lower() for line in [*self.lines, ""]])
        flags |= on_line[self.line]
        return flags

    def _kernels(self, table: NameTable, kinds: dict[str, str]) -> tuple[Ints, Ints, Ints]:
        """What ran on streams of GPUs on behalf of ops."""
        owner, node = self.texts("tf_op")
        gpu = np.append(self._gpu_of_line, -1)[self.line[owner]]
        names = []
        for text in node.values:
            before, _, kind = text.rpartition(":")
            names.append(op_name(before))
            kinds.setdefault(names[-1], kind or names[-1])
        is_named = np.array([*map(bool, names), False])[node.codes]
        rows = np.flatnonzero((gpu >= 0) & ~self._is_copy[owner] & is_named)
        used, code = np.unique(node.codes[rows], return_inverse=True)
        ids = table.add([names[one] for one in used.tolist()])
        return owner[rows], ids[code], gpu[rows]

    def on_streams(self) -> Bools:
        """Which events are on streams of GPUs and no transfers."""
        of_line = np.append(self._gpu_of_line, -1)
        on_stream: Bools = (of_line[self.line] >= 0) & ~self._is_copy
        return on_stream

    def transfers(self) -> Transfers:
        """What was copied to and from GPUs."""
        gpu = np.append(self._gpu_of_line, -1)[self.line]
        event = np.flatnonzero((gpu >= 0) & self._is_copy)
        return Transfers(event, gpu[event], [self.names[row] for row in self.name[event].tolist()])

    def steps(self) -> tuple[Ints, Ints]:
        """When each step began, ascending, and its number.

        A program marks steps with `tf.profiler.experimental.Trace("train", step_num=…)`. Without,
        each call of the function that took longest is one.
        """
        event, number = self.numbers("step_num")
        is_mark = self._on_host[event] & (number >= 0) & (number < _LARGE)
        event, number = event[is_mark], number[is_mark]
        if len(event):
            order = np.argsort(self.start_ps[event], kind="stable")
            return self.start_ps[event[order]], number[order]
        starts = np.sort(self.start_ps[self._calls_of_longest()])
        return starts, np.arange(len(starts))

    def functions(self) -> list[str]:
        """The traced functions that the program called, those that took longest first."""
        return list(self._calls)

    def _calls_of_longest(self) -> Ints:
        return next(iter(self._calls.values()), ints([]))

    @cached_property
    def _calls(self) -> dict[str, Ints]:
        """The calls of each function, those that took longest first."""
        event, called = self.texts("eager_op")
        is_call = (self._number_of("is_func", event) != 0) & self._on_host[event]
        event, called = event[is_call], called.take(np.flatnonzero(is_call))
        calls: dict[str, list[Ints]] = {}
        for rows in split_by(called.codes, np.argsort(called.codes, kind="stable")):
            calls.setdefault(called[rows[0]], []).append(event[rows])
        found = {name: joined(parts) for name, parts in calls.items()}
        total = {name: int(self.duration_ps[events].sum()) for name, events in found.items()}
        return {name: found[name] for name in sorted(found, key=lambda name: -total[name])}

    def memory(self) -> MemoryEvents:
        """Allocations and releases on the host's threads, whatever memory they are of."""
        taken = self._named({"MemoryAllocation"}) & self._on_host
        given = self._named({"MemoryDeallocation"}) & self._on_host
        event = np.flatnonzero(taken | given)
        event = event[np.argsort(self.start_ps[event], kind="stable")]
        size = np.clip(self._number_of("allocation_bytes", event), 0, _LARGE)
        allocator = np.full(len(self.name), "", object)
        owner, names = self.texts("allocator_name")
        allocator[owner] = np.array([*names.values, ""], object)[names.codes]
        return MemoryEvents(
            event,
            allocator[event].tolist(),
            np.where(taken[event], size, -size),
            np.clip(self._number_of("bytes_allocated", event), 0, _LARGE),
            self._number_of("addr", event),
        )


def _own(line: Ints, start: Ints, duration: Ints) -> Ints:
    """What of each duration is not that of another event within it on the same line."""
    own = duration.copy()
    order = np.lexsort((-duration, start, line))
    for rows in split_by(line, order):
        ends = np.maximum.accumulate(start[rows] + duration[rows])
        # Most threads run one op after the other, and there is nothing to subtract.
        if len(rows) > 1 and bool((start[rows[1:]] < ends[:-1]).any()):
            _subtract_inner(rows, start, duration, own)
    return np.maximum(own, 0)


def split_by(column: Ints, order: Ints) -> Iterator[Ints]:
    """The rows of each value of a column; `order` has them value by value."""
    if len(order):
        yield from np.split(order, np.flatnonzero(np.diff(column[order])) + 1)


def _subtract_inner(rows: Ints, start: Ints, duration: Ints, own: Ints) -> None:
    open_rows: list[tuple[int, int]] = []  # the end and the row of those around
    for row, begin, length in zip(
        rows.tolist(), start[rows].tolist(), duration[rows].tolist(), strict=True
    ):
        while open_rows and open_rows[-1][0] <= begin:
            open_rows.pop()
        if open_rows:
            end, outer = open_rows[-1]
            own[outer] -= min(length, end - begin)
        open_rows.append((begin + length, row))
