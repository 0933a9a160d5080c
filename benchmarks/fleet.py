"""Generates the recordings of a fleet of hosts: one training job, and what is wrong with it.

    python benchmarks/fleet.py OUT_DIR --hosts 256 --megabytes 20 --fault straggler

The same options give the same bytes. Files are in OUT_DIR/plugins/profile/run, one per host.
"""

from __future__ import annotations

import argparse
import os
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
from fleet_files import encode
from fleet_job import Fault, Job, Timeline, timeline

_FOLDER = Path("plugins") / "profile" / "run"
# The bytes of an event: of a run on a thread, and also of its kernel if there is a GPU.
_EVENT_BYTES = {False: 18, True: 43}

FAULTS = ("straggler", "input", "hardware", "kernel", "memory")


def generate(folder: Path, job: Job, *, processes: int = 1) -> list[Path]:
    """Write the files of all hosts; returns their paths."""
    target = folder / _FOLDER
    target.mkdir(parents=True, exist_ok=True)
    write = partial(_write, job, timeline(job), target)
    if processes == 1:
        return [write(host) for host in range(job.hosts)]
    with ProcessPoolExecutor(processes) as pool:
        return list(pool.map(write, range(job.hosts)))


def _write(job: Job, times: Timeline, folder: Path, host: int) -> Path:
    path = folder / f"{job.host_name(host)}.xplane.pb"
    path.write_bytes(encode(job, times, host))
    return path


def of_size(job: Job, megabytes: float) -> Job:
    """The job with as many microbatches as make files of about this size."""
    small = len(job.but(microbatches=1).program.op)
    each = len(job.but(microbatches=2).program.op) - small
    events = megabytes * 1e6 / (_EVENT_BYTES[job.has_gpu] * job.steps)
    return job.but(microbatches=max(round((events - small) / each) + 1, 1))


def random_fault(job: Job, kind: str, seed: int) -> Fault:
    """A fault of this kind, of a random host and amount."""
    rng = np.random.default_rng([seed, 4])
    host, layer = int(rng.integers(job.hosts)), int(rng.integers(job.layers))
    scope = f"model/layer_{layer}"
    since = int(rng.integers(2, job.steps // 2 + 1)) if job.steps >= 8 and rng.random() < 0.5 else 0
    share = float(job.program.weight[job.program.in_scope(scope)].sum())
    if kind == "input":
        return Fault(kind, host, float(rng.uniform(0.25, 0.6)), since=since)
    if kind in ("hardware", "memory"):
        return Fault(kind, host, float(rng.uniform(1.25, 2.0)))
    # The step takes longer by this share.
    longer = float(rng.uniform(0.25, 0.6))
    return Fault(kind, host, 1 + longer / share, scope, since if kind == "straggler" else 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, metavar="OUT_DIR")
    parser.add_argument("--hosts", type=int, default=8)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--layers", type=int, default=24)
    parser.add_argument("--megabytes", type=float, default=1.0, help="size of each file (1)")
    parser.add_argument("--noise", type=float, default=0.03, help="of step times, relative (0.03)")
    parser.add_argument("--gpu", action="store_true", help="record kernels on a GPU")
    parser.add_argument("--fault", choices=FAULTS, action="append", default=[])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    args = parser.parse_args()
    job = Job(
        hosts=args.hosts,
        steps=args.steps,
        layers=args.layers,
        noise=args.noise,
        has_gpu=args.gpu,
        seed=args.seed,
        step_ms=1000.0,
    )
    job = of_size(job, args.megabytes)
    faults = [random_fault(job, kind, args.seed + place) for place, kind in enumerate(args.fault)]
    job = job.but(faults=tuple(faults))
    paths = generate(args.folder, job, processes=args.processes)
    size = sum(path.stat().st_size for path in paths)
    print(f"{paths[0].parent}: {len(paths)} files, {size / 1e6:,.1f} MB")
    for fault in job.faults:
        print(f"{fault.kind}: {job.host_name(fault.host)} {fault}")


if __name__ == "__main__":
    main()
