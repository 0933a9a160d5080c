"""When the hosts of a data-parallel training job work, wait for input and for each other.

A step of a host is: wait for input, run the forward and backward pass of all microbatches, add up
gradients with all other hosts, update the variables. Gradients are added up in buckets, while the
backward pass goes on; a bucket starts on a host when the host has its gradients, and ends when the
last host has arrived and the data is transferred. All times are nanoseconds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

START_NS = 1_700_000_000_000_000_000
ALWAYS = 0

# The ops of a layer: scope, kind, and relative time. The backward pass takes twice as long.
_LAYER = (
    ("norm_1", "LayerNorm", 2),
    ("attention/query", "MatMul", 6),
    ("attention/key", "MatMul", 6),
    ("attention/value", "MatMul", 6),
    ("attention/scores", "BatchMatMulV2", 4),
    ("attention/softmax", "Softmax", 2),
    ("attention/context", "BatchMatMulV2", 4),
    ("attention/output", "MatMul", 6),
    ("norm_2", "LayerNorm", 2),
    ("mlp/expand", "MatMul", 20),
    ("mlp/gelu", "Gelu", 2),
    ("mlp/contract", "MatMul", 20),
)
_UPDATE = 3  # the relative time of the update of a layer's variables


@dataclass(frozen=True)
class Fault:
    """What is wrong with one host.

    straggler: the ops in `scope` take `amount` times as long, from the step at place `since` on.
    input: the host waits for input, for `amount` times the time of a step.
    hardware: another accelerator, on which all ops take `amount` times as long.
    kernel: the ops in `scope` run as another kind, and take `amount` times as long.
    memory: the host uses `amount` times the memory.
    """

    kind: str
    host: int
    amount: float
    scope: str = ""
    since: int = ALWAYS


@dataclass(frozen=True)
class Job:
    """A training job; the same values give the same files."""

    hosts: int = 8
    steps: int = 20
    layers: int = 4
    microbatches: int = 1
    buckets: int = 2
    step_ms: float = 100.0
    transfer: float = 0.05  # the time of all transfers together, as a share of the step
    noise: float = 0.03  # of the time of a host's steps, relative
    spread: float = 0.01  # of the speeds of hosts, relative
    hiccups: float = 0.0  # the share of a host's steps that take up to three times as long
    clock_seconds: float = 2.0  # clocks of hosts differ by up to this
    drift: float = 0.0  # clocks of hosts run faster by up to this share
    first_step: int = 100
    has_gpu: bool = False
    seed: int = 0
    faults: tuple[Fault, ...] = ()

    def but(self, **changes: object) -> Job:
        """A copy with some values replaced."""
        return replace(self, **changes)

    @cached_property
    def program(self) -> Program:
        """The ops of a step."""
        return _program(self)

    def affected(self, fault: Fault) -> npt.NDArray[np.bool_]:
        """For each step, whether the fault has an effect."""
        return np.arange(self.steps) >= fault.since

    def host_name(self, host: int) -> str:
        return f"host-{host:0{len(str(self.hosts - 1))}d}"


@dataclass(frozen=True)
class Program:
    """The runs of ops in a step, in order; `segment` counts what runs between collectives."""

    names: tuple[str, ...]
    kinds: tuple[str, ...]
    op: Ints
    weight: Floats  # of each run; they add up to 1
    segment: Ints

    @cached_property
    def bounds(self) -> Ints:
        """The first run of each segment."""
        return np.flatnonzero(np.diff(self.segment, prepend=-1))

    def in_scope(self, scope: str) -> npt.NDArray[np.bool_]:
        """For each run, whether its op is in a scope, or is a gradient of an op in it."""
        ops = [f"/{scope}/" in f"/{name}" for name in self.names]
        return np.array(ops)[self.op]


def _program(job: Job) -> Program:
    ops: dict[tuple[str, str], int] = {}
    runs: list[tuple[int, float, int]] = []

    def run(scope: str, kind: str, weight: float, segment: int) -> None:
        runs.append((ops.setdefault((f"{scope}/{kind}", kind), len(ops)), weight, segment))

    for batch in range(job.microbatches):
        for layer in range(job.layers):
            for scope, kind, weight in _LAYER:
                run(f"model/layer_{layer}/{scope}", kind, weight, 0)
        for place, layer in enumerate(reversed(range(job.layers))):
            is_last = batch == job.microbatches - 1
            bucket = place * job.buckets // job.layers if is_last else 0
            for scope, kind, weight in reversed(_LAYER):
                run(f"gradient_tape/model/layer_{layer}/{scope}", kind, 2 * weight, bucket)
    for layer in range(job.layers):
        run(f"adam/layer_{layer}", "ResourceApplyAdam", _UPDATE, job.buckets)
    op, weight, segment = (np.array(column) for column in zip(*runs, strict=True))
    names, kinds = zip(*ops, strict=True)
    return Program(names, kinds, op, weight / weight.sum(), segment)


@dataclass(frozen=True)
class Timeline:
    """When each host did what: axes are hosts, steps, and segments or buckets.

    Times count from the start of the job, on one clock for all hosts.
    """

    begin: Floats
    end: Floats
    wait: Floats  # how long the host waited for input, from the start of the step on
    segment_start: Floats
    segment_time: Floats
    bucket_start: Floats
    bucket_end: Floats


def timeline(job: Job) -> Timeline:
    """Simulate the steps of all hosts."""
    rng = np.random.default_rng([job.seed, 1])
    step_ns = job.step_ms * 1e6
    shape = job.hosts, job.steps
    wait = step_ns * 0.01 * rng.lognormal(0.0, 0.3, shape)
    for fault in job.faults:
        if fault.kind == "input":
            amounts = fault.amount * rng.lognormal(0.0, 0.1, job.steps)
            wait[fault.host] += step_ns * amounts * job.affected(fault)
    segment_time = _segment_times(job, step_ns, rng)
    each = step_ns * job.transfer / job.buckets
    transfer = each * rng.lognormal(0.0, 0.05, (job.steps, job.buckets))
    late = rng.exponential(10_000.0, (*shape, job.buckets))
    pause = rng.exponential(step_ns * 0.002, shape)
    found = Timeline(
        begin=np.empty(shape),
        end=np.empty(shape),
        wait=wait,
        segment_start=np.empty((*shape, job.buckets + 1)),
        segment_time=segment_time,
        bucket_start=np.empty((*shape, job.buckets)),
        bucket_end=np.empty((*shape, job.buckets)),
    )
    now = rng.exponential(step_ns * 0.02, job.hosts)
    for step in range(job.steps):
        found.begin[:, step] = now
        now = _run_step(found, step, now + wait[:, step], transfer[step], late[:, step])
        found.end[:, step] = now
        now = now + pause[:, step]
    return found


def _run_step(found: Timeline, step: int, now: Floats, transfer: Floats, late: Floats) -> Floats:
    """Run the step of all hosts from `now` on; returns when they have done it."""
    free = now
    for bucket in range(len(transfer)):
        found.segment_start[:, step, bucket] = now
        now = now + found.segment_time[:, step, bucket]
        start = np.maximum(now, free)
        free = start.max() + transfer[bucket] + late[:, bucket]
        found.bucket_start[:, step, bucket] = start
        found.bucket_end[:, step, bucket] = free
    now = np.maximum(now, free)
    found.segment_start[:, step, -1] = now
    return now + found.segment_time[:, step, -1]


def _segment_times(job: Job, step_ns: float, rng: np.random.Generator) -> Floats:
    """How long each host computes in each step, by segment."""
    program = job.program
    noise = rng.lognormal(0.0, job.noise, (job.hosts, job.steps))
    speed = rng.lognormal(0.0, job.spread, job.hosts)
    now_and_then = np.random.default_rng([job.seed, 8])
    is_hit = now_and_then.random(noise.shape) < job.hiccups
    noise *= np.where(is_hit, now_and_then.uniform(1.3, 3.0, noise.shape), 1.0)
    times = np.empty((job.hosts, job.steps, job.buckets + 1))
    times[:] = np.add.reduceat(program.weight, program.bounds)
    for fault in job.faults:
        extra = np.add.reduceat(program.weight * (slowdown(job, fault) - 1), program.bounds)
        times[fault.host] += extra * job.affected(fault)[:, None]
    return step_ns * times * (noise * speed[:, None])[:, :, None]


def slowdown(job: Job, fault: Fault) -> Floats:
    """For each run of the program, how many times as long it takes with the fault."""
    if fault.kind == "hardware":
        return np.full(len(job.program.op), fault.amount)
    if fault.kind in ("straggler", "kernel"):
        return np.where(job.program.in_scope(fault.scope), fault.amount, 1.0)
    return np.ones(len(job.program.op))
