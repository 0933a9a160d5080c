"""Traces of ranks on GPUs that compute, communicate, and wait for each other as they are told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kineto_programs import annotation, kernel, launch, loaded, op

STEPS = 6
STEP = 1000.0


def reduction(
    number: int, launched: float, start: float, end: float, ranks: Sequence[int]
) -> list[dict[str, Any]]:
    """A collective: its calls on the host, with what they say of the message, and its kernel."""
    message = {
        "Collective name": "allreduce",
        "dtype": "Float",
        "In msg nelems": 1000,
        "Out msg nelems": 1000,
        "Group size": len(ranks),
        "Process Group Ranks": str(list(ranks)),
    }
    return [
        op("c10d::allreduce_", launched, 4),
        op("record_param_comms", launched + 0.5, 3, **message),
        op("nccl:all_reduce", launched + 1, 2),
        launch(number, launched + 1.5),
        kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", number, start, end - start, stream=20),
    ]


def traces(
    folder: Path,
    *,
    ranks: int = 4,
    groups: Sequence[tuple[int, ...]] = (),
    compute: Mapping[int, float] | None = None,
    late: Mapping[int, float] | None = None,
    transfer: Mapping[tuple[int, ...], float] | None = None,
    waits: bool = True,
) -> list[Path]:
    """Traces of ranks that compute, then reduce in their group and end together.

    `compute` and `late` have microseconds by rank: of the product, and until it is launched;
    `transfer` by group. The clocks of ranks differ by 3 ms.
    """
    groups = groups or [tuple(range(ranks))]
    compute, late, transfer = compute or {}, late or {}, transfer or {}
    paths = []
    for rank in range(ranks):
        (group,) = (one for one in groups if rank in one)
        events, clock = [], 3000 * rank
        for step in range(STEPS):
            at = clock + step * STEP
            arrivals = {one: 20 + late.get(one, 0) + compute.get(one, 200) for one in group}
            end = max(arrivals.values()) + transfer.get(group, 50)
            first, number = at + 10 + late.get(rank, 0), 2 * step + 1
            events += [
                annotation(f"ProfilerStep#{step}", at, STEP),
                op("aten::mm", first, 5),
                launch(number, first + 1),
                kernel("gemm", number, at + 20 + late.get(rank, 0), compute.get(rank, 200)),
                *reduction(number + 1, first + 6, at + arrivals[rank], at + end, group),
            ]
            if waits:
                sync = launch(0, first + 12)
                took = at + end - first - 12
                events.append(sync | {"name": "cudaStreamSynchronize", "dur": took, "args": {}})
        own = folder / f"rank{rank}"
        own.mkdir()
        loaded(own, *events, distributedInfo={"rank": rank})
        paths.append(own / "trace.json")
    return paths
