"""TensorFlow's vocabulary: finds runs of ops, steps, allocations and transfers among events.

The time of an op excludes other ops inside it on the same thread. Events that only enclose ops
(`ExecutorState::Process`, `EagerKernelExecute` around a function, …) are not ops. The iterators of
tf.data are: `Iterator::Root::Batch` is the op `tf_data/Root/Batch`, without the time of the
iterators that it calls and of the ops of its function.
"""

from __future__ import annotations

import re
from functools import cached_property

import numpy as np

from tfprof.columns import Bools, Coded, Ints, NameTable, Strings, ints, joined
from tfprof.model.ops import DATA_SCOPE, EAGER_SCOPE, ITERATOR_KIND, XLA_KIND, XLA_SCOPE
from tfprof.sources.tf_names import TENSORFLOW_NAMES
from tfprof.sources.xspace_events import LARGE, Space, own_durations, split_by
from tfprof.sources.xspace_vocabulary import Kernels, MemoryEvents, OpRuns, StepMarks, Transfers

_HOST_PLANE = "/host:CPU"
_DEVICE_PLANE = re.compile(r"/device:GPU:(\d{1,3})", re.ASCII)
_STREAM_LINE = re.compile(r"Stream #(\d{1,9})", re.ASCII)
_OP = re.compile(r"([A-Za-z0-9.][A-Za-z0-9_.\\/>-]*):([A-Z_][A-Za-z0-9_]*)", re.ASCII)
_EAGER = re.compile(r"EagerLocalExecute: ([A-Za-z_][A-Za-z0-9_]*)", re.ASCII)
# A call of an iterator of tf.data; the elements of a nested dataset are numbered.
_ITERATOR = re.compile(r"Iterator::([^\s:]+(?:::[^\s:]+)*)", re.ASCII)
_ELEMENT = re.compile(r"\[\d+\]", re.ASCII)
# The kinds of ops whose functions consist of other ops: those that create a dataset, whose
# functions run in the iterators of tf.data, and compiled code.
_CALLING = re.compile(rf"\w+Dataset(V\d+)?|{XLA_KIND}", re.ASCII)
# A run of code that XLA compiled for the CPU.
_COMPILED = re.compile(r"CpuExecutable::Execute(Async)?OnStream", re.ASCII)
# The op that takes the next element from a pipeline runs on the thread that waits for it, or on a
# thread made for that.
_GET_NEXT = re.compile(r"(MultiDevice)?IteratorGetNext\w*Op::DoCompute", re.ASCII)
_GET_NEXT_THREAD = "tf_data_iterator_get_next"
# Compilation by XLA, and the ops that send the results of constant parts of a function.
_COMPILES = re.compile(r"\w*Compiler::\w+|\w+::Compile\w*|HLO passes\b.*", re.ASCII)
_FOLDED = re.compile(r"_send_ConstantFolding/.*:_Send", re.ASCII)
# The calls at the start of the names of ops in functions; calls may be nested.
_CALLS = re.compile(r"(?:(?:Stateful)?PartitionedCall(?:_\d+)?/)+", re.ASCII)
# The scopes of inlined branches and bodies have a number that is not in the graph.
_BRANCHES = re.compile(r"/(then|else|cond|body|branch)(\d*)/_\d+/", re.ASCII)


def op_name(node: str) -> str:
    """The name of an op in the innermost function, without the calls that led there."""
    called = _CALLS.match(node)
    return _BRANCHES.sub(_branch, node[called.end() :] if called else node)


def _branch(found: re.Match[str]) -> str:
    """The scope of a branch as in a flattened graph: `branch_0` for `branch0/_12`."""
    return f"/{found[1]}{'_' if found[2] else ''}{found[2]}/"


def iterator_name(event: str) -> str:
    """The op of a call of an iterator of tf.data; empty if the event is something else."""
    found = _ITERATOR.fullmatch(event)
    return "/".join([DATA_SCOPE, *_ELEMENT.sub("", found[1]).split("::")]) if found else ""


class TensorFlowEvents:
    """Interprets the events of a space recorded by TensorFlow."""

    framework = "tensorflow"
    conventions = TENSORFLOW_NAMES

    def __init__(self, space: Space) -> None:
        self.space = space

    @cached_property
    def _on_host(self) -> Bools:
        return self.space.on_planes([name == _HOST_PLANE for name in self.space.planes])

    @cached_property
    def _gpu_of_line(self) -> Ints:
        """The GPU of each line that is a stream, -1 for others."""
        gpus = [_DEVICE_PLANE.fullmatch(name) for name in self.space.planes]
        owners = self.space.plane_of_line.tolist()
        return ints(
            [
                int(gpu[1]) if (gpu := gpus[plane]) and _STREAM_LINE.match(name) else -1
                for plane, name in zip(owners, self.space.lines, strict=True)
            ]
        )

    def runs(self) -> OpRuns:
        """Every run of an op: on threads, and as kernels on streams."""
        space, table = self.space, NameTable()
        kinds: dict[str, str] = {}
        host = self._host_ops(table, kinds)
        kernels = self._kernels(table, kinds)
        event, name, gpu = (np.concatenate(pair) for pair in zip(host, kernels, strict=True))
        own, threads = space.duration_ps[event], slice(len(host[0]))
        own[threads] = own_durations(space.line[host[0]], space.start_ps[host[0]], own[threads])
        names = list(table.texts())
        calls = [row for row, one in enumerate(names) if _CALLING.fullmatch(kinds[one])]
        return OpRuns(event, name, gpu, own, names, [kinds[one] for one in names], ints(calls))

    def _host_ops(self, table: NameTable, kinds: dict[str, str]) -> tuple[Ints, Ints, Ints]:
        of_data = np.array([line.startswith("tf_data") for line in [*self.space.lines, ""]])
        is_data = of_data[self.space.line]
        texts: list[str] = []
        for text in self.space.names:
            found = _OP.fullmatch(text)
            texts.append(op_name(found[1]) if found else "")
            if found:
                kinds.setdefault(texts[-1], found[2])
                kinds.setdefault(f"{DATA_SCOPE}/{texts[-1]}", found[2])
        is_op = np.array([bool(text) for text in texts])[self.space.name] & self._on_host
        event = np.flatnonzero(is_op)
        key, code = np.unique(self.space.name[event] * 2 + is_data[event], return_inverse=True)
        ids = table.add(
            [f"{DATA_SCOPE}/{texts[one // 2]}" if one % 2 else texts[one // 2] for one in key]
        )
        parts = [
            (event, ids[code]),
            self._eager(table, kinds),
            self._iterators(table, kinds),
            self._compiled(table, kinds),
        ]
        event, name = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        return event, name, np.full(len(event), -1)

    def _iterators(self, table: NameTable, kinds: dict[str, str]) -> tuple[Ints, Ints]:
        """The calls of iterators of tf.data, and the op of each."""
        names = [iterator_name(event) for event in self.space.names]
        kinds |= {name: f"{ITERATOR_KIND}{name.rpartition('/')[2]}" for name in filter(None, names)}
        is_iterator = np.array([bool(name) for name in names])[self.space.name] & self._on_host
        event = np.flatnonzero(is_iterator)
        used, code = np.unique(self.space.name[event], return_inverse=True)
        return event, table.add([names[row] for row in used.tolist()])[code]

    def _compiled(self, table: NameTable, kinds: dict[str, str]) -> tuple[Ints, Ints]:
        """The runs of code that XLA compiled, which is a single op."""
        is_run = np.array([bool(_COMPILED.fullmatch(name)) for name in self.space.names], np.bool_)
        event = np.flatnonzero(is_run[self.space.name] & self._on_host)
        op = f"{XLA_SCOPE}/CpuExecutable"
        kinds[op] = XLA_KIND
        return event, np.repeat(table.add([op]), len(event)) if len(event) else ints([])

    def _eager(self, table: NameTable, kinds: dict[str, str]) -> tuple[Ints, Ints]:
        """The kernels of ops outside functions, and the op of each."""
        is_kernel = self.space.named({"EagerKernelExecute"}) & self._on_host
        found = [_EAGER.fullmatch(name) for name in self.space.names]
        op = ["" if one is None or one[1].startswith("__") else one[1] for one in found]
        is_call = np.array([one is not None for one in found])[self.space.name] & self._on_host
        order = np.lexsort((is_kernel, self.space.start_ps, self.space.line))
        order = order[(is_kernel | is_call)[order]]
        call = np.maximum.accumulate(np.where(is_call[order], np.arange(len(order)), -1))
        kernel = np.flatnonzero(is_kernel[order] & (call >= 0))
        kernel = kernel[self.space.line[order[call[kernel]]] == self.space.line[order[kernel]]]
        texts = [op[row] for row in self.space.name[order[call[kernel]]].tolist()]
        rows = [row for row, text in enumerate(texts) if text]
        names = [f"{EAGER_SCOPE}/{texts[row]}" for row in rows]
        kinds.update({f"{EAGER_SCOPE}/{texts[row]}": texts[row] for row in rows})
        return order[kernel[rows]], table.add(names)

    @cached_property
    def _is_copy(self) -> Bools:
        on_line = np.array(["memcpy" in line.lower() for line in [*self.space.lines, ""]])
        is_copy: Bools = self.space.having("memcpy_details") | on_line[self.space.line]
        return is_copy

    def _kernels(self, table: NameTable, kinds: dict[str, str]) -> tuple[Ints, Ints, Ints]:
        """The kernels of ops on streams of GPUs."""
        owner, node = self.space.texts("tf_op")
        gpu = np.append(self._gpu_of_line, -1)[self.space.line[owner]]
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
        """Which events ran on streams of GPUs, except transfers."""
        of_line = np.append(self._gpu_of_line, -1)
        on_stream: Bools = (of_line[self.space.line] >= 0) & ~self._is_copy
        return on_stream

    def kernels(self) -> Kernels:
        """The kernels of ops and others on streams of GPUs."""
        space = self.space
        is_fill = space.having("Memset_details") | space.having("memset_details")
        event = np.flatnonzero(self.on_streams() & ~is_fill)
        owner, stated = space.texts("kernel_details")
        details = np.full(len(space.name), len(stated.values))
        details[owner] = stated.codes
        return Kernels(
            event=event,
            gpu=np.append(self._gpu_of_line, -1)[space.line[event]],
            name=Coded(space.name[event] % len(space.names), Strings(space.names)),
            details=Coded(details[event], Strings([*stated.values, ""])),
        )

    def hardware(self, gpu: int) -> str:
        """What kind of GPU it is; empty if that was not recorded."""
        facts = self.space.plane_facts(f"/device:GPU:{gpu}")
        if name := facts.get("device_type_string"):
            return str(name)
        parts = [str(facts["device_vendor"])] if facts.get("device_vendor") else []
        if "compute_cap_major" in facts:
            minor = facts.get("compute_cap_minor", 0)
            parts.append(f"compute capability {facts['compute_cap_major']}.{minor}")
        if "core_count" in facts:
            parts.append(f"{facts['core_count']} cores")
        return ", ".join(parts)

    def transfers(self) -> Transfers:
        """Copies to and from GPUs."""
        gpu = np.append(self._gpu_of_line, -1)[self.space.line]
        event = np.flatnonzero((gpu >= 0) & self._is_copy)
        names = [self.space.names[row] for row in self.space.name[event].tolist()]
        return Transfers(event, gpu[event], names)

    def waits(self) -> Ints:
        """The events in which the program waited for the next element of its input pipeline."""
        is_wait = np.array([_GET_NEXT.fullmatch(name) is not None for name in self.space.names])
        in_pipeline = np.array(
            [
                line.startswith("tf_data") and not line.startswith(_GET_NEXT_THREAD)
                for line in [*self.space.lines, ""]
            ]
        )
        flags = is_wait[self.space.name] & self._on_host & ~in_pipeline[self.space.line]
        return np.flatnonzero(flags)

    def setup(self) -> tuple[Ints, Ints]:
        """When the program traced functions and compiled.

        When a function is optimized, its constant parts run as a graph of their own, which sends
        its results (`_send_…`). Tracing itself is not recorded: it takes the step until then.
        """
        space, marks = self.space, self.steps()
        compiles = np.array(
            [_COMPILES.fullmatch(name) is not None for name in space.names], np.bool_
        )
        folds = np.array([_FOLDED.fullmatch(name) is not None for name in space.names], np.bool_)
        compiled = np.flatnonzero(compiles[space.name] & self._on_host)
        folded = space.start_ps[np.flatnonzero(folds[space.name] & self._on_host)]
        place = np.searchsorted(marks.start_ps, folded, side="right") - 1
        folded, place = folded[place >= 0], place[place >= 0]
        start, end = (
            space.start_ps[compiled],
            space.start_ps[compiled] + space.duration_ps[compiled],
        )
        return (
            np.concatenate((start, marks.start_ps[place])),
            np.concatenate((end, folded)),
        )

    def steps(self) -> StepMarks:
        """The steps of the program.

        Programs mark steps with `tf.profiler.experimental.Trace("train", step_num=…)`. Without
        marks, each call of the function with the longest total time is a step.
        """
        event, number = self.space.numbers("step_num")
        is_mark = self._on_host[event] & (number >= 0) & (number < LARGE)
        event, number = event[is_mark], number[is_mark]
        if not len(event):
            event = self._calls_of_longest()
            number = ints([])
        order = np.argsort(self.space.start_ps[event], kind="stable")
        event = event[order]
        start = self.space.start_ps[event]
        return StepMarks(
            start,
            start + self.space.duration_ps[event],
            number[order] if len(number) else np.arange(len(event)),
        )

    def functions(self) -> list[str]:
        """The traced functions that the program called, longest total time first."""
        return list(self._calls)

    def element_bytes(self) -> dict[str, list[int]]:
        """The sizes of the elements that calls of each function took from iterators."""
        event, size = self.space.numbers("element_size")
        is_taken = (self.space.named({"IteratorGetNextOp::DoCompute"}) & self._on_host)[event]
        start, size = self.space.start_ps[event[is_taken]], size[is_taken]
        found: dict[str, list[int]] = {}
        for name, calls in self._calls.items():
            found[name] = size[self._call_at(calls, start) >= 0].tolist()
        return found

    def runs_per_call(self) -> dict[str, dict[str, float]]:
        """For each function, how often each op ran during a call of it, on average."""
        runs = self.runs()
        on_threads = runs.gpu < 0
        start, op = self.space.start_ps[runs.event[on_threads]], runs.name[on_threads]
        found: dict[str, dict[str, float]] = {}
        for name, calls in self._calls.items():
            inside = np.flatnonzero(self._call_at(calls, start) >= 0)
            counts = np.bincount(op[inside], minlength=len(runs.names))
            seen = np.flatnonzero(counts).tolist()
            found[name] = {runs.names[row]: int(counts[row]) / len(calls) for row in seen}
        return found

    def _call_at(self, calls: Ints, at_ps: Ints) -> Ints:
        """The one of `calls` during which each time is, or -1."""
        begin = self.space.start_ps[calls]
        order = np.argsort(begin)
        place = np.searchsorted(begin[order], at_ps, side="right") - 1
        call = calls[order[np.maximum(place, 0)]]
        end = self.space.start_ps[call] + self.space.duration_ps[call]
        return np.where((place >= 0) & (at_ps <= end), call, -1)

    def _calls_of_longest(self) -> Ints:
        return next(iter(self._calls.values()), ints([]))

    @cached_property
    def _calls(self) -> dict[str, Ints]:
        """The calls of each function, longest total time first."""
        event, called = self.space.texts("eager_op")
        is_call = (self.space.number_of("is_func", event) != 0) & self._on_host[event]
        event, called = event[is_call], called.take(np.flatnonzero(is_call))
        calls: dict[str, list[Ints]] = {}
        for rows in split_by(called.codes, np.argsort(called.codes, kind="stable")):
            calls.setdefault(called[rows[0]], []).append(event[rows])
        found = {name: joined(parts) for name, parts in calls.items()}
        total = {name: int(self.space.duration_ps[events].sum()) for name, events in found.items()}
        return {name: found[name] for name in sorted(found, key=lambda name: -total[name])}

    def memory(self) -> MemoryEvents:
        """Allocations and releases, of any kind of memory, on the threads of the host."""
        taken = self.space.named({"MemoryAllocation"}) & self._on_host
        given = self.space.named({"MemoryDeallocation"}) & self._on_host
        event = np.flatnonzero(taken | given)
        event = event[np.argsort(self.space.start_ps[event], kind="stable")]
        size = np.clip(self.space.number_of("allocation_bytes", event), 0, LARGE)
        allocator = np.full(len(self.space.name), "", object)
        owner, names = self.space.texts("allocator_name")
        allocator[owner] = np.array([*names.values, ""], object)[names.codes]
        return MemoryEvents(
            event,
            allocator[event].tolist(),
            np.where(taken[event], size, -size),
            np.clip(self.space.number_of("bytes_allocated", event), 0, LARGE),
            self.space.number_of("addr", event),
        )
