"""Writes Kineto traces of a fleet with a given number of events, for tools that read PyTorch's.

    python benchmarks/fleet_kineto.py OUT_DIR --ranks 8 --events 100000

A trace has steps, ops on a thread, the calls that launch kernels, and the kernels, as PyTorch
writes them for a training job on GPUs. The events have the same fields as in its traces, without
stacks and shapes.
"""

from __future__ import annotations

import argparse
import gzip
import json
from pathlib import Path

import numpy as np

_KERNELS = 60  # distinct names
_STEPS = 10
_HEAD = {"schemaVersion": 1, "displayTimeUnit": "ms", "baseTimeNanoseconds": 1_700_000_000 * 10**9}


def trace(rank: int, ranks: int, events: int, seed: int = 0) -> bytes:
    """The JSON of one rank, compressed; a third of the events are kernels."""
    rng = np.random.default_rng([seed, rank])
    ops = events // 3
    took = rng.uniform(3, 60, ops)
    start = np.cumsum(took + rng.uniform(0, 2, ops))
    parts = []
    for step, first in enumerate(range(0, ops, -(-ops // _STEPS))):
        last = min(first + -(-ops // _STEPS), ops) - 1
        length = start[last] + took[last] - start[first]
        parts.append(_event("user_annotation", f"ProfilerStep#{step}", 1, start[first], length, {}))
    for row in range(ops):
        begin, link = float(start[row]), {"correlation": row + 1, "External id": row + 1}
        name = f"op_{row % _KERNELS}"
        launch = {"cbid": 211, **link}
        kernel = {"device": rank, "context": 1, "stream": 7, **link}
        collective = "ncclDevKernel_AllReduce_Sum_f32_RING_LL" if row % 200 == 199 else ""
        parts += [
            _event("cpu_op", f"aten::{name}", 1, begin, 2.5, {"External id": row + 1}),
            _event("cuda_runtime", "cudaLaunchKernel", 1, begin + 0.5, 1.5, launch),
            _event("kernel", collective or f"void {name}", 7, begin + 2, took[row], kernel),
        ]
    document = _HEAD | {
        "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": ranks},
        "deviceProperties": [{"id": rank, "name": "GPU", "totalGlobalMem": 1 << 36}],
        "traceEvents": parts,
    }
    return gzip.compress(json.dumps(document).encode(), 1, mtime=0)


def _event(  # noqa: PLR0917 -- the fields of an event
    kind: str, name: str, thread: int, start: float, took: float, args: dict
) -> dict:
    is_kernel = kind == "kernel"
    return {
        "ph": "X",
        "cat": kind,
        "name": name,
        "pid": args.get("device", 0) if is_kernel else 1000,
        "tid": thread,
        "ts": round(1e12 + start, 3),
        "dur": round(float(took), 3),
        "args": args,
    }


def generate(folder: Path, ranks: int, events: int) -> list[Path]:
    """Write the traces of all ranks; returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"rank{rank}.json.gz" for rank in range(ranks)]
    for rank, path in enumerate(paths):
        path.write_bytes(trace(rank, ranks, events))
    return paths


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, metavar="OUT_DIR")
    parser.add_argument("--ranks", type=int, default=8)
    parser.add_argument("--events", type=int, default=100_000, help="of each rank (100000)")
    args = parser.parse_args()
    for path in generate(args.folder, args.ranks, args.events):
        print(path)


if __name__ == "__main__":
    main()
