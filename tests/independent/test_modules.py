"""The time of kernels by module, as an independent program computes it, and as tfprof does."""

import compare_traces

from formats.kineto_traces import event, trace_of
from independent import kernel_modules as modules
from independent.test_phases import NODE, launched
from kineto_programs import END, ENGINE, module, op, python


def forward(number, ts, took, node, *, tid=1):
    args = {"Sequence number": node, "Fwd thread id": 0}
    return launched(number, "aten::mm", ts, took, tid=tid, **args)


def backward(number, ts, took, node, *, thread=1):
    args = {"Sequence number": node, "Fwd thread id": thread}
    return launched(number, NODE, ts, took, tid=ENGINE, **args)


def arrow(number, ph, ts, tid):
    """A part of the arrow from a forward op to its backward op."""
    return event("fwdbwd", ph=ph, cat="fwdbwd", id=number, ts=ts, tid=tid)


def by_module(tmp_path, *events):
    """Microseconds by module, after a comparison with tfprof."""
    path = tmp_path / "trace.json"
    path.write_bytes(trace_of(*events, END))
    assert compare_traces.compared(path)["modules"] == []
    return {name: took / 1000 for name, took in modules.nanos(path).items()}


def test_a_kernel_belongs_to_the_modules_around_its_launch(tmp_path):
    found = by_module(
        tmp_path,
        *(module("Net_0", 0, 30), module("Linear_0", 5, 10), module("Linear_1", 16, 10)),
        *(*launched(1, "aten::mm", 6, 1), *launched(2, "aten::mm", 17, 2)),
        *(*launched(3, "aten::add", 26, 4), *launched(4, "aten::sum", 40, 8)),
    )

    assert found == {"Net_0/Linear_0": 1, "Net_0/Linear_1": 2, "Net_0": 4, "": 8}


def test_a_gradient_belongs_to_the_modules_of_its_forward_op(tmp_path):
    accumulate = "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"
    found = by_module(
        tmp_path,
        *(module("Net_0", 0, 30), module("Linear_0", 5, 10), module("Linear_1", 16, 10)),
        *(*forward(1, 6, 1, 7), *forward(2, 17, 2, 8)),
        *(*backward(3, 40, 4, 8), *launched(4, accumulate, 45, 8, tid=ENGINE)),
        *backward(5, 50, 16, 7),
        *(op(accumulate, 55, 9, tid=ENGINE), *launched(6, "aten::add_", 55, 32, tid=ENGINE)),
        *launched(7, "c10d::allreduce_", 60, 64, tid=ENGINE),  # of all gradients
    )

    assert found == {"Net_0/Linear_0": 1 + 16 + 32, "Net_0/Linear_1": 2 + 4 + 8, "": 64}


def test_what_a_checkpoint_computes_again_is_in_the_same_modules(tmp_path):
    args = {"Sequence number": 7, "Fwd thread id": 1}
    found = by_module(
        tmp_path,
        *(module("Net_0", 0, 30), module("Block_0", 2, 20), module("Linear_0", 5, 10)),
        *forward(1, 6, 1, 7),
        op(NODE, 40, 40, tid=ENGINE, **args),
        *(module("Block_0", 41, 20, tid=ENGINE), module("Linear_0", 42, 10, tid=ENGINE)),
        *forward(2, 43, 2, 3, tid=ENGINE),
        *backward(3, 70, 4, 3, thread=2),
        *(arrow(1, "s", 6, 1), arrow(1, "f", 40, ENGINE)),
        *(arrow(2, "s", 43, ENGINE), arrow(2, "f", 70, ENGINE)),
    )

    assert found == {"Net_0/Block_0/Linear_0": 1 + 2 + 4}


def test_a_call_that_ends_after_another_one_is_not_inside(tmp_path):
    found = by_module(
        tmp_path,
        *(module("Block_0", 0, 20), module("Block_1", 15, 20)),
        *(python("<built-in function next>", 5, 900), module("Block_2", 50, 20)),
        *(*launched(1, "aten::mm", 6, 1), *launched(2, "aten::mm", 24, 2)),
        *launched(3, "aten::mm", 51, 4),
    )

    assert found == {"Block_0": 1, "Block_1": 2, "Block_2": 4}
