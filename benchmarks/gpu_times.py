"""When the hosts and GPUs of a training job work, and wait for each other.

The host of a rank launches kernels and goes on; it only waits if the job reads the loss in each
step, or once about a thousand launches are pending. Kernels run one after the other on a stream.
The kernel of a collective starts when it was launched and its stream is free, and ends on all ranks
of its group together: the transfer takes its time after the last one has started. All times are
microseconds, one number per rank.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
from gpu_job import ADD, COMPUTE, SCATTER, Collective, Job, Load, Op, Part, ReadLoss, Wait, program

Times = npt.NDArray[np.float64]

LAUNCH_LATENCY, KERNEL_GAP = 4.0, 0.9
PENDING = 1000  # launches; then the host waits


@dataclass(frozen=True)
class Ran:
    """When the host did a part of a step, and when the kernels ran that it launched.

    `host` has the begin and end of the part and those of each call inside; `launch` and `kernel`
    have a row per call, with begins and ends.
    """

    part: Part
    step: int
    begin: Times
    end: Times
    host: list[tuple[Times, Times]] = field(default_factory=list)
    launch: list[tuple[Times, Times]] = field(default_factory=list)
    kernel: list[tuple[Times, Times]] = field(default_factory=list)


@dataclass
class Simulation:
    """The times of a job."""

    job: Job
    ran: list[Ran] = field(default_factory=list)
    step_begin: list[Times] = field(default_factory=list)
    step_end: list[float] = field(default_factory=list)  # on the last GPU

    def __post_init__(self) -> None:
        job, fault = self.job, self.job.fault
        self.rng = np.random.default_rng([job.seed, 11])
        self.host = np.full(job.ranks, 100.0) + self.rng.uniform(0, 50, job.ranks)
        self.stream: dict[int, Times] = defaultdict(lambda: np.zeros(job.ranks))
        self.ended: dict[tuple[str, int], Times] = {}
        self.started: list[Times] = []
        self.parts = program(job)
        ones = np.ones(job.ranks)
        # Every fault draws the same random numbers, so that only the fault differs.
        self.slower = ones + self.rng.normal(0, job.spread, job.ranks)
        self.host_slower, self.late = ones.copy(), np.zeros(job.ranks)
        self.longer = np.array([job.sequence_of(rank) / job.sequence for rank in range(job.ranks)])
        self.device_us = job.layer_us * sum(
            call.share for op in self.parts if isinstance(op, Op) for call in op.calls
        )
        if fault and fault.kind == "device":
            self.slower[fault.rank] *= 1 + fault.amount
        if fault and fault.kind == "host":
            self.host_slower[fault.rank] = (1 + fault.amount) / min(job.host_share, 1)
        if fault and fault.kind == "input":
            self.late[fault.rank] = fault.amount * self.device_us
        units = sum(1 + len(part.calls) for part in self.parts if isinstance(part, Op))
        self.unit = job.host_share * self.device_us / units

    def run(self) -> Simulation:
        for step in range(self.job.steps):
            self.step_begin.append(self.host.copy())
            for part in self.parts:
                self._do(part, step)
            self.step_end.append(float(self.stream[COMPUTE].max()))
            self.host = self.host + 20
        self.step_begin.append(self.host.copy())
        return self

    @property
    def end(self) -> Times:
        """When host and GPU have done everything."""
        return np.maximum.reduce([self.host, *self.stream.values()])

    def _do(self, part: Part, step: int) -> None:
        if isinstance(part, Wait):
            self._free(COMPUTE, self.ended[part.key])
        elif isinstance(part, Op):
            self._op(part, step)
        elif isinstance(part, Collective):
            self._collective(part, step)
        elif isinstance(part, Load):
            self._load(part, step)
        else:
            self._read_loss(part, step)

    def _free(self, stream: int, time: Times) -> None:
        self.stream[stream] = np.maximum(self.stream[stream], time)

    def _took(self, micros: float) -> Times:
        """The time of some work on the hosts."""
        noise = self.rng.lognormal(0, self.job.host_noise, self.job.ranks)
        return micros * self.host_slower * noise

    def _launch(self, stream: int, after: Times) -> Times:
        """When a kernel starts that is launched now."""
        start = np.maximum(after + LAUNCH_LATENCY, self.stream[stream] + KERNEL_GAP)
        self.started.append(start)
        return start

    def _pending(self) -> None:
        if len(self.started) > PENDING:
            self.host = np.maximum(self.host, self.started[-PENDING])

    def _op(self, op: Op, step: int) -> None:
        self._pending()
        ran = Ran(op, step, self.host, self.host)
        self.host = self.host + 0.6 * self._took(self.unit)
        for call in op.calls:
            begin, took = self.host, self._took(self.unit)
            launched = begin + 0.5 * took, begin + 0.85 * took
            self.host = begin + took
            start = self._launch(COMPUTE, launched[1])
            micros = call.share * self.job.layer_us
            noise = self.rng.lognormal(0, self.job.noise, self.job.ranks)
            end = start + micros * self.slower * self.longer**call.growth * noise
            self.stream[COMPUTE] = end
            ran.host.append((begin, self.host))
            ran.launch.append(launched)
            ran.kernel.append((start, end))
        self.host = self.host + 0.3 * self._took(self.unit)
        self._add(ran)
        self.host = self.host + 0.1 * self._took(self.unit)

    def _add(self, ran: Ran) -> None:
        self.ran.append(replace(ran, end=self.host))

    def _collective(self, part: Collective, step: int) -> None:
        self._pending()
        begin, took = self.host, self._took(30)
        launched = begin + 0.6 * took, begin + 0.75 * took
        self.host = begin + took
        # What it sends was computed by the kernels launched before, or comes from another stream.
        # Parameters may be gathered any time after their update.
        needs = self.stream[SCATTER if part.stream == ADD else COMPUTE]
        if part.key[0] not in {"forward", "backward"} or part.key == ("forward", 0):
            self._free(part.stream, np.maximum(needs, self.stream[COMPUTE]))
        start = self._launch(part.stream, launched[1])
        end = start.copy()
        for ranks in self.job.groups(part.group):
            micros = part.share * self.job.transfer * self.device_us
            micros *= self.rng.lognormal(0, 2 * self.job.noise)
            fault = self.job.fault
            if fault and fault.kind == "link" and fault.rank in ranks:
                micros *= 1 + fault.amount
            end[ranks] = start[ranks].max() + micros
        end += self.rng.uniform(0, 1, self.job.ranks)
        self.stream[part.stream] = self.ended[part.key] = end
        ran = Ran(part, step, begin, begin, [(begin, self.host)], [launched], [(start, end)])
        self._add(ran)
        self.host = self.host + self._took(2)

    def _load(self, part: Load, step: int) -> None:
        stalled = self.rng.random(self.job.ranks) < self.job.stalls
        self.host = self.host + 0.5 * self.device_us * stalled
        begin = self.host
        self.host = begin + self._took(60) + self.late
        loaded, took = self.host, self._took(40)
        launched = loaded + 0.4 * took, loaded + 0.7 * took
        start = self._launch(COMPUTE, launched[1])
        end = start + 12 * self.longer
        self.stream[COMPUTE] = end
        self.host = loaded + took
        hosts = [(begin, loaded), (loaded, self.host)]
        self._add(Ran(part, step, begin, begin, hosts, [launched], [(start, end)]))

    def _read_loss(self, part: ReadLoss, step: int) -> None:
        begin, took = self.host, self._took(20)
        launched = begin + 0.3 * took, begin + 0.7 * took
        start = self._launch(COMPUTE, launched[1])
        end = self.stream[COMPUTE] = start + 1.5
        waits = begin + took, np.maximum(begin + took, end) + 4
        self.host = waits[1] + 5
        ran = Ran(part, step, begin, begin, [(begin, self.host), waits], [launched], [(start, end)])
        self._add(ran)


def lost(job: Job) -> float:
    """How much longer the median step takes because of the fault, relative.

    The first step does not count: its kernels wait for the host, which is not ahead yet.
    """
    slow, usual = (
        float(np.median(np.diff(Simulation(one).run().step_end)))
        for one in (job, replace(job, fault=None))
    )
    return slow / usual - 1
