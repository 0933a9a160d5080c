"""Matrix products and convolutions in float32 that do not use tensor cores.

Tensor cores multiply TF32, bfloat16 and float16 several times as fast. Which kernels use them
follows from their names. Counts the kernels of a typical recorded step on GPUs that have tensor
cores.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from tfprof.advisor.finding import Evidence, Finding
from tfprof.advisor.kinds import by_kind
from tfprof.advisor.steps import gain, whole_micros
from tfprof.columns import Bools
from tfprof.measures.steps import Step, on_lanes, op_flags, typical_step
from tfprof.model.profile import ProfileColumns
from tfprof.units import Unit, format_percent

SUMMARY = "Products in float32 that do not use the tensor cores of the GPU (PyTorch)."

# Kernels of cuBLAS, CUTLASS and cuDNN that multiply float32 without tensor cores. Attention in
# float32 (`fmha_cutlassF_f32_…`) uses them.
_FLOAT32 = re.compile(
    r"simt_sgemm|_f32f32_f32f32_f32_.*_ffma|"
    r"(?:volta|maxwell|ampere|turing|hopper|blackwell)_s(?:gemm|cudnn)|implicit_convolve_sgemm"
)
# GPUs of NVIDIA before tensor cores.
_WITHOUT_TENSOR_CORES = re.compile(r"GTX|Tesla [KMP]\d|Quadro [KMP]|TITAN X|[KMP]\d{2,3}\b(?!0)")
_LEAST_SHARE = 0.1


def check(profile: ProfileColumns) -> Iterator[Finding]:
    """Report if such kernels take much of the time of the accelerator."""
    step = typical_step(profile)
    kernels = on_lanes(profile, step) & _has_tensor_cores(profile)[step.device]
    slow = kernels & op_flags(step, _is_float32(profile))
    took = step.end - step.start
    whole, part = int(took[kernels].sum()), int(took[slow].sum())
    if part and part >= _LEAST_SHARE * whole:
        yield _finding(profile, step, slow, part, whole)


def _has_tensor_cores(profile: ProfileColumns) -> Bools:
    """For each device, whether it is a GPU with tensor cores; False for an unknown model."""
    models = profile.devices.model
    flags = ["NVIDIA" in name and not _WITHOUT_TENSOR_CORES.search(name) for name in models]
    return np.array([*flags, False], np.bool_)


def _is_float32(profile: ProfileColumns) -> Bools:
    """For each op, whether it is a kernel whose name says that it multiplies float32."""
    types = profile.ops.types
    flags = np.array([_FLOAT32.search(name) is not None for name in types.names], np.bool_)
    return types.members.any(flags[types.members.values])


def _finding(profile: ProfileColumns, step: Step, slow: Bools, part: int, whole: int) -> Finding:
    shown = by_kind(profile, step, slow, by_time=True)
    return Finding(
        f"{format_percent(part, whole)} of the kernel time of {step.title} goes to products in "
        'float32 without tensor cores. Call `torch.set_float32_matmul_precision("high")`, which '
        "uses TF32 from Ampere GPUs on, or train in bfloat16 with `torch.autocast`.",
        Evidence.of(
            {"kind": None, "kernels": Unit.COUNT, "time": Unit.MICROS},
            [(one.kind, one.runs, whole_micros(one.nanos)) for one in shown],
        ),
        ops=tuple(one.kind for one in shown),
        gain=gain(profile, step, step.covered(slow)),
        command=(
            *("op", "-select", "accelerator_micros,op_types", "-order_by", "accelerator_micros"),
            *step.option,
        ),
    )
