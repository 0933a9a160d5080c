"""A distributed training job on GPUs: its ranks, its fault, and what a rank does in a step.

A job has one of three plans. ddp: all ranks add up gradients in buckets, beside the backward pass.
hsdp: the ranks of a node share the parameters and gather them layer by layer, and the nodes add up
gradients. tp: the ranks of a node share each layer and exchange activations, while nothing
else runs; the nodes add up gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

Shapes = Callable[[int], list]  # of the length of sequences

MAIN, ENGINE = 0, 1  # threads of the host
COMPUTE, GATHER, SCATTER, ADD = 7, 20, 24, 28  # streams
BATCH, WIDTH, HEADS = 4, 1024, 16


@dataclass(frozen=True)
class Fault:
    """What is wrong with one rank. An `amount` of 0.5 makes something take 1.5 times as long.

    device: all kernels that compute. host: all work of the host, compared with that of the GPU.
    work: sequences are longer. link: all transfers in the rank's groups. input: the host waits for
    the next batch, for this share of the time of all kernels.
    """

    kind: str
    rank: int
    amount: float


@dataclass(frozen=True)
class Job:
    """A training job; the same values give the same times."""

    plan: str = "ddp"
    ranks: int = 8
    node: int = 4  # ranks of a node
    steps: int = 8
    layers: int = 4
    layer_us: float = 600.0  # of the kernels of a layer's forward pass
    host_share: float = 0.6  # the time of the host, relative to that of kernels
    transfer: float = 0.1  # the time of all transfers, relative to that of kernels
    sequence: int = 512
    reads_loss: bool = True
    has_modules: bool = False  # whether calls of modules are recorded
    noise: float = 0.015  # of each kernel and transfer, relative
    host_noise: float = 0.08  # of each op on the host, relative
    spread: float = 0.003  # of the speeds of GPUs, relative
    stalls: float = 0.0  # the share of a rank's steps in which its host stalls for half a step
    clock_ms: float = 5.0  # clocks of hosts differ by up to this
    first_step: int = 10
    seed: int = 0
    fault: Fault | None = None

    def groups(self, kind: str) -> list[list[int]]:
        """The ranks of each group: of the world, of a node, or across nodes."""
        if kind == "world":
            return [list(range(self.ranks))]
        nodes = range(0, self.ranks, self.node)
        if kind == "node":
            return [list(range(first, first + self.node)) for first in nodes]
        return [list(range(place, self.ranks, self.node)) for place in range(self.node)]

    def sequence_of(self, rank: int) -> int:
        if self.fault and self.fault.kind == "work" and self.fault.rank == rank:
            return round(self.sequence * (1 + self.fault.amount) / 8) * 8
        return self.sequence


# What a program does, in order.


@dataclass(frozen=True)
class Call:
    """An op on the host that launches a kernel."""

    op: str
    kernel: str
    share: float  # of the time of a layer's forward pass
    shapes: Shapes
    growth: int = 1  # the power of the length of sequences that its time grows with


@dataclass(frozen=True)
class Op:
    """An op on the host with the calls inside; `path` has what is around them."""

    path: tuple[str, ...]
    calls: tuple[Call, ...]
    thread: int = MAIN
    layer: int = -1


@dataclass(frozen=True)
class Collective:
    key: tuple[str, int]  # of the wait for it
    op: str
    name: str
    group: str
    stream: int
    elements: int
    share: float  # of all transfers of a step
    thread: int = MAIN


@dataclass(frozen=True)
class Wait:
    """The compute stream waits for a collective."""

    key: tuple[str, int]


@dataclass(frozen=True)
class Load:
    """The next batch, and its copy to the GPU."""


@dataclass(frozen=True)
class ReadLoss:
    """`loss.item()`: the host waits for the GPU."""


Part = Op | Collective | Wait | Load | ReadLoss

_GEMM = "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_NNT"
_NORM = "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>(int)"
_NORM_BACK = "void at::native::(anonymous namespace)::layer_norm_grad_input_kernel<float>(int)"
_POINTWISE = "void at::native::vectorized_elementwise_kernel<4, at::native::{}>(int)"
_FLASH = "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4>>(int)"
_FLASH_BACK = "void pytorch_flash::flash_bwd_dq_dk_dv_loop_kernel<Flash_bwd_kernel_traits<64>>(int)"
_ADAM = "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<FusedAdam>(int)"


def _hidden(length: int) -> list:
    return [[BATCH, length, WIDTH]]


def _heads(length: int) -> list:
    return [[BATCH, HEADS, length, WIDTH // HEADS]] * 3


def _bias(inner: int, outer: int) -> Shapes:
    return lambda length: [[outer], [BATCH * length, inner], [inner, outer]]


def _product(inner: int, outer: int) -> Shapes:
    return lambda length: [[BATCH * length, outer], [outer, inner]]


def _weights(inner: int, outer: int) -> Shapes:
    return lambda length: [[outer, BATCH * length], [BATCH * length, inner]]


def _linear(inner: int, outer: int, share: float) -> Op:
    return Op(("aten::linear",), (Call("aten::addmm", _GEMM, share, _bias(inner, outer)),))


def _linear_back(inner: int, outer: int, share: float) -> Op:
    calls = (
        Call("aten::mm", _GEMM, share, _product(inner, outer)),
        Call("aten::mm", _GEMM, share, _weights(inner, outer)),
    )
    return _engine("AddmmBackward0", *calls)


def _engine(name: str, *calls: Call) -> Op:
    return Op((f"autograd::engine::evaluate_function: {name}", name), calls, ENGINE)


_ATTENTION = (
    Op(("aten::layer_norm",), (Call("aten::native_layer_norm", _NORM, 0.025, _hidden),)),
    _linear(WIDTH, 3 * WIDTH, 0.18),
    Op(
        ("aten::scaled_dot_product_attention", "aten::_scaled_dot_product_flash_attention"),
        (Call("aten::_flash_attention_forward", _FLASH, 0.12, _heads, 2),),
    ),
    _linear(WIDTH, WIDTH, 0.06),
    Op((), (Call("aten::add", _POINTWISE.format("CUDAFunctor_add<float>"), 0.015, _hidden),)),
)
_MLP = (
    Op(("aten::layer_norm",), (Call("aten::native_layer_norm", _NORM, 0.025, _hidden),)),
    _linear(WIDTH, 4 * WIDTH, 0.25),
    Op((), (Call("aten::gelu", _POINTWISE.format("GeluCUDAKernelImpl"), 0.06, _hidden),)),
    _linear(4 * WIDTH, WIDTH, 0.25),
    Op((), (Call("aten::add", _POINTWISE.format("CUDAFunctor_add<float>"), 0.015, _hidden),)),
)
_MLP_BACK = (
    _linear_back(4 * WIDTH, WIDTH, 0.25),
    _engine(
        "GeluBackward0",
        Call("aten::gelu_backward", _POINTWISE.format("GeluBackwardCUDAKernelImpl"), 0.09, _hidden),
    ),
    _linear_back(WIDTH, 4 * WIDTH, 0.25),
    _engine(
        "NativeLayerNormBackward0",
        Call("aten::native_layer_norm_backward", _NORM_BACK, 0.05, _hidden),
    ),
)
_ATTENTION_BACK = (
    _linear_back(WIDTH, WIDTH, 0.06),
    _engine(
        "ScaledDotProductFlashAttentionBackward0",
        Call("aten::_scaled_dot_product_flash_attention_backward", _FLASH_BACK, 0.28, _heads, 2),
    ),
    _linear_back(WIDTH, 3 * WIDTH, 0.18),
    _engine(
        "NativeLayerNormBackward0",
        Call("aten::native_layer_norm_backward", _NORM_BACK, 0.05, _hidden),
    ),
)
# Of all parameters of a layer.
UPDATE = Op(("aten::_fused_adamw_",), (Call("", _ADAM, 0.2, lambda _: [], 0),))
_ELEMENTS = 12 * WIDTH * WIDTH  # parameters of a layer


def program(job: Job) -> list[Part]:
    """What each rank does in a step."""
    layers = range(job.layers)
    forward = [part for layer in layers for part in _forward(job, layer)]
    backward = [part for layer in reversed(layers) for part in _backward(job, layer)]
    start = [_gather(job, 0, "forward")] if job.plan == "hsdp" else []
    added = [part for part in backward if isinstance(part, Collective) and part.stream == ADD]
    waits = [Wait(part.key) for part in added]
    end: list[Part] = [ReadLoss()] if job.reads_loss else []
    return [Load(), *start, *forward, *backward, *waits, *[UPDATE] * job.layers, *end]


def _forward(job: Job, layer: int) -> Iterator[Part]:
    if job.plan == "hsdp":
        if layer + 1 < job.layers:
            yield _gather(job, layer + 1, "forward")
        yield Wait(("forward", layer))
    for part, ops in enumerate((_ATTENTION, _MLP)):
        yield from (replace(op, layer=layer) for op in ops)
        if job.plan == "tp":
            yield from _exchange(job, f"forward{part}", layer, MAIN)


def _backward(job: Job, layer: int) -> Iterator[Part]:
    if job.plan == "hsdp":
        if layer == job.layers - 1:
            yield _gather(job, layer, "backward")
        if layer:
            yield _gather(job, layer - 1, "backward")
        yield Wait(("backward", layer))
    for part, ops in enumerate((_MLP_BACK, _ATTENTION_BACK)):
        yield from (replace(op, layer=layer) for op in ops)
        if job.plan == "tp":
            yield from _exchange(job, f"backward{part}", layer, ENGINE)
    if job.plan == "hsdp":
        share = 0.25 / job.layers
        yield Collective(
            *(("scatter", layer), "c10d::_reduce_scatter_base_", "_reduce_scatter_base", "node"),
            *(SCATTER, _ELEMENTS, share, ENGINE),
        )
    kind = "world" if job.plan == "ddp" else "across"
    size = job.ranks // (1 if job.plan == "ddp" else job.node)
    is_due = job.plan == "hsdp" or layer % 2 == 0
    if size > 1 and is_due:
        count = job.layers if job.plan == "hsdp" else (job.layers + 1) // 2
        total = {"ddp": 1.0, "hsdp": 0.25, "tp": 0.3}[job.plan]
        yield Collective(
            *(("add", layer), "c10d::allreduce_", "allreduce", kind, ADD),
            *(_ELEMENTS // (1 if job.plan == "ddp" else job.node), total / count, ENGINE),
        )


def _gather(job: Job, layer: int, direction: str) -> Collective:
    return Collective(
        *((direction, layer), "c10d::_allgather_base_", "_allgather_base", "node", GATHER),
        *(_ELEMENTS // job.node, 0.25 / job.layers, MAIN if direction == "forward" else ENGINE),
    )


def _exchange(job: Job, part: str, layer: int, thread: int) -> Iterator[Part]:
    yield Collective(
        *((part, layer), "c10d::allreduce_", "allreduce", "node", GATHER),
        *(BATCH * WIDTH * job.sequence, 0.7 / (4 * job.layers), thread),
    )
    yield Wait((part, layer))
