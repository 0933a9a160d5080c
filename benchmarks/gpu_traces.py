"""Writes a simulated job on GPUs as traces of PyTorch, one per rank.

Events have the fields that recent versions of PyTorch write. Ranks have different clocks.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
from gpu_job import COMPUTE, ENGINE, MAIN, UPDATE, Collective, Job, Load, Op, ReadLoss
from gpu_times import Ran, Simulation

BASE_NS = 1_790_857_026 * 10**9
START = 3_873_253_000_000.0
PROCESS = 4000  # and the rank
THREADS = {MAIN: PROCESS, ENGINE: PROCESS + 64}
_GPU = {"name": "NVIDIA H200", "totalGlobalMem": 150_109_880_320, "numSms": 132}
_NCCL = "ncclDevKernel_{}_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
_KERNELS = {
    "allreduce": _NCCL.format("AllReduce_Sum_bf16"),
    "_allgather_base": _NCCL.format("AllGather"),
    "_reduce_scatter_base": _NCCL.format("ReduceScatter_Sum_bf16"),
}
_ANNOTATIONS = {
    "allreduce": "nccl:all_reduce",
    "_allgather_base": "nccl:_all_gather_base",
    "_reduce_scatter_base": "nccl:_reduce_scatter_base",
}
_GROUPS = {"world": "default_pg", "node": "mesh_shard", "across": "mesh_replicate"}


def generate(folder: Path, job: Job) -> list[Path]:
    """Write the traces of all ranks; returns their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    times = Simulation(job).run()
    paths = [folder / f"rank{rank}.json.gz" for rank in range(job.ranks)]
    for rank, path in enumerate(paths):
        path.write_bytes(gzip.compress(_Rank(times, rank).trace(), 1, mtime=0))
    return paths


class _Rank:
    """The trace of one rank."""

    def __init__(self, times: Simulation, rank: int) -> None:
        self.times, self.job, self.rank = times, times.job, rank
        self.length = self.job.sequence_of(rank)
        self.device = rank % self.job.node
        rng = np.random.default_rng([self.job.seed, 12, rank])
        self.clock = START + rng.uniform(-1, 1) * 1000 * self.job.clock_ms
        self.events: list[str] = []
        self.number = self.correlation = int(rng.integers(1000, 100_000))
        self.groups = {
            kind: next(ranks for ranks in self.job.groups(kind) if rank in ranks)
            for kind in _GROUPS
        }

    def trace(self) -> bytes:
        job = self.job
        for step in range(job.steps):
            begin, end = (self.times.step_begin[step + more][self.rank] for more in (0, 1))
            self._host("user_annotation", f"ProfilerStep#{job.first_step + step}", MAIN, begin, end)
        for ran in self.times.ran:
            self._part(ran)
        if job.has_modules:
            self._modules()
        end = float(self.times.end[self.rank]) + 500
        self._host("cuda_runtime", "cudaDeviceSynchronize", MAIN, end - 450, end - 50, cbid=165)
        header = {
            "schemaVersion": 1,
            "deviceProperties": [{"id": place, **_GPU} for place in range(job.node)],
            "cupti_version": 28,
            "cuda_runtime_version": 12090,
            "distributedInfo": self._distributed(),
            "record_shapes": 1,
            **({"with_modules": 1, "with_stack": 1} if job.has_modules else {}),
            "displayTimeUnit": "ms",
            "baseTimeNanoseconds": BASE_NS,
        }
        last = {"name": "Record Window End", "ph": "i", "s": "g", "pid": "", "tid": ""}
        self.events.append(json.dumps(last | {"ts": round(self.clock + end, 3)}))
        joined = ",\n".join(self.events)
        return f'{json.dumps(header)[:-1]}, "traceEvents": [\n{joined}\n]}}\n'.encode()

    def _distributed(self) -> dict:
        config = [
            {
                "pg_name": self._group_name(kind),
                "pg_desc": _GROUPS[kind],
                "backend_config": "cuda:nccl",
                "pg_size": len(ranks),
                "ranks": ranks,
            }
            for kind, ranks in self.groups.items()
        ]
        return {
            "backend": "nccl",
            "rank": self.rank,
            "world_size": self.job.ranks,
            "pg_count": len(config),
            "pg_config": config,
            "nccl_version": "2.27.5",
        }

    def _group_name(self, kind: str) -> str:
        """The number of the group, in the order in which all ranks create groups."""
        before = {"world": 0, "node": 1, "across": 1 + self.job.ranks // self.job.node}
        return str(before[kind] + self.job.groups(kind).index(self.groups[kind]))

    def _part(self, ran: Ran) -> None:
        if isinstance(ran.part, Op):
            self._op(ran, ran.part)
        elif isinstance(ran.part, Collective):
            self._collective(ran, ran.part)
        elif isinstance(ran.part, Load):
            self._load(ran)
        elif isinstance(ran.part, ReadLoss):
            self._read_loss(ran)

    def _op(self, ran: Ran, op: Op) -> None:
        begin, end = ran.begin[self.rank], ran.end[self.rank]
        if op == UPDATE:
            name = "Optimizer.step#AdamW.step"
            self._host("user_annotation", name, MAIN, begin - 0.2, end + 0.2)
        for depth, name in enumerate(op.path):
            inset = 0.3 * (depth + 1)
            self._host("cpu_op", name, op.thread, begin + inset, end - inset)
        for place, call in enumerate(op.calls):
            if call.op:
                shapes = call.shapes(self.length)
                args = {"Input Dims": shapes, "Input type": ["c10::BFloat16"] * len(shapes)}
                self._host("cpu_op", call.op, op.thread, *self._of(ran.host[place]), **args)
            link = self._launch("cudaLaunchKernel", 211, op.thread, ran, place)
            self._device("kernel", call.kernel, COMPUTE, self._of(ran.kernel[place]), link)

    def _collective(self, ran: Ran, part: Collective) -> None:
        begin, end = self._of(ran.host[0])
        ranks = self.groups[part.group]
        facts = {
            "Collective name": part.name,
            "In msg nelems": part.elements,
            "Out msg nelems": part.elements * (len(ranks) if "gather" in part.name else 1),
            "Group size": len(ranks),
            "dtype": "BFloat16",
            "In split size": "[]",
            "Out split size": "[]",
            "Process Group Name": self._group_name(part.group),
            "Process Group Description": _GROUPS[part.group],
            "Process Group Ranks": str(ranks),
        }
        shapes = {"Input Dims": [[part.elements]], "Input type": ["c10::BFloat16"]}
        annotation = _ANNOTATIONS[part.name]
        self._host("cpu_op", part.op, part.thread, begin, end, **shapes)
        inner = begin + 0.5, end - 0.5
        self._host("cpu_op", "record_param_comms", part.thread, *inner, **shapes, **facts)
        self._host("user_annotation", annotation, part.thread, begin + 1, end - 1)
        link = self._launch("cudaLaunchKernelExC", 430, part.thread, ran, 0)
        ran_for = self._of(ran.kernel[0])
        self._device("kernel", _KERNELS[part.name], part.stream, ran_for, link | facts)
        self._device("gpu_user_annotation", annotation, part.stream, ran_for, link)

    def _load(self, ran: Ran) -> None:
        loader = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
        self._host("user_annotation", loader, MAIN, *self._of(ran.host[0]))
        begin, end = self._of(ran.host[1])
        shapes = {"Input Dims": [[4, self.length]], "Input type": ["long int"]}
        for depth, name in enumerate(("aten::to", "aten::_to_copy", "aten::copy_")):
            self._host("cpu_op", name, MAIN, begin + depth, end - depth, **shapes)
        link = self._launch("cudaMemcpyAsync", 41, MAIN, ran, 0)
        name, link = "Memcpy HtoD (Pinned -> Device)", link | {"bytes": 32 * self.length}
        self._device("gpu_memcpy", name, COMPUTE, self._of(ran.kernel[0]), link)

    def _read_loss(self, ran: Ran) -> None:
        begin, end = self._of(ran.host[0])
        shapes = {"Input Dims": [[]], "Input type": ["float"]}
        self._host("cpu_op", "aten::item", MAIN, begin, end - 0.5, **shapes)
        self._host("cpu_op", "aten::_local_scalar_dense", MAIN, begin + 1, end - 1, **shapes)
        link = self._launch("cudaMemcpyAsync", 41, MAIN, ran, 0)
        name, link = "Memcpy DtoH (Device -> Pinned)", link | {"bytes": 4}
        self._device("gpu_memcpy", name, COMPUTE, self._of(ran.kernel[0]), link)
        waits = self._of(ran.host[1])
        self._host("cuda_runtime", "cudaStreamSynchronize", MAIN, *waits, cbid=131)

    def _modules(self) -> None:
        """A module per layer, around the ops of its forward pass."""
        inside: dict[tuple[int, int], list[Ran]] = {}
        for ran in self.times.ran:
            if isinstance(ran.part, Op) and ran.part.thread == MAIN and ran.part != UPDATE:
                inside.setdefault((ran.step, ran.part.layer), []).append(ran)
        for number, ((_, layer), forward) in enumerate(inside.items(), 1):
            begin, end = forward[0].begin[self.rank] - 0.1, forward[-1].end[self.rank] + 0.05
            ids = {"Python id": number, "Python parent id": None, "Python module id": layer}
            self._host("python_function", f"nn.Module: Block_{layer}", MAIN, begin, end, **ids)

    def _of(self, times: tuple) -> tuple[float, float]:
        return float(times[0][self.rank]), float(times[1][self.rank])

    def _launch(self, name: str, cbid: int, thread: int, ran: Ran, place: int) -> dict:
        """The arguments of the kernel that a call launches."""
        self.correlation += 1
        link = {"External id": self.number, "correlation": self.correlation}
        lane = PROCESS, THREADS[thread]
        self._event("cuda_runtime", name, lane, self._of(ran.launch[place]), {"cbid": cbid, **link})
        return link

    def _device(self, kind: str, name: str, stream: int, ran: tuple, args: dict) -> None:
        device = {"device": self.device, "context": 1, "stream": stream}
        args = args if kind == "gpu_user_annotation" else args | device
        self._event(kind, name, (self.device, stream), ran, args)

    def _host(
        self, kind: str, name: str, thread: int, begin: float, end: float, **args: object
    ) -> None:
        if kind == "cpu_op":
            self.number += 1
            args = {"External id": self.number, "Record function id": 0, **args}
            args |= {"Ev Idx": len(self.events)}
        self._event(kind, name, (PROCESS, THREADS[thread]), (begin, end), args)

    def _event(self, kind: str, name: str, lane: tuple, times: tuple, args: dict) -> None:
        ts, dur = round(self.clock + times[0], 3), round(times[1] - times[0], 3)
        self.events.append(
            f'{{"ph": "X", "cat": "{kind}", "name": "{name}", "pid": {lane[0]}, "tid": {lane[1]}, '
            f'"ts": {ts}, "dur": {dur}, "args": {json.dumps(args)}}}'
        )
