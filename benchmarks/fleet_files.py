"""The recording of one host of a job, as an XSpace file."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from encoding import framed
from fleet_job import START_NS, Fault, Floats, Ints, Job, Timeline, slowdown
from wire_rows import Rows, named

from tfprof.formats.wire import encoded

_PS_PER_NS = 1000
_CALL = "StatefulPartitionedCall"
_BUCKET = "all_reduce/bucket_{}/CollectiveReduceV2:CollectiveReduceV2"
_BUSY = 0.97  # of the time of a run; the rest passes until the next one starts
_LAUNCH_NS = 4_000  # how long a thread takes to launch a kernel
_ALLOCATIONS = 8  # per step
_BYTES = 64 << 20  # of each allocation

# The accelerators: the facts that a plane states about them.
_USUAL = {"compute_cap_major": 9, "compute_cap_minor": 0, "core_count": 132}
_OTHER = {"compute_cap_major": 8, "compute_cap_minor": 0, "core_count": 108}


def encode(job: Job, times: Timeline, host: int) -> bytes:
    """The bytes of the file of a host."""
    rng = np.random.default_rng([job.seed, 2, host])
    clock = _Clock.of(job, host)
    runs = _Runs.of(job, times, host, rng)
    faults = [fault for fault in job.faults if fault.host == host]
    thread, marks = _Plane("/host:CPU"), _marks(job, times, host)
    for line, events in (("python", marks), ("tf_Compute/1", runs.on_thread(job, faults))):
        thread.add(line, clock, events)
    if job.has_gpu:
        gpu = _Plane("/device:GPU:0")
        gpu.add("Stream #13(Compute)", clock, runs.on_stream(job, faults))
        gpu.add("Stream #21(NCCL)", clock, _collectives(job, times, host, is_kernel=True))
        is_other = any(fault.kind == "hardware" for fault in faults)
        for name, value in (_OTHER if is_other else _USUAL).items():
            gpu.state(name, value)
        gpu.state_text("device_vendor", "Nvidia")
        planes = [thread, gpu]
    else:
        thread.add("tf_Compute/2", clock, _collectives(job, times, host, is_kernel=False))
        planes = [thread]
    task = _Plane("Task Environment")
    task.state("profile_start_time", clock.start_ns)
    content = [framed(1, plane.encode()) for plane in (*planes, task)]
    return b"".join([*content, framed(4, job.host_name(host).encode())])


@dataclass(frozen=True)
class _Clock:
    """The clock of a host."""

    start_ns: int
    rate: float

    @classmethod
    def of(cls, job: Job, host: int) -> _Clock:
        rng = np.random.default_rng([job.seed, 3, host])
        offset = job.clock_seconds * rng.uniform(-1, 1)
        return cls(START_NS + round(offset * 1e9), 1 + job.drift * rng.uniform(-1, 1))

    def ps(self, nanos: Floats) -> Ints:
        """The picoseconds that the clock shows at these times of the job."""
        return np.rint(nanos * (self.rate * _PS_PER_NS)).astype(np.int64)


@dataclass(frozen=True)
class _Events:
    """Events of one line, in any order: names, and one name, start and duration each."""

    names: list[str]
    name: Ints
    start: Floats
    duration: Floats
    numbers: dict[str, Ints] = field(default_factory=dict)  # facts with a number
    texts: dict[str, str] = field(default_factory=dict)  # facts with the same text for all
    text: str = ""  # the fact whose text is the name of the event; the event has another
    more: tuple[_Events, ...] = ()  # other events of the same line


class _Plane:
    """Collects the lines of a plane, and the names that they use."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._names: dict[str, int] = {}
        self._facts: dict[str, int] = {}
        self._lines: list[bytes] = []
        self._stats: list[bytes] = []

    def add(self, line: str, clock: _Clock, events: _Events) -> None:
        """Add a line."""
        content = [framed(2, line.encode()), encoded(3 << 3), encoded(clock.start_ns)]
        for some in (events, *events.more):
            content += self._rows(clock, some).framed(4).pieces()
        self._lines.append(framed(3, b"".join(content)))

    def state(self, name: str, value: int) -> None:
        """Add a number that concerns the whole plane."""
        content = encoded(1 << 3) + encoded(self._fact(name)) + encoded(3 << 3) + encoded(value)
        self._stats.append(framed(6, content))

    def state_text(self, name: str, value: str) -> None:
        """Add a text that concerns the whole plane."""
        content = encoded(1 << 3) + encoded(self._fact(name)) + framed(5, value.encode())
        self._stats.append(framed(6, content))

    def encode(self) -> bytes:
        """The bytes of the plane."""
        names = named(4, self._names) + named(5, self._facts)
        return b"".join([framed(2, self._name.encode()), *self._lines, names, *self._stats])

    def _fact(self, name: str) -> int:
        return self._facts.setdefault(name, len(self._facts) + 1)

    def _rows(self, clock: _Clock, events: _Events) -> Rows:
        start = clock.ps(events.start)
        table = self._facts if events.text else self._names
        ids = np.array([table.setdefault(name, len(table) + 1) for name in events.names])
        key = ids[events.name]
        if events.text:
            kernel = self._names.setdefault("kernel", len(self._names) + 1)
            rows = Rows.number(1, np.full(len(key), kernel))
        else:
            rows = Rows.number(1, key)
        rows += Rows.number(2, start) + Rows.number(3, clock.ps(events.duration))
        for fact, values in events.numbers.items():
            rows += (self._fact_id(fact) + Rows.number(3, values)).framed(4)
        for fact, text in events.texts.items():
            rows += (self._fact_id(fact) + Rows.number(7, [self._fact(text)])).framed(4)
        if events.text:
            rows += (self._fact_id(events.text) + Rows.number(7, key)).framed(4)
        return rows

    def _fact_id(self, name: str) -> Rows:
        return Rows.same(encoded(1 << 3) + encoded(self._fact(name)))


@dataclass(frozen=True)
class _Runs:
    """The runs of the ops of a host; axes are steps and runs."""

    start: Floats
    time: Floats
    op: Ints

    @classmethod
    def of(cls, job: Job, times: Timeline, host: int, rng: np.random.Generator) -> _Runs:
        program = job.program
        weight = np.tile(program.weight, (job.steps, 1))
        for fault in job.faults:
            if fault.host == host:
                weight[job.affected(fault)] *= slowdown(job, fault)
        weight *= rng.uniform(0.8, 1.2, weight.shape)
        lengths = np.diff(program.bounds, append=len(program.op))
        sums = np.add.reduceat(weight, program.bounds, axis=1)
        weight *= np.repeat(times.segment_time[host] / sums, lengths, axis=1)
        until = np.cumsum(weight, axis=1)
        before = until - weight
        first = before[:, program.bounds]
        shift = np.repeat(times.segment_start[host] - first, lengths, axis=1)
        return cls(before + shift, weight * _BUSY, np.tile(program.op, (job.steps, 1)))

    def on_thread(self, job: Job, faults: list[Fault]) -> _Events:
        """The runs on the thread of the host; with a GPU they only launch kernels."""
        time = np.minimum(self.time / 2, _LAUNCH_NS) if job.has_gpu else self.time
        return _Events(
            _names(job, faults),
            self.op.ravel(),
            self.start.ravel(),
            time.ravel(),
            more=self._allocations(job, faults) if job.has_gpu else (),
        )

    def on_stream(self, job: Job, faults: list[Fault]) -> _Events:
        """The runs on the stream of a GPU."""
        return _Events(
            _names(job, faults),
            self.op.ravel(),
            self.start.ravel(),
            self.time.ravel(),
            text="tf_op",
        )

    def _allocations(self, job: Job, faults: list[Fault]) -> tuple[_Events, ...]:
        """The allocations of some runs, which are all released by the last run of the step."""
        amount = [fault.amount for fault in faults if fault.kind == "memory"]
        size = round(_BYTES * (amount[0] if amount else 1.0))
        taken = np.linspace(0, len(job.program.op) - 1, _ALLOCATIONS, endpoint=False).astype(int)
        shape = job.steps, _ALLOCATIONS
        number = np.broadcast_to(np.arange(_ALLOCATIONS) + 1, shape).ravel()
        ends = np.repeat(self.start[:, -1:], _ALLOCATIONS, axis=1)
        found = []
        for name, start, level in (
            ("MemoryAllocation", self.start[:, taken], number * size),
            ("MemoryDeallocation", ends, (_ALLOCATIONS - number) * size),
        ):
            facts = {
                "bytes_allocated": level,
                "allocation_bytes": np.full(number.shape, size),
                "addr": number << 32,
            }
            moment = start.ravel() + 100 * number
            same, length = np.zeros(len(moment), np.int64), np.full(len(moment), 10.0)
            texts = {"allocator_name": "GPU_0_bfc"}
            found.append(_Events([name], same, moment, length, numbers=facts, texts=texts))
        return tuple(found)


def _names(job: Job, faults: list[Fault]) -> list[str]:
    program = job.program
    found = []
    for name, kind in zip(program.names, program.kinds, strict=True):
        is_other = any(f"/{one.scope}/" in f"/{name}" for one in faults if one.kind == "kernel")
        found.append(f"{_CALL}/{name}:{'_Fused' * is_other}{kind}")
    return found


def _marks(job: Job, times: Timeline, host: int) -> _Events:
    """The steps that the program marks, and its waits for input."""
    begin, end = times.begin[host], times.end[host]
    same = np.zeros(job.steps, np.int64)
    numbers = {"step_num": job.first_step + np.arange(job.steps)}
    waits = _Events(["IteratorGetNextOp::DoCompute"], same, begin, times.wait[host])
    return _Events(["train"], same, begin, end - begin, numbers, more=(waits,))


def _collectives(job: Job, times: Timeline, host: int, *, is_kernel: bool) -> _Events:
    start, end = times.bucket_start[host], times.bucket_end[host]
    names = [f"{_CALL}/{_BUCKET.format(bucket)}" for bucket in range(job.buckets)]
    name = np.tile(np.arange(job.buckets), job.steps)
    text = "tf_op" if is_kernel else ""
    return _Events(names, name, start.ravel(), (end - start).ravel(), text=text)
