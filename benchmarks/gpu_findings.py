"""Random fleets on GPUs, and whether `tfprof ranks` names the slow rank and the cause."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import gpu_traces
import numpy as np
from gpu_job import Fault, Job
from gpu_times import lost

CLEAN = "none"
# The amounts of each kind of fault: the least and the most.
AMOUNTS = {
    "device": (0.1, 1.0),
    "host": (0.1, 1.0),
    "work": (0.1, 1.0),
    "link": (0.5, 3.0),
    "input": (0.1, 0.6),
}
KINDS = (*AMOUNTS, CLEAN)
# A slow link is only known if there are groups without it. With tensor parallelism, the ranks of a
# node have the same sequences.
PLANS = {"link": ["hsdp", "tp"], "work": ["ddp", "hsdp"]}
# A fault that costs less of a step is made larger: it might be hidden behind other work.
LEAST_LOSS = 0.05
# What to say about a fleet.
RIGHT, WRONG_RANK, WRONG_CAUSE, MORE, MISSED = (
    *("right", "wrong rank", "wrong cause", "also others", "missed"),
)
CLAIMED = "claimed"  # about a clean fleet
VERDICTS = (RIGHT, WRONG_RANK, WRONG_CAUSE, MORE, MISSED, CLAIMED)


@dataclass(frozen=True)
class Limits:
    """The sizes of random fleets: the least and the most."""

    ranks: tuple[int, int] = (4, 16)
    steps: tuple[int, int] = (6, 12)
    layers: tuple[int, int] = (2, 6)


SMALL = Limits(ranks=(4, 4), steps=(6, 6), layers=(2, 2))


@dataclass(frozen=True)
class Verdict:
    job: Job
    kind: str
    word: str
    claims: list[tuple[int, str]]

    def __str__(self) -> str:
        job, fault = self.job, self.job.fault
        planted = f"rank {fault.rank} by {fault.amount:.0%}" if fault else "nothing"
        waits = "reads the loss" if job.reads_loss else "runs ahead"
        claimed = ", ".join(f"rank {rank}: {cause}" for rank, cause in self.claims) or "nothing"
        return (
            f"seed {job.seed}: {self.kind}, {planted}; {job.plan}, {job.ranks} ranks, nodes of "
            f"{job.node}, {job.steps} steps, {waits}; claimed {claimed}"
        )


def random_job(kind: str, seed: int, limits: Limits = Limits()) -> Job:
    """A fleet with a fault of a kind, whose loss is not hidden."""
    rng = np.random.default_rng([seed, 13])

    def within(ends: tuple[float, float]) -> float:
        return float(rng.uniform(*ends))

    plan = str(rng.choice(PLANS.get(kind, ["ddp", "hsdp", "tp"])))
    least, most = limits.ranks
    layouts = [
        (nodes, node)
        for nodes in (1, 2, 3, 4)
        for node in (1, 2, 4, 8)
        if least <= nodes * node <= most and (plan == "ddp" or min(nodes, node) > 1)
    ]
    nodes, node = layouts[rng.integers(len(layouts))]
    layers, steps = (
        int(rng.integers(low, high + 1)) for low, high in (limits.layers, limits.steps)
    )
    job = Job(
        plan=plan,
        ranks=nodes * node,
        node=node,
        steps=steps,
        layers=layers,
        layer_us=float(np.exp(within((np.log(200), np.log(1500))))),
        host_share=within((0.3, 0.85)),
        transfer=within((0.08, 0.3)),
        sequence=int(rng.choice([256, 512, 1024, 2048])),
        reads_loss=bool(rng.random() < 0.5),
        has_modules=bool(rng.random() < 0.2),
        noise=within((0.01, 0.02)),
        clock_ms=float(rng.choice([0.5, 5.0, 20.0])),
        stalls=float(rng.choice([0.0, 0.0, 0.03])),
        seed=seed,
    )
    if kind == CLEAN:
        return job
    fault = Fault(kind, int(rng.integers(job.ranks)), within(AMOUNTS[kind]))
    while lost(replace(job, fault=fault)) < LEAST_LOSS:
        fault = replace(fault, amount=1.3 * fault.amount)
    return replace(job, fault=fault)


def claims(answer: dict) -> list[tuple[int, str]]:
    """Which ranks are slow, and why, in the JSON of `tfprof ranks`."""
    ranks = {one["recording"]: one["rank"] for one in answer["ranks"]}
    return [(ranks[one["recording"]], one.get("cause", "unknown")) for one in answer["slow"]]


def verdict_on(job: Job, found: list[tuple[int, str]]) -> str:
    """How right the claims about a fleet are."""
    fault = job.fault
    if fault is None:
        return CLAIMED if found else RIGHT
    causes = {cause for rank, cause in found if rank == fault.rank}
    if not found:
        return MISSED
    if not causes:
        return WRONG_RANK
    if causes != {fault.kind}:
        return WRONG_CAUSE
    return RIGHT if len(found) == 1 else MORE


def judged(kind: str, seed: int, limits: Limits = Limits()) -> Verdict:
    """Make a fleet, ask about it, and judge the answer."""
    job = random_job(kind, seed, limits)
    with TemporaryDirectory() as folder:
        gpu_traces.generate(Path(folder), job)
        command = [sys.executable, "-m", "tfprof", "ranks", folder, "--json"]
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise RuntimeError(ran.stderr)
    found = claims(json.loads(ran.stdout))
    return Verdict(job, kind, verdict_on(job, found), found)


def judge(count: int, seed: int, kinds: tuple[str, ...] = KINDS) -> Iterator[Verdict]:
    """Judge fleets of these kinds, in turns."""
    for place in range(count):
        yield judged(kinds[place % len(kinds)], seed * 100_000 + place)
