"""The phases of a step of a PyTorch program."""

import pytest

from kineto_programs import (
    ENGINE,
    annotation,
    event,
    kernel,
    launch,
    loaded,
    module,
    nanos,
    op,
    python,
)
from tfprof.model.ops import Phase

NODE = "autograd::engine::evaluate_function: MmBackward0"
STEP = "Optimizer.step#AdamW.step"


def phases(tmp_path, *events, on_accelerator=False):
    """The phase of each kind of op, or of the kernels that ops of the kind launch."""
    profile = loaded(tmp_path, *events)
    names = nanos(profile, on_accelerator=on_accelerator)
    columns = profile.columns
    rows = [list(columns.ops.name).index(name) for name in names]
    return {columns.ops.kind[row]: Phase(columns.phase[row]).name.lower() for row in rows}


def forward(name, ts, number, **more):
    return op(name, ts, 4, **{"Sequence number": number, "Fwd thread id": 0}, **more)


def backward(ts, number, name=NODE):
    return op(name, ts, 4, tid=ENGINE, **{"Sequence number": number, "Fwd thread id": 1})


def test_annotations_divide_a_schedule_in_which_phases_alternate(tmp_path):
    found = phases(
        tmp_path,
        annotation("1F1B", 0, 100),
        *(annotation("attn(F)", 1, 8), op("aten::mm", 2, 4)),
        *(annotation("mlp(B)", 11, 8), op("aten::mul", 12, 4)),
        *(annotation("mlp(W)", 21, 8), op("aten::bmm", 22, 4)),
        *(annotation("combine(F)", 31, 8), op("aten::add", 32, 4)),
        op("aten::ge", 15, 2, tid=5),
        *(op("aten::sub", 42, 4), op(NODE, 50, 4, tid=ENGINE)),
    )

    assert found == {
        "aten::mm": "forward",
        "aten::mul": "backward",
        "aten::bmm": "backward",
        "aten::add": "forward",
        "aten::ge": "other",
        "aten::sub": "other",
        NODE: "backward",
    }


def test_a_kernel_has_the_phase_in_which_it_was_launched(tmp_path):
    found = phases(
        tmp_path,
        *(annotation("attn(F)", 1, 8), op("aten::mm", 2, 4), launch(1, 3)),
        *(annotation("mlp(W)", 11, 8), op("aten::bmm", 12, 4), launch(2, 13)),
        *(kernel("first", 1, 100, 30), kernel("second", 2, 130, 40)),
        on_accelerator=True,
    )

    assert found == {"aten::mm": "forward", "aten::bmm": "backward"}


def test_the_innermost_annotation_that_names_a_phase_decides(tmp_path):
    found = phases(
        tmp_path,
        annotation("[pl][profile][LightningModule]Net.optimizer_step", 0, 100),
        *(annotation("[pl][profile][Strategy]DDPStrategy.training_step", 5, 20),),
        *(annotation("## my block ##", 6, 10), op("aten::mm", 7, 4)),
        *(annotation("[pl][profile][Strategy]DDPStrategy.backward", 30, 20),),
        *(op("aten::ones_like", 31, 4), op("aten::addcdiv_", 60, 4)),
    )

    assert found == {
        "aten::mm": "forward",
        "aten::ones_like": "backward",
        "aten::addcdiv_": "optimizer",
    }


def test_names_of_scopes_are_those_of_the_annotations_of_the_program(tmp_path):
    profile = loaded(
        tmp_path,
        *(annotation("## forward ##", 0, 10), op("aten::mm", 1, 4)),
        *(annotation("## optimizer ##", 20, 30), op("aten::mul", 21, 4)),
        *(annotation(STEP, 30, 10), op("aten::add_", 31, 4)),
    )

    assert set(nanos(profile, on_accelerator=False)) == {
        "## forward ##/aten::mm",
        "## optimizer ##/aten::mul",
        "optimizer/AdamW.step/aten::add_",
    }


def test_what_a_checkpoint_computes_again_is_backward_whatever_it_calls_itself(tmp_path):
    found = phases(
        tmp_path,
        op(NODE, 0, 50, tid=ENGINE),
        module("Block_0", 5, 30, tid=ENGINE),
        *(annotation("forward", 10, 20, tid=ENGINE), op("aten::mm", 11, 4, tid=ENGINE)),
    )

    assert found["aten::mm"] == "backward"


def test_a_module_that_is_called_in_an_annotated_backward_pass_is_backward(tmp_path):
    found = phases(
        tmp_path,
        *(annotation("Backward 0", 0, 50), module("Block_0", 5, 30), op("aten::mm", 10, 4)),
        *(module("Block_0", 60, 30), op("aten::add", 65, 4)),
    )

    assert found == {"aten::mm": "backward", "aten::add": "forward"}


def test_an_optimizer_that_runs_in_the_backward_pass_is_optimizer(tmp_path):
    found = phases(
        tmp_path,
        *(op(NODE, 0, 50, tid=ENGINE), annotation(STEP, 10, 20, tid=ENGINE)),
        op("aten::add_", 11, 4, tid=ENGINE),
    )

    assert found["aten::add_"] == "optimizer"


def test_without_backward_ops_and_an_optimizer_everything_is_forward(tmp_path):
    found = phases(
        tmp_path,
        *(annotation("## forward ##", 0, 10), op("aten::mm", 1, 4)),
        *(op("aten::argmax", 20, 4), op("aten::copy_", 30, 4)),
    )

    assert set(found.values()) == {"forward"}


def test_in_a_training_step_what_nothing_accounts_for_is_unknown(tmp_path):
    found = phases(
        tmp_path,
        op("aten::randn", 0, 4),  # before the forward pass
        *(forward("aten::mm", 10, 1), backward(30, 1)),
        op("aten::linalg_vector_norm", 40, 4),  # after the backward pass
        *(annotation(STEP, 50, 10), op("aten::add_", 51, 4)),
        op("aten::lerp_", 70, 4),  # after the optimizer
    )

    assert found == {
        "aten::randn": "other",
        "aten::mm": "forward",
        NODE: "backward",
        "aten::linalg_vector_norm": "other",
        "aten::add_": "optimizer",
        "aten::lerp_": "other",
    }


def test_what_runs_between_forward_ops_and_until_the_backward_pass_is_forward(tmp_path):
    found = phases(
        tmp_path,
        *(forward("aten::mm", 0, 1), op("aten::arange", 5, 4), forward("aten::add", 10, 2)),
        op("aten::zeros", 20, 4),
        annotation("Optimizer.zero_grad#AdamW.zero_grad", 25, 4),
        op("aten::zero_", 26, 2),
        *(backward(30, 2), backward(40, 1)),
    )

    assert (found["aten::arange"], found["aten::zeros"]) == ("forward", "forward")
    assert found["aten::zero_"] == "optimizer"


def test_what_runs_outside_of_annotated_phases_is_unknown(tmp_path):
    found = phases(
        tmp_path,
        *(annotation("## forward ##", 0, 10), forward("aten::mm", 1, 1)),
        *(annotation("## next batch ##", 15, 10), op("aten::stack", 16, 4)),
        *(annotation("## backward ##", 30, 20), backward(35, 1)),
    )

    assert found["aten::stack"] == "other"


def test_annotations_of_ddp_and_fsdp_are_not_the_whole_forward_pass(tmp_path):
    found = phases(
        tmp_path,
        *(annotation("FSDP::pre_forward (layers.0)", 0, 10), op("aten::split", 1, 4)),
        op("aten::arange", 15, 4),
        *(annotation("FSDP::post_forward (layers.0)", 20, 10), op("aten::view", 21, 4)),
        *(op("aten::sum", 35, 2), backward(40, 1)),
    )

    assert found["aten::arange"] == "forward"
    assert found["aten::sum"] == "forward"


def test_forward_ops_without_gradients_have_the_number_of_the_next_op_with_one(tmp_path):
    found = phases(
        tmp_path,
        *(annotation(STEP, 0, 5), op("aten::add_", 1, 2)),
        *(op("aten::lerp_", 8, 2), forward("aten::embedding", 10, 7)),  # a frozen layer
        *(forward("aten::addmm", 20, 7), backward(40, 7)),
    )

    assert found["aten::lerp_"] == "other"
    assert found["aten::embedding"] == "forward"


def test_what_follows_the_optimizer_is_not_part_of_the_next_step(tmp_path):
    # A metric has the number of the next node, which the forward pass of the next step makes.
    found = phases(
        tmp_path,
        *(annotation("ProfilerStep#1", 0, 15), annotation(STEP, 1, 5), op("aten::add_", 2, 2)),
        *(forward("aten::mean", 8, 7), annotation("ProfilerStep#2", 20, 40)),
        *(forward("aten::embedding", 22, 7), forward("aten::addmm", 30, 7), backward(40, 7)),
    )

    assert found["aten::mean"] == "other"
    assert found["aten::embedding"] == "forward"


def test_an_annotated_backward_pass_has_a_forward_pass_before_it(tmp_path):
    found = phases(
        tmp_path,
        op("aten::conv2d", 0, 4),
        *(annotation("## backward ##", 10, 10), op("aten::convolution_backward", 12, 4)),
        *(annotation(STEP, 30, 10), op("aten::add_", 31, 4)),
    )

    assert found["aten::conv2d"] == "forward"


def test_ops_around_a_forward_op_are_forward(tmp_path):
    found = phases(
        tmp_path,
        *(op("custom::layer", 0, 20), forward("aten::mm", 5, 1), op("aten::lt", 12, 4)),
        *(annotation(STEP, 30, 5), op("aten::add_", 31, 2), backward(25, 1)),
    )

    assert (found["custom::layer"], found["aten::lt"]) == ("forward", "forward")


def test_old_traces_have_a_forward_pass_before_each_backward_pass(tmp_path):
    # They have neither numbers nor events of the engine, only the names of backward ops.
    found = phases(
        tmp_path,
        op("aten::conv2d", 0, 4),
        op("CudnnConvolutionBackward", 10, 8, tid=ENGINE),
        op("aten::mul", 11, 4, tid=ENGINE),
        op("torch::autograd::AccumulateGrad", 20, 8, tid=ENGINE),
        op("aten::div", 25, 2),
        *(annotation(STEP, 30, 10), op("aten::add_", 31, 4)),
        op("aten::relu", 50, 4),
        op("CudnnConvolutionBackward", 60, 8, tid=ENGINE),
    )

    assert found == {
        "aten::conv2d": "forward",
        "CudnnConvolutionBackward": "backward",
        "aten::mul": "backward",
        "torch::autograd::AccumulateGrad": "backward",
        "aten::div": "other",
        "aten::add_": "optimizer",
        "aten::relu": "forward",
    }


@pytest.mark.parametrize("first", [NODE, "aten::gelu_backward"])
def test_all_ops_on_a_thread_of_the_engine_are_backward(tmp_path, first):
    found = phases(
        tmp_path,
        *(module("Net_0", 0, 10), op("aten::mm", 1, 4)),
        *(op(first, 20, 5, tid=ENGINE), op("aten::div_", 30, 4, tid=ENGINE)),
    )

    assert found == {"aten::mm": "forward", first: "backward", "aten::div_": "backward"}


def test_a_thread_that_also_computes_the_forward_pass_is_not_one_of_the_engine(tmp_path):
    found = phases(
        tmp_path,
        *(module("Net_0", 0, 10), op("aten::mm", 1, 4)),
        *(op(NODE, 20, 5), op("aten::norm", 30, 4)),
    )

    assert found == {"aten::mm": "forward", NODE: "backward", "aten::norm": "other"}


def test_collectives_communicate_in_any_phase_and_so_do_their_kernels(tmp_path):
    found = phases(
        tmp_path,
        annotation("## forward ##", 0, 100),
        *(op("c10d::_allgather_base_", 5, 30), op("record_param_comms", 6, 20), launch(1, 8)),
        *(annotation("nccl:all_gather", 40, 10), launch(2, 45)),
        *(kernel("copy", 1, 100, 5), kernel("ncclDevKernel_AllGather", 2, 110, 5)),
        on_accelerator=True,
    )

    assert found == {"record_param_comms": "communication", "nccl:all_gather": "communication"}


def test_a_kernel_without_a_launch_has_the_phase_that_its_accelerator_annotates(tmp_path):
    def span(name, ts, dur):
        return event(name, cat="gpu_user_annotation", ts=ts, dur=dur, pid=0, tid=7)

    profile = loaded(
        tmp_path,
        op("aten::mm", 0, 4),
        *(span("1F1B", 10, 90), span("attn(F)", 10, 40), span("mlp(B)", 60, 20)),
        *(kernel("gemm", 91, 10, 40), kernel("gemm", 92, 60, 20), kernel("gemm", 93, 85, 5)),
        kernel("gemm", 94, 62, 7, stream=8),
    )
    names = nanos(profile, on_accelerator=True)
    columns = profile.columns

    assert {
        Phase(columns.phase[list(columns.ops.name).index(name)]).name.lower(): took
        for name, took in names.items()
    } == {"forward": 40_000, "backward": 20_000, "other": 12_000}


def test_a_call_of_backward_in_an_annotated_forward_pass_is_backward(tmp_path):
    found = phases(
        tmp_path,
        annotation("forward", 0, 100),
        op("aten::mm", 1, 4),
        *(python("torch/_tensor.py(566): backward", 10, 20), op("aten::ones_like", 12, 4)),
    )

    assert found == {"aten::mm": "forward", "aten::ones_like": "backward"}


@pytest.mark.parametrize(("took", "is_noted"), [(20, True), (0.5, False)])
def test_a_note_says_how_much_device_time_is_in_unknown_phases(tmp_path, took, is_noted):
    profile = loaded(
        tmp_path,
        *(annotation(STEP, 0, 10), op("aten::add_", 1, 4), launch(1, 2)),
        *(op("aten::lerp_", 20, 4), launch(2, 21)),
        *(kernel("update", 1, 30, 80), kernel("average", 2, 120, took)),
    )

    found = [note for note in profile.notes if "outside of the known phases" in note]
    assert len(found) == is_noted
    assert not found or "1 kernel was launched" in found[0]
    assert not found or "20 microseconds, 20.00% of the device time" in found[0]
