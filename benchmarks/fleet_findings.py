"""How reliably planted faults are found in random fleets, and nothing in clean ones.

    python benchmarks/fleet_findings.py --fleets 200 --seed 1000

Each fleet has 4 to 64 hosts, 5 to 50 steps and noise of 1 % to 6 %, and in some fleets up to 5 % of
the steps of any host take up to three times as long. A slow host loses 25 % to 60 %
of a step in one layer, always or from a step on; a host that waits for input as much. With
parameter servers, one server has much more than its share of the variables.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import fleet_servers
import numpy as np
from fleet_job import Fault, Job

import fleet
import tfprof


@dataclass(frozen=True)
class Limits:
    """The sizes of random fleets: the least and the most."""

    hosts: tuple[int, int] = (4, 64)
    steps: tuple[int, int] = (5, 50)
    noise: tuple[float, float] = (0.01, 0.06)


SMALL = Limits(hosts=(4, 12), steps=(5, 12))


def random_job(seed: int, limits: Limits) -> Job:
    """A fleet without a fault."""
    rng = np.random.default_rng([seed, 5])
    low, high = (np.array(ends) for ends in zip(limits.hosts, limits.steps, strict=True))
    hosts, steps = rng.integers(low, high + 1).tolist()
    return Job(
        hosts=hosts,
        steps=steps,
        layers=int(rng.integers(2, 7)),
        buckets=int(rng.integers(1, 3)),
        noise=float(rng.uniform(*limits.noise)),
        hiccups=float(rng.choice([0.0, 0.02, 0.05])),
        has_gpu=bool(rng.random() < 0.3),
        clock_seconds=float(rng.choice([0.0, 2.0, 3600.0])),
        drift=float(rng.choice([0.0, 1e-5])),
        seed=seed,
    )


def _straggler(folder: Path, seed: int, limits: Limits) -> str:
    job = random_job(seed, limits)
    fault = fleet.random_fault(job, "straggler", seed)
    found = _ranks(folder, job.but(faults=(fault,)))
    return _compared(job, fault, found, {fault.scope, f"gradient_tape/{fault.scope}"})


def _input(folder: Path, seed: int, limits: Limits) -> str:
    job = random_job(seed, limits)
    fault = fleet.random_fault(job, "input", seed)
    found = _ranks(folder, job.but(faults=(fault,)))
    return _compared(job, fault, found, {"input_wait"})


def _compared(job: Job, fault: Fault, found: tfprof.RankTable, where: set[str]) -> str:
    """What is wrong with the answer; empty if the host, the time and the place are right."""
    if [one.recording for one in found.slow] != [job.host_name(fault.host)]:
        return f"found {[one.recording for one in found.slow]}, not {job.host_name(fault.host)}"
    (one,) = found.slow
    wanted = job.first_step + fault.since
    # At the first steps, noise may hide the change.
    if abs(one.steps[0] - wanted) > 1:
        return f"found {one.when}, not from {wanted} on"
    places = {loss.scope or loss.part for loss in one.losses}
    return "" if places & where else f"found {places}, not {where}"


def _clean(folder: Path, seed: int, limits: Limits) -> str:
    profile = _loaded(folder, random_job(seed, limits))
    slow = [one.recording for one in profile.ranks().slow]
    checkers = "SlowHostChecker,SkewedInputChecker,UnlikeHostChecker,FullestHostChecker"
    claimed = [one.sentence for one in profile.advise(checkers)]
    return f"claimed {slow} {claimed}" if slow or claimed else ""


def _servers(seed: int, skew: float) -> fleet_servers.ServerJob:
    rng = np.random.default_rng([seed, 6])
    workers, servers, variables = rng.integers((2, 2, 20), (7, 6, 60)).tolist()
    return fleet_servers.ServerJob(workers, servers, variables, steps=2, skew=skew, seed=seed)


def _imbalance(folder: Path, seed: int, limits: Limits) -> str:
    del limits
    skew = float(np.random.default_rng([seed, 7]).uniform(0.5, 0.9))
    found = list(_balance(folder, _servers(seed, skew)))
    is_found = len(found) == 1 and found[0].startswith("/job:ps/replica:0/task:0 holds")
    return "" if is_found else f"found {found}"


def _balanced(folder: Path, seed: int, limits: Limits) -> str:
    del limits
    found = _balance(folder, _servers(seed, 0.0))
    return f"claimed {found}" if found else ""


def _balance(folder: Path, job: fleet_servers.ServerJob) -> list[str]:
    profile = tfprof.load(*fleet_servers.generate(folder, job))
    return [one.sentence for one in profile.advise("ParameterBalanceChecker")]


def _loaded(folder: Path, job: Job) -> tfprof.Profile:
    return tfprof.load(*fleet.generate(folder, job))


def _ranks(folder: Path, job: Job) -> tfprof.RankTable:
    return _loaded(folder, job).ranks()


# What is planted, and the check of one fleet: what is wrong with the answer, or nothing.
CHECKS: dict[str, Callable[[Path, int, Limits], str]] = {
    "straggler": _straggler,
    "input": _input,
    "imbalance": _imbalance,
    "clean": _clean,
    "balanced": _balanced,
}


def wrong(kind: str, seeds: range, limits: Limits) -> dict[int, str]:
    """What is wrong with the answers, by seed."""
    found = {}
    for seed in seeds:
        with TemporaryDirectory() as folder:
            if trouble := CHECKS[kind](Path(folder), seed, limits):
                found[seed] = trouble
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fleets", type=int, default=50, help="number of fleets of a kind (50)")
    parser.add_argument("--seed", type=int, default=0, help="of the first fleet (0)")
    parser.add_argument("--small", action="store_true", help="up to 12 hosts and steps")
    parser.add_argument("--kind", choices=CHECKS, action="append")
    args = parser.parse_args()
    limits = SMALL if args.small else Limits()
    for kind in args.kind or CHECKS:
        found = wrong(kind, range(args.seed, args.seed + args.fleets), limits)
        print(f"{kind}: {args.fleets - len(found)} of {args.fleets} are right", flush=True)
        for seed, trouble in found.items():
            print(f"  seed {seed}: {trouble}")


if __name__ == "__main__":
    main()
