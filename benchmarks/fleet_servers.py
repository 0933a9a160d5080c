"""The files of a job with parameter servers: a graph, and the traced steps of each worker."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from encoding import framed

from tfprof.formats.messages import message_class

_NODE = message_class("tensorflow.NodeDef")
_RUN_METADATA = message_class("tensorflow.RunMetadata")
_FLOAT = 1
_DEVICE = "/job:{}/replica:0/task:{}/device:CPU:0"
_START_MICROS = 1_700_000_000_000_000
_PARAMS_PER_MICRO = 2_000  # that a server updates


@dataclass(frozen=True)
class ServerJob:
    """A job; with `skew`, server 0 also has this share of what belongs on the others."""

    workers: int = 4
    servers: int = 3
    variables: int = 40
    steps: int = 3
    skew: float = 0.0
    seed: int = 0

    def sizes(self) -> list[int]:
        """The number of parameters of each variable."""
        rng = np.random.default_rng([self.seed, 1])
        return (64 * rng.integers(1_000, 10_000, self.variables)).tolist()

    def placed(self) -> list[int]:
        """The server of each variable: that with the fewest parameters, largest variables first."""
        rng = np.random.default_rng([self.seed, 2])
        sizes, held = self.sizes(), [0] * self.servers
        found = [0] * self.variables
        for variable in sorted(range(self.variables), key=lambda one: -sizes[one]):
            server = held.index(min(held))
            found[variable] = 0 if rng.random() < self.skew else server
            held[server] += sizes[variable]
        return found


def generate(folder: Path, job: ServerJob) -> list[Path]:
    """Write the files; returns their paths, the graph first."""
    folder.mkdir(parents=True, exist_ok=True)
    graph = folder / "graph.pb"
    graph.write_bytes(b"".join(framed(1, node) for node in _nodes(job.sizes())))
    paths = [graph]
    for worker in range(job.workers):
        rng = np.random.default_rng([job.seed, 3, worker])
        (folder / f"worker{worker}").mkdir(exist_ok=True)
        for step in range(job.steps):
            path = folder / f"worker{worker}" / f"run_meta_{step}"
            path.write_bytes(_traced(job, worker, step, rng))
            paths.append(path)
    return paths


def _nodes(sizes: list[int]) -> list[bytes]:
    found = []
    for place, size in enumerate(sizes):
        dims = [{"size": 64}, {"size": size // 64}]
        variable = _NODE(name=f"layer_{place}/weights", op="VariableV2")
        variable.attr["dtype"].type = _FLOAT
        for dim in dims:
            variable.attr["shape"].shape.dim.add(**dim)
        gradient = _NODE(name=f"gradients/layer_{place}/MatMul_grad/MatMul", op="MatMul")
        update = _NODE(
            name=f"train/update_layer_{place}/ApplyGradientDescent",
            op="ApplyGradientDescent",
            input=[variable.name, gradient.name],
        )
        forward = _NODE(name=f"layer_{place}/MatMul", op="MatMul", input=[variable.name])
        found += [one.SerializeToString() for one in (variable, forward, gradient, update)]
    return found


def _traced(job: ServerJob, worker: int, step: int, rng: np.random.Generator) -> bytes:
    """The RunMetadata of a step of a worker."""
    sizes, placed, own = job.sizes(), job.placed(), _DEVICE.format("worker", worker)
    on: dict[str, list[dict[str, Any]]] = {own: []}
    on |= {_DEVICE.format("ps", server): [] for server in range(job.servers)}
    now = _START_MICROS + step * 1_000_000
    for place, server in enumerate(placed):
        on[_DEVICE.format("ps", server)].append(_run(f"layer_{place}/weights", now, 1))
    for prefix, end in (("layer_{}/", "MatMul"), ("gradients/layer_{}/", "MatMul_grad/MatMul")):
        for place in range(len(sizes)):
            micros = round(500 * rng.lognormal(0.0, 0.1))
            on[_DEVICE.format("worker", worker)].append(
                _run(prefix.format(place) + end, now, micros)
            )
            now += micros
    busy = [now] * job.servers
    for place, (size, server) in enumerate(zip(sizes, placed, strict=True)):
        micros = round(size / _PARAMS_PER_MICRO * rng.lognormal(0.0, 0.05)) + 1
        name = f"train/update_layer_{place}/ApplyGradientDescent"
        on[_DEVICE.format("ps", server)].append(_run(name, busy[server], micros))
        busy[server] += micros
    stats = [{"device": device, "node_stats": runs} for device, runs in on.items()]
    return _RUN_METADATA(step_stats={"dev_stats": stats}).SerializeToString(deterministic=True)


def _run(name: str, start: int, micros: int) -> dict[str, Any]:
    return {
        "node_name": name,
        "all_start_micros": start,
        "op_end_rel_micros": micros,
        "all_end_rel_micros": micros,
    }
