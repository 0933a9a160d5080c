"""What a PyTorch program does already to launch fewer kernels, so that it is not advised again."""

from __future__ import annotations

import numpy as np

from tfprof.columns import Bools
from tfprof.measures.steps import Step
from tfprof.model.profile import ProfileColumns

_GRAPH = "GraphLaunch"  # `cudaGraphLaunch`, `hipGraphLaunch`
_COMPILED = ("Torch-Compiled Region", "CompiledFunction", "triton_")


def in_graphs(profile: ProfileColumns) -> Bools:
    """For each op, whether it is the launch of a graph, or runs inside of one."""
    found = _of_kinds(profile, [_GRAPH in kind for kind in profile.ops.kind.values])
    outer = profile.ops.part_of
    while (outer >= 0).any():
        found |= (outer >= 0) & found[outer]
        outer = np.where(outer >= 0, profile.ops.part_of[outer], -1)
    return found


def launch_advice(profile: ProfileColumns, step: Step) -> str:
    """How the accelerator would wait less for the host, unless the step does that already."""
    ops = np.unique(step.op[step.op >= 0])
    compiled = _of_kinds(profile, [kind.startswith(_COMPILED) for kind in profile.ops.kind.values])
    if in_graphs(profile)[ops].any():
        return (
            "Part of the step is launched as graphs already: find the ops outside of them, or use "
            "larger batches."
        )
    if compiled[ops].any():
        return (
            "Modules are compiled already: launch them as CUDA graphs "
            '(`mode="reduce-overhead"`), or use larger batches.'
        )
    return (
        "Launch fewer and larger kernels: larger batches, `torch.compile`, or CUDA graphs "
        '(`mode="reduce-overhead"`).'
    )


def _of_kinds(profile: ProfileColumns, flags: list[bool]) -> Bools:
    found: Bools = np.array(flags, np.bool_)[profile.ops.kind.codes]
    return found
