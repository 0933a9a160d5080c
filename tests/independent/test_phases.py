"""The time of kernels by phase, as an independent program computes it, and as tfprof does."""

import compare_traces
import pytest

from formats.kineto_traces import event, trace_of
from independent import kernel_phases as phases
from kineto_programs import END, ENGINE, annotation, kernel, launch, module, op

STEP = "Optimizer.step#AdamW.step"
NODE = "autograd::engine::evaluate_function: MmBackward0"


def launched(number, name, ts, took, *, tid=1, kernel_name="k", **args):
    """An op that launches a kernel, which takes so many microseconds."""
    return (
        op(name, ts, 4, tid=tid, **args),
        launch(number, ts + 1, tid=tid),
        kernel(kernel_name, number, 1000 + 100 * number, took),
    )


def forward(number, name, ts, took, node):
    args = {"Sequence number": node, "Fwd thread id": 0}
    return launched(number, name, ts, took, **args)


def backward(number, ts, took, node):
    args = {"Sequence number": node, "Fwd thread id": 1}
    return launched(number, NODE, ts, took, tid=ENGINE, **args)


CASES = {
    "a step": (
        [
            *(annotation("ProfilerStep#1", 0, 100), annotation("ProfilerStep#2", 100, 100)),
            *launched(1, "aten::copy_", 1, 1),  # before the forward pass
            *(*forward(2, "aten::embedding", 10, 2, 7), *forward(3, "aten::mm", 20, 4, 7)),
            *launched(4, "aten::arange", 25, 8),  # between forward ops
            *forward(5, "aten::add", 30, 16, 8),
            *(*backward(6, 40, 32, 8), *backward(7, 50, 64, 7)),
            *launched(8, "aten::add_", 55, 128, tid=ENGINE),  # the engine itself
            *launched(9, "aten::norm", 60, 256),  # of gradients
            *(annotation(STEP, 70, 10), *launched(10, "aten::add_", 72, 512)),
            *forward(11, "aten::mean", 85, 1024, 9),  # a metric
            *(*forward(12, "aten::mm", 110, 2048, 9), *backward(13, 120, 4096, 9)),
        ],
        {
            "forward": 2 + 4 + 8 + 16 + 2048,
            "backward": 32 + 64 + 128 + 4096,
            "optimizer": 512,
            "other": 1 + 256 + 1024,
        },
    ),
    "annotations": (
        [
            *(annotation("attn(F)", 0, 10), *launched(1, "aten::mm", 1, 1)),
            *(annotation("attn(B)", 20, 20), annotation("mlp(F)", 30, 9)),
            *(*launched(2, "aten::mm", 21, 2), *launched(3, "aten::mm", 31, 4)),
            *(annotation("enumerate(DataLoader)#_Iter.__next__", 50, 10),),
            *launched(4, "aten::stack", 51, 8),
        ],
        {"forward": 1 + 4, "backward": 2, "input": 8},
    ),
    "modules and collectives": (
        [
            *(module("Net_0", 0, 30), *launched(1, "aten::mm", 1, 1)),
            *launched(2, "c10d::allreduce_", 10, 2, kernel_name="ncclDevKernel_AllReduce"),
            *launched(3, "aten::gelu_backward", 40, 4),
        ],
        {"forward": 1, "communication": 2, "backward": 4},
    ),
    "inference": (
        [*launched(1, "aten::mm", 0, 1), *launched(2, "aten::argmax", 10, 2)],
        {"forward": 3},
    ),
    "no launches": (
        [
            *(kernel("a", 1, 0, 1), kernel("b", 2, 20, 2)),
            event("optimizer", cat="gpu_user_annotation", ts=10, dur=20, pid=0, tid=7),
        ],
        {"other": 1, "optimizer": 2},
    ),
    "PyTorch 1.8": (
        [
            *(op("ProfilerStep#1", 0, 100), *launched(1, "aten::conv2d", 1, 1)),
            *launched(2, "ConvolutionBackward", 10, 2, tid=ENGINE),
            *(op("Optimizer.step#SGD.step", 20, 10), *launched(3, "aten::add_", 21, 4)),
        ],
        {"forward": 1, "backward": 2, "optimizer": 4},
    ),
}


@pytest.mark.parametrize(("events", "micros"), CASES.values(), ids=CASES)
def test_tfprof_agrees_about_phases(tmp_path, events, micros):
    path = tmp_path / "trace.json"
    path.write_bytes(trace_of(*events, END))

    assert phases.nanos(path) == {phase: 1000 * took for phase, took in micros.items()}
    assert compare_traces.compared(path)["phases"] == []


def test_differences_are_listed(tmp_path, monkeypatch):
    path = tmp_path / "trace.json"
    path.write_bytes(trace_of(*launched(1, "aten::mm", 0, 1), END))
    monkeypatch.setattr(phases.Phases, "of", lambda *_: "input")

    assert compare_traces.differences(path) == [
        "phases: forward 1,000, not 0",
        "phases: input 0, not 1,000",
    ]
