"""Events of a trace belong to what contains them, and nothing is guessed silently."""

import gzip
import json

import pytest

import tfprof
from h200 import GPT, gpt
from kineto_programs import (
    ENGINE,
    MAIN,
    annotation,
    copy,
    event,
    kernel,
    launch,
    loaded,
    module,
    nanos,
    op,
    phase_of,
    python,
)
from tfprof.errors import MissingInputError
from tfprof.model.ops import Phase
from tfprof.views.ledger import GENERATED, NO_RULE


def test_a_kernel_belongs_to_the_innermost_op_around_its_launch(tmp_path):
    profile = loaded(
        tmp_path,
        module("Net_0", 0, 100),
        op("aten::linear", 10, 50),
        op("aten::addmm", 20, 30),
        launch(5, 25),
        kernel("void gemm<float>(int)", 5, 70, 11),
    )

    assert nanos(profile, on_accelerator=True) == {
        "Net/aten::linear/aten::addmm/gemm": 11_000,
    }
    assert nanos(profile, on_accelerator=False) == {
        "Net/aten::linear": 20_000,
        "Net/aten::linear/aten::addmm": 30_000,
    }


def test_external_ids_and_correlations_are_different_numbers(tmp_path):
    profile = loaded(
        tmp_path,
        op("aten::first", 0, 10, **{"External id": 7}),
        launch(3, 2),
        op("aten::second", 20, 10, **{"External id": 3}),
        launch(7, 22),
        kernel("gemm", 7, 50, 4, **{"External id": 3}),
    )

    assert list(nanos(profile, on_accelerator=True)) == ["aten::second/gemm"]


def test_a_call_that_crosses_its_module_does_not_hide_it(tmp_path):
    # The ends of calls were rounded to microseconds.
    profile = loaded(
        tmp_path,
        module("Net_0", 0, 100),
        *(module("ReLU_0", 10, 20), python("torch/nn/modules/module.py(9): _call_impl", 12, 19)),
        op("aten::relu", 15, 5),
    )

    assert set(nanos(profile, on_accelerator=False)) == {"Net/ReLU/aten::relu"}


def test_a_step_that_crosses_calls_does_not_hide_the_module(tmp_path):
    # The first step begins inside a call of the profiler and ends inside another one.
    profile = loaded(
        tmp_path,
        python("torch/profiler/profiler.py(1): step", 0, 10),
        annotation("ProfilerStep#3", 9, 100),
        module("Net_0", 20, 60),
        python("train.py(5): forward", 21, 58),
        op("aten::relu", 30, 10),
        python("torch/profiler/profiler.py(1): step", 100, 20),
        annotation("ProfilerStep#4", 109.5, 50),
        module("Net_0", 120, 30),
        op("aten::relu", 125, 10),
    )

    assert set(nanos(profile, on_accelerator=False)) == {"Net/aten::relu", "Net/aten::relu#2"}
    assert profile.columns.steps.number.tolist() == [3, 4]


def test_a_backward_op_belongs_to_the_latest_forward_op_with_its_number(tmp_path):
    number = {"Sequence number": 9, "Fwd thread id": 0}
    backward = {"Sequence number": 9, "Fwd thread id": 1}
    profile = loaded(
        tmp_path,
        module("Net_0", 0, 60),
        op("aten::t", 5, 5, **number),
        module("Linear_0", 20, 20),
        op("aten::addmm", 25, 5, **number),
        op("AddmmBackward0", 100, 30, tid=ENGINE, **backward),
        op("aten::mm", 110, 10, tid=ENGINE),
    )

    names = nanos(profile, on_accelerator=False)

    assert "Net/Linear/AddmmBackward0/aten::mm" in names
    assert phase_of(profile, "Net/Linear/AddmmBackward0/aten::mm") == Phase.BACKWARD


def forward_on(tid, module_name, ts, number):
    args = {"Sequence number": number, "Fwd thread id": 0}
    return [module(module_name, ts, 20, tid=tid), op("aten::mm", ts + 5, 5, tid=tid, **args)]


def flow(number, ph, ts, tid):
    return event("fwdbwd", ph=ph, cat="fwdbwd", id=number, ts=ts, tid=tid)


@pytest.mark.parametrize("is_duplicated", [False, True])
def test_arrows_tell_which_of_several_threads_ran_the_forward_op(tmp_path, is_duplicated):
    # Both threads count from the same number; the logical numbers of threads are 4 and 5.
    backward = [
        op("MmBackward0", ts, 10, tid=9, **{"Sequence number": 1, "Fwd thread id": logical})
        for ts, logical in ((100, 5), (200, 4))
    ]
    flows = [flow(1, "s", 5, 1), flow(1, "f", 200, 9), flow(2, "s", 5, 3), flow(2, "f", 100, 9)]
    profile = loaded(
        tmp_path,
        *forward_on(1, "First_0", 0, 1),
        *forward_on(3, "Second_0", 0, 1),
        *backward,
        *flows,
        *(flows if is_duplicated else []),
    )

    columns = profile.columns
    starts = columns.executions.start_ns - columns.executions.start_ns.min()
    first = {
        int(start): columns.ops.name[int(columns.records.op[record])]
        for start, record in zip(starts, columns.executions.record, strict=True)
    }
    assert first[95_000] == "Second/MmBackward0"
    assert first[195_000] == "First/MmBackward0"


def test_without_arrows_the_thread_is_unknown_and_so_is_the_forward_op(tmp_path):
    profile = loaded(
        tmp_path,
        *forward_on(1, "First_0", 0, 1),
        *forward_on(3, "Second_0", 0, 1),
        op("MmBackward0", 100, 10, tid=9, **{"Sequence number": 1, "Fwd thread id": 4}),
    )

    assert "backward/MmBackward0" in nanos(profile, on_accelerator=False)


def test_gradients_are_added_up_in_the_module_that_computed_them(tmp_path):
    engine = "autograd::engine::evaluate_function: "
    number = {"Sequence number": 9, "Fwd thread id": 1}
    accumulate = "torch::autograd::AccumulateGrad"
    profile = loaded(
        tmp_path,
        *forward_on(1, "Net_0", 0, 9),
        op(f"{engine}MmBackward0", 100, 20, tid=ENGINE, **number),
        op("MmBackward0", 101, 18, tid=ENGINE, **number),
        op(f"{engine}{accumulate}", 130, 20, tid=ENGINE),
        op(accumulate, 131, 18, tid=ENGINE),
        op("aten::add_", 135, 5, tid=ENGINE),
    )

    assert f"Net/{accumulate}/aten::add_" in nanos(profile, on_accelerator=False)
    assert f"Net/autograd::engine/{accumulate}" in nanos(profile, on_accelerator=False)


def test_kernels_without_a_launch_are_kept_and_noted(tmp_path):
    profile = loaded(
        tmp_path,
        op("aten::mm", 0, 10),
        launch(1, 2),
        kernel("gemm", 1, 20, 30),
        kernel("lost", 99, 60, 10),
        kernel("zero", 0, 80, 10),
    )

    assert nanos(profile, on_accelerator=True) == {
        "aten::mm/gemm": 30_000,
        "unattributed/lost": 10_000,
        "unattributed/zero": 10_000,
    }
    assert any("2 kernels have no recorded launch" in note for note in profile.notes)
    assert any("40.00%" in note for note in profile.notes)


def test_kernels_that_were_launched_before_the_recording_are_kept_and_noted(tmp_path):
    profile = loaded(
        tmp_path,
        annotation("ProfilerStep#1", 10, 50),
        *(kernel("late", 7, 12, 10), op("aten::mm", 20, 10), launch(8, 25)),
        *(kernel("gemm", 8, 30, 30), kernel("lost", 9, 70, 10)),
    )

    assert set(nanos(profile, on_accelerator=True)) == {
        "aten::mm/gemm",
        "unattributed/late",
        "unattributed/lost",
    }
    early, lost = (note for note in profile.notes if "20.00% of the device time" in note)
    assert "1 kernel was launched before the recording, so the module is unknown" in early
    assert "1 kernel has no recorded launch and no module" in lost


def test_without_its_launch_a_kernel_belongs_to_the_op_that_it_names(tmp_path):
    profile = loaded(
        tmp_path,
        module("Net_0", 0, 50),
        op("aten::mm", 0, 10, **{"External id": 5}),
        op("aten::add", 20, 10, **{"External id": 6}),
        op("aten::add", 40, 10, **{"External id": 6}),
        kernel("gemm", 99, 20, 30, **{"External id": 5}),
        kernel("ambiguous", 98, 60, 10, **{"External id": 6}),
        kernel("unknown", 5, 70, 10, **{"External id": 5}),  # as old versions write it
    )

    assert nanos(profile, on_accelerator=True) == {
        "Net/aten::mm/gemm": 30_000,
        "unattributed/ambiguous": 10_000,
        "unattributed/unknown": 10_000,
    }


@pytest.mark.parametrize("activity", [kernel("gemm", 1, 5, 10), copy("Memcpy HtoD", 1, 5, 10)])
def test_a_trace_may_have_nothing_but_what_ran_on_the_accelerator(tmp_path, activity):
    profile = loaded(tmp_path, activity)

    [step] = profile.step_times().to_dict()["steps"]
    assert step["busy_ns"] == 10_000


def test_with_several_processes_the_op_that_a_kernel_names_may_be_of_another_one(tmp_path):
    profile = loaded(
        tmp_path,
        op("aten::mm", 0, 10, **{"External id": 5}),
        event("aten::add", ts=0, dur=10, pid=2, args={"External id": 6}),
        kernel("gemm", 99, 20, 30, **{"External id": 5}),
    )

    assert nanos(profile, on_accelerator=True) == {"unattributed/gemm": 30_000}


@pytest.mark.parametrize("name", ["cudaLaunchKernel", "cuLaunchKernelEx", "hipLaunchKernel"])
def test_launches_whose_kernels_were_dropped_are_noted(tmp_path, name):
    profile = loaded(
        tmp_path,
        op("aten::mm", 0, 10),
        *(launch(number, number) | {"name": name} for number in (1, 2, 3)),
        launch(4, 4) | {"name": "cudaEventRecord"},
        kernel("gemm", 3, 20, 30),
    )

    assert any("2 launches have no kernels in the trace" in note for note in profile.notes)


def test_a_trace_without_kernels_of_a_program_that_launched_some_says_so(tmp_path):
    profile = loaded(tmp_path, op("aten::mm", 0, 10), launch(1, 2))

    assert any("no kernels were recorded, although 1 was launched" in n for n in profile.notes)


def test_the_kernels_of_a_graph_belong_to_the_op_that_launched_it(tmp_path):
    profile = loaded(
        tmp_path,
        module("Net_0", 0, 50),
        *(op("replay", 0, 10), launch(1, 2) | {"name": "cudaGraphLaunch"}),
        *(op("aten::mm", 20, 10), launch(2, 22)),
        *(
            kernel(name, 1, 30 + 5 * place, 5, **{"graph id": 3})
            for place, name in enumerate(("gemm", "add", "add"))
        ),
        kernel("gemm", 2, 60, 5),
    )

    assert nanos(profile, on_accelerator=True) == {
        "Net/replay/gemm": 5_000,
        "Net/replay/add": 10_000,
        "Net/aten::mm/gemm": 5_000,
    }
    assert any(
        "3 kernels of CUDA graphs (15 microseconds, 75.00% of the device time)" in note
        for note in profile.notes
    )


def test_kernels_of_nccl_communicate_whoever_launched_them(tmp_path):
    name = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
    profile = loaded(
        tmp_path,
        *(op("replay", 0, 10), launch(1, 2) | {"name": "cudaGraphLaunch"}),
        *(kernel("gemm", 1, 30, 5), kernel(name, 1, 40, 5, stream=20)),
        kernel(name, 0, 50, 5, stream=20),
    )

    assert phase_of(profile, "replay/gemm") == Phase.FORWARD
    assert phase_of(profile, "replay/ncclDevKernel_AllReduce_Sum_f32_RING_LL") == (
        Phase.COMMUNICATION
    )
    assert phase_of(profile, "unattributed/ncclDevKernel_AllReduce_Sum_f32_RING_LL") == (
        Phase.COMMUNICATION
    )


@pytest.mark.parametrize(
    ("runtime", "category", "device"),
    [
        ("xpu_runtime", "kernel", "xpu:0"),
        ("mtia_runtime", "mtia_ccp_events", "mtia:0"),
        ("privateuse1_driver", "kernel", "privateuse1:0"),
    ],
)
def test_other_accelerators_follow_the_same_pattern(tmp_path, runtime, category, device):
    profile = loaded(
        tmp_path,
        op("aten::mm", 0, 10),
        launch(1, 5) | {"cat": runtime, "name": "launch"},
        kernel("gemm", 1, 20, 7) | {"cat": category},
    )

    assert nanos(profile, on_accelerator=True) == {"aten::mm/gemm": 7000}
    assert device in profile.columns.devices.name


def test_a_launch_outside_of_ops_is_an_op_of_its_module(tmp_path):
    profile = loaded(
        tmp_path, module("Net_0", 0, 50), launch(1, 10), kernel("triton_add", 1, 20, 5)
    )

    assert nanos(profile, on_accelerator=True) == {"Net/cudaLaunchKernel/triton_add": 5_000}
    assert not_counted(profile) == {"triton_add": NO_RULE}


def not_counted(profile):
    return {kind.kind: kind.reason for kind in profile.flops().uncounted}


def test_a_kernel_that_no_op_launches_is_a_kind_of_its_own(tmp_path):
    add = "void mine::add<float, 4>(float const*, int)"
    profile = loaded(
        tmp_path,
        launch(1, 0) | {"name": "cudaGraphLaunch"},
        *(kernel(add, 1, 10, 5), kernel("gemm", 1, 20, 7)),
        *(op("aten::mm", 30, 10), launch(2, 31), kernel("gemm", 2, 50, 9)),
    )
    rows = profile.op(select="accelerator_micros")
    times = {row["name"]: row["accelerator_micros"] for row in rows if row["accelerator_micros"]}

    assert times == {"aten::mm": 9, "gemm": 7, "mine::add": 5}
    assert not_counted(profile).keys() == {"aten::mm", "gemm", "mine::add"}


def test_overlapping_kernels_of_one_stream_both_count(tmp_path):
    profile = loaded(
        tmp_path,
        op("aten::mm", 0, 10),
        *(launch(1, 1), launch(2, 3)),
        *(kernel("gemm", 1, 20, 30), kernel("gemm", 2, 25, 40)),
    )

    assert nanos(profile, on_accelerator=True) == {"aten::mm/gemm": 70_000}


def test_an_op_with_a_stream_is_no_kernel(tmp_path):
    # Ops of Triton have the stream among their arguments.
    profile = loaded(
        tmp_path,
        op("triton_poi_fused_0", 0, 10, stream=7),
        launch(1, 2),
        kernel("triton_poi_fused_0", 1, 20, 4),
    )

    assert sum(nanos(profile, on_accelerator=True).values()) == 4_000


def test_copies_are_transfers_and_not_time_of_kernels(tmp_path):
    profile = loaded(
        tmp_path,
        op("aten::copy_", 0, 10),
        launch(1, 2),
        copy("Memcpy HtoD (Pageable -> Device)", 1, 20, 6),
    )

    assert nanos(profile, on_accelerator=True) == {}
    assert profile.columns.copies.duration_ns.tolist() == [6_000]


def transfers(profile):
    """The transfer time of each op that has any, in microseconds."""
    rows = profile.scope(select=["transfer_micros"], max_depth=100).to_dict()["rows"]
    return {row["name"]: row["transfer_micros"] for row in rows if row["transfer_micros"]}


def test_a_copy_belongs_to_the_innermost_op_around_its_launch(tmp_path):
    profile = loaded(
        tmp_path,
        module("Net_0", 0, 100),
        op("aten::to", 10, 50),
        op("aten::copy_", 20, 30),
        launch(5, 25) | {"name": "cudaMemcpyAsync"},
        copy("Memcpy HtoD (Pinned -> Device)", 5, 70, 11),
    )

    assert transfers(profile) == {"Net/aten::to/aten::copy_": 11}


def test_a_copy_outside_of_ops_belongs_to_its_call(tmp_path):
    profile = loaded(
        tmp_path,
        module("Net_0", 0, 100),
        launch(5, 25) | {"name": "cudaMemcpyAsync"},
        copy("Memcpy DtoD (Device -> Device)", 5, 70, 11),
    )

    assert transfers(profile) == {"Net/cudaMemcpyAsync": 11}


def test_copies_without_a_launch_belong_to_no_op_and_are_noted(tmp_path):
    profile = loaded(
        tmp_path,
        op("aten::copy_", 0, 10),
        copy("Memcpy HtoD (Pinned -> Device)", 5, 70, 11),
    )

    assert transfers(profile) == {}
    assert any(
        "1 copy or fill has no recorded launch, and so no op: 11 microseconds." in note
        for note in profile.notes
    )


def test_a_copy_belongs_to_the_step_in_which_its_op_began(tmp_path):
    profile = loaded(
        tmp_path,
        annotation("ProfilerStep#3", 0, 20),
        annotation("ProfilerStep#4", 20, 20),
        op("aten::copy_", 18, 10),
        launch(5, 25) | {"name": "cudaMemcpyAsync"},
        copy("Memcpy HtoD (Pinned -> Device)", 5, 30, 6),
    )

    assert profile.scope(select=["transfer_micros"], step=3)["aten::copy_"]["transfer_micros"] == 6


def test_all_fills_of_a_recorded_program_belong_to_the_sums_in_its_backward_pass():
    with gzip.open(GPT) as file:
        events = json.load(file)["traceEvents"]
    fills = [event for event in events if event.get("cat") == "gpu_memset"]
    by_kind = gpt().op(select=["transfer_micros"], max_depth=200).to_dict()["rows"]

    took = {row["name"]: row["transfer_micros"] for row in by_kind if row["transfer_micros"]}
    assert took == {"aten::sum": pytest.approx(sum(event["dur"] for event in fills) / 2)}


def test_annotations_on_the_gpu_are_no_time(tmp_path):
    profile = loaded(
        tmp_path,
        op("aten::mm", 0, 10),
        launch(1, 1),
        kernel("gemm", 1, 20, 30),
        event("forward", cat="gpu_user_annotation", ts=15, dur=100, pid=0, tid=7),
    )

    assert sum(nanos(profile, on_accelerator=True).values()) == 30_000


def test_phases_are_those_of_annotations_and_engines(tmp_path):
    profile = loaded(
        tmp_path,
        annotation("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 0, 10),
        op("aten::stack", 2, 3),
        op("aten::mm", 20, 10),
        annotation("Optimizer.step#AdamW.step", 40, 20),
        op("aten::_foreach_add_", 45, 5),
        annotation("nccl:all_reduce", 70, 20),
        op("record_param_comms", 75, 5),
        op("_c10d_functional::wait_tensor", 95, 4),
    )

    names = set(nanos(profile, on_accelerator=False))

    assert names == {
        "data_loading/aten::stack",
        "aten::mm",
        "optimizer/AdamW.step/aten::_foreach_add_",
        "communication/nccl:all_reduce",
        "communication/nccl:all_reduce/record_param_comms",
        "communication/_c10d_functional::wait_tensor",
    }
    phases = {name.split("/")[0]: phase_of(profile, name) for name in names}
    assert phases == {
        "data_loading": Phase.INPUT,
        "aten::mm": Phase.OTHER,  # it is not known to be part of the forward pass
        "optimizer": Phase.OPTIMIZER,
        "communication": Phase.COMMUNICATION,
    }


def test_marks_of_steps_and_optimizers_may_have_the_category_of_ops(tmp_path):
    # As in traces of old versions.
    profile = loaded(
        tmp_path,
        op("ProfilerStep#4", 0, 50),
        op("aten::mm", 5, 10),
        op("Optimizer.step#SGD.step", 20, 20),
        op("aten::add_", 25, 5),
        op("ProfilerStep#5", 50, 50),
        op("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 55, 20),
        op("aten::stack", 60, 5),
    )

    assert nanos(profile, on_accelerator=False) == {
        "aten::mm": 10_000,
        "optimizer/SGD.step/aten::add_": 5_000,
        "data_loading/aten::stack": 5_000,
    }
    assert profile.columns.steps.number.tolist() == [4, 5]


def test_collectives_are_in_the_scopes_of_their_process_groups(tmp_path):
    def collective(name, ts, group):
        args = {"Collective name": name, "Process Group Name": group, "Group size": 4}
        number = int(ts)
        return (
            op(f"c10d::{name}_", ts, 40),
            op("record_param_comms", ts + 1, 30, **args),
            launch(number, ts + 5),
            kernel(f"nccl_{name}", number, ts + 20, 7, **args),
        )

    groups = [{"pg_name": "0", "pg_desc": "default_pg"}, {"pg_name": "5", "pg_desc": ""}]
    profile = loaded(
        tmp_path,
        *collective("allreduce", 100, "0"),
        *collective("allgather", 200, "5"),
        op("c10d::barrier", 300, 10),
        distributedInfo={"rank": 1, "pg_config": groups},
    )

    assert nanos(profile, on_accelerator=True) == {
        "communication/default_pg/c10d::allreduce_/record_param_comms/nccl_allreduce": 7000,
        "communication/5/c10d::allgather_/record_param_comms/nccl_allgather": 7000,
    }
    assert "communication/c10d::barrier" in profile.columns.ops.name


def test_what_a_call_of_backward_runs_itself_is_backward(tmp_path):
    profile = loaded(
        tmp_path,
        module("Net_0", 0, 30),
        op("aten::mm", 5, 10),
        python("torch/_tensor.py(566): backward", 40, 50),
        python("torch/autograd/__init__.py(255): backward", 41, 40),
        op("aten::ones_like", 42, 5),
        module("Net_0", 60, 10),  # such as one in a hook
        op("aten::mm", 61, 5),
    )

    assert phase_of(profile, "backward/aten::ones_like") == Phase.BACKWARD
    assert phase_of(profile, "Net/aten::mm") == Phase.FORWARD


def test_a_closure_of_an_optimizer_is_not_part_of_the_optimizer(tmp_path):
    profile = loaded(
        tmp_path,
        annotation("Optimizer.step#LBFGS.step", 0, 100),
        op("aten::dot", 5, 5),
        module("Net_0", 20, 50),
        op("aten::mm", 30, 10),
    )

    assert phase_of(profile, "Net/aten::mm") == Phase.FORWARD
    assert phase_of(profile, "optimizer/LBFGS.step/aten::dot") == Phase.OPTIMIZER


def test_ops_outside_of_modules_are_in_the_scopes_of_annotations(tmp_path):
    profile = loaded(
        tmp_path,
        module("Net_0", 0, 10),
        op("aten::mm", 2, 5),
        annotation("loss", 20, 30),
        annotation("soft/max", 25, 10),
        op("aten::exp", 28, 2),
        op("aten::sum", 60, 5),
    )

    assert set(nanos(profile, on_accelerator=False)) == {
        "Net/aten::mm",
        "loss/soft|max/aten::exp",
        "outside_modules/aten::sum",
    }


def test_events_of_several_processes_are_not_mixed_up(tmp_path):
    # The launches of two ranks in one file have the same correlation.
    profile = loaded(
        tmp_path,
        op("aten::mm", 0, 10),
        launch(1, 2),
        event("aten::add", ts=0, dur=10, pid=2, args={}),
        launch(1, 3, pid=2),
        kernel("gemm", 1, 20, 30),
    )

    assert nanos(profile, on_accelerator=True) == {"unattributed/gemm": 30_000}
    assert any("no recorded launch" in note for note in profile.notes)
    assert any("2 processes" in note for note in profile.notes)


def test_calls_of_several_threads_with_the_same_number_launch_nothing(tmp_path):
    # In containers, all ranks may have the same process number.
    profile = loaded(
        tmp_path,
        *(op("aten::mm", 0, 10), launch(1, 2)),
        *(op("aten::add", 0, 10, tid=5), launch(1, 3, tid=5)),
        kernel("gemm", 1, 20, 30),
    )

    assert nanos(profile, on_accelerator=True) == {"unattributed/gemm": 30_000}
    assert any("1 kernel or copy has several launches" in note for note in profile.notes)


def test_launches_of_another_thread_between_those_of_one_are_several_too(tmp_path):
    profile = loaded(
        tmp_path,
        *(op("aten::mm", 0, 10), launch(1, 2)),
        *(op("aten::add", 12, 10, tid=5), launch(1, 13, tid=5)),
        *(op("aten::mul", 30, 10), launch(1, 32)),
        kernel("gemm", 1, 50, 30),
    )

    assert nanos(profile, on_accelerator=True) == {"unattributed/gemm": 30_000}


def test_of_several_launches_with_the_same_number_the_last_one_before_the_kernel_counts(tmp_path):
    # Numbers start again when a program is recorded again.
    profile = loaded(
        tmp_path,
        *(op("aten::mm", 0, 10), launch(1, 2), kernel("gemm", 1, 20, 30)),
        *(op("aten::add", 100, 10), launch(1, 102), kernel("plus", 1, 120, 10)),
    )

    assert nanos(profile, on_accelerator=True) == {
        "aten::mm/gemm": 30_000,
        "aten::add/plus": 10_000,
    }


def test_a_kernel_whose_clock_is_early_belongs_to_the_first_launch(tmp_path):
    profile = loaded(
        tmp_path,
        *(op("aten::mm", 0, 10), launch(1, 2), kernel("gemm", 1, 1.5, 30)),
        *(op("aten::add", 100, 10), launch(1, 102)),
    )

    assert nanos(profile, on_accelerator=True) == {"aten::mm/gemm": 30_000}


def test_a_backward_op_belongs_to_a_forward_op_of_its_process(tmp_path):
    # Both processes count from the same number, and call their forward threads 1.
    number = {"Sequence number": 1, "Fwd thread id": 0}
    backward = {"Sequence number": 1, "Fwd thread id": 1}
    profile = loaded(
        tmp_path,
        *forward_on(MAIN, "First_0", 0, 1),
        op("MmBackward0", 100, 10, tid=ENGINE, **backward),
        event("nn.Module: Second_0", cat="python_function", ts=30, dur=20, pid=2, tid=3),
        event("aten::mm", ts=35, dur=5, pid=2, tid=3, args=number),
        event("MmBackward0", ts=100, dur=10, pid=2, tid=4, args=backward),
    )

    assert {"First/MmBackward0", "Second/MmBackward0"} <= {*nanos(profile, on_accelerator=False)}


def test_a_backward_op_of_a_process_without_forward_ops_belongs_to_none(tmp_path):
    backward = {"Sequence number": 1, "Fwd thread id": 1}
    profile = loaded(
        tmp_path,
        *forward_on(MAIN, "First_0", 0, 1),
        event("MmBackward0", ts=100, dur=10, pid=2, tid=4, args=backward),
    )

    assert {*nanos(profile, on_accelerator=False)} == {
        "First/aten::mm",
        "backward/MmBackward0",
    }


def test_python_calls_on_another_thread_are_of_that_thread(tmp_path):
    profile = loaded(tmp_path, module("Net_0", 0, 50, tid=9), op("aten::mm", 10, 5))

    assert set(nanos(profile, on_accelerator=False)) == {"outside_modules/aten::mm"}


@pytest.mark.parametrize("process", [0, 1])
def test_python_calls_without_a_thread_are_of_the_thread_that_runs_the_forward_pass(
    tmp_path, process
):
    engine = "autograd::engine::evaluate_function: MmBackward0"
    profile = loaded(
        tmp_path,
        module("Net_0", 0, 50, tid=0) | {"pid": process},
        op("aten::mm", 10, 5),
        *(op(engine, 20, 10, tid=ENGINE), op("MmBackward0", 21, 8, tid=ENGINE)),
    )

    assert "Net/aten::mm" in nanos(profile, on_accelerator=False)
    assert any("the only thread that can have made them" in note for note in profile.notes)


def test_python_calls_without_a_thread_are_not_guessed(tmp_path):
    profile = loaded(
        tmp_path,
        module("Net_0", 0, 50, tid=0),
        *(op("aten::mm", 10, 5), op("aten::add", 20, 5, tid=5)),
    )
    notes = " ".join(profile.notes)

    assert set(nanos(profile, on_accelerator=False)) == {
        "outside_modules/aten::mm",
        "outside_modules/aten::add",
    }
    assert "recorded without their thread (it is 0), so the modules" in notes
    assert "record all threads" not in notes


def test_names_of_gpus_that_are_not_there_are_no_devices(tmp_path):
    rows = [
        {
            "ph": "M",
            "name": "process_labels",
            "pid": gpu,
            "tid": 0,
            "ts": 0,
            "args": {"labels": gpu},
        }
        for gpu in range(8)
    ]
    profile = loaded(tmp_path, *rows, op("aten::mm", 0, 10))

    assert list(profile.columns.devices.name) == ["cpu"]


def test_a_trace_without_steps_counts_as_one_and_says_so(tmp_path):
    profile = loaded(tmp_path, op("aten::mm", 0, 10))

    assert profile.columns.steps.number.tolist() == [0]
    assert any("everything counts as one step" in note for note in profile.notes)


def test_without_marks_a_step_ends_with_the_optimizer(tmp_path):
    profile = loaded(
        tmp_path,
        *(op("aten::mm", 0, 10), annotation("Optimizer.step#SGD.step", 20, 10)),
        annotation("Optimizer.zero_grad#SGD.zero_grad", 31, 5),
        *(op("aten::mm", 40, 10), annotation("Optimizer.step#SGD.step", 60, 10)),
    )

    assert profile.columns.steps.number.tolist() == [0, 1]
    assert any("a step ends with each call of the optimizer" in note for note in profile.notes)


def test_without_ops_too_a_step_ends_with_the_optimizer(tmp_path):
    profile = loaded(
        tmp_path,
        *(launch(1, 0), kernel("gemm", 1, 5, 10), annotation("Optimizer.step#SGD.step", 20, 10)),
        *(launch(2, 40), kernel("gemm", 2, 45, 10), annotation("Optimizer.step#SGD.step", 60, 10)),
    )

    assert profile.columns.steps.number.tolist() == [0, 1]


def test_steps_are_those_of_one_thread(tmp_path):
    # The events of two ranks; the second one begins its steps later.
    profile = loaded(
        tmp_path,
        *(annotation(f"ProfilerStep#{number}", 100 * number, 100) for number in (1, 2)),
        *(annotation(f"ProfilerStep#{number}", 100 * number + 30, 95, tid=8) for number in (1, 2)),
        *(op("aten::mm", ts, 10) for ts in (110, 210)),
        *(op("aten::mm", ts, 10, tid=8) for ts in (140, 240)),
    )

    steps = profile.step_times()

    assert [(step.step, step.wall_ns) for step in steps] == [(1, 100_000), (2, 100_000)]


def test_steps_that_were_recorded_again_with_the_same_numbers_are_other_steps(tmp_path):
    profile = loaded(
        tmp_path,
        *(annotation(f"ProfilerStep#{number}", 50 * number, 49) for number in (0, 1)),
        *(annotation(f"ProfilerStep#{number}", 100 + 50 * number, 49) for number in (0, 1)),
        *(op("aten::mm", ts, 10) for ts in (10, 60, 110, 160)),
    )

    steps = profile.step_times()

    assert [(step.step, step.wall_ns) for step in steps] == [
        (0, 50_000),
        (1, 50_000),
        (2, 50_000),
        (3, 49_000),
    ]


def test_a_step_does_not_begin_with_a_time_that_was_clamped_to_zero(tmp_path):
    late = 3.8e12
    profile = loaded(
        tmp_path,
        python("train.py(1): <module>", 0, 500),
        *(op("aten::mm", late, 10), launch(1, late + 2), kernel("gemm", 1, 0, 5)),
        annotation("Optimizer.step#SGD.step", late + 20, 10),
    )

    [step] = profile.step_times().to_dict()["steps"]

    assert step["wall_ns"] == 30_000
    assert nanos(profile, on_accelerator=True) == {"aten::mm/gemm": 5_000}
    assert any("2 events have no start time" in note for note in profile.notes)


def test_two_optimizers_make_no_steps(tmp_path):
    profile = loaded(
        tmp_path,
        *(op("aten::mm", 0, 10), annotation("Optimizer.step#SGD.step", 20, 10)),
        *(op("aten::mm", 40, 10), annotation("Optimizer.step#Adam.step", 60, 10)),
    )

    assert profile.columns.steps.number.tolist() == [0]


def test_a_compiled_region_counts_for_its_module_and_says_so(tmp_path):
    profile = loaded(
        tmp_path,
        module("OptimizedModule_0", 0, 100),
        op("Torch-Compiled Region: 0/0", 10, 80),
        op("## Call CompiledFxGraph abc ##", 20, 50),
        launch(1, 30),
        kernel("triton_fused_0", 1, 60, 7),
    )

    [name] = nanos(profile, on_accelerator=True)

    assert name.startswith("OptimizedModule/Torch-Compiled Region: 0|0/")
    assert any("a compiled region has no modules inside" in note for note in profile.notes)


@pytest.mark.parametrize("on_gpu", [False, True])
def test_the_float_operations_of_generated_code_are_unknown(tmp_path, on_gpu):
    shapes = {"Input Dims": [[2, 3], [3, 4]], "Input type": ["float", "float"]}
    generated = (
        op("triton_fused_0", 40, 8),
        launch(1, 41),
        kernel("triton_fused_0", 1, 60, 7),
    )
    ledger = loaded(
        tmp_path,
        op("Torch-Compiled Region: 0/0", 10, 80),
        op("CompiledFunction", 20, 50),
        op("aten::mm", 30, 5, **shapes),
        *(generated if on_gpu else ()),
    ).flops()

    assert ledger.float_ops == 48
    assert [(one.kind, one.reason) for one in ledger.uncounted] == [
        ("triton_fused_0", NO_RULE) if on_gpu else ("CompiledFunction", GENERATED)
    ]


def test_an_empty_trace_is_answered_with_an_explanation(tmp_path):
    profile = loaded(tmp_path)

    assert len(profile.columns.executions) == 0
    assert any("no ops were recorded" in note for note in profile.notes)


def test_a_question_about_an_empty_trace_says_that_it_is_empty(tmp_path):
    with pytest.raises(
        MissingInputError, match=r"give a trace with ops; .*trace\.json contains none"
    ):
        loaded(tmp_path).step_times()


def test_a_program_without_modules_is_not_told_to_record_stacks(tmp_path):
    profile = loaded(tmp_path, python("train.py(1): main", 0, 99), op("aten::mm", 5, 10))
    notes = " ".join(profile.notes)

    assert "no modules were called, only ops." in notes
    assert "with_stack" not in notes


def test_a_thread_whose_ops_are_missing_is_noted_even_if_nothing_else_ran(tmp_path):
    notes = " ".join(loaded(tmp_path, module("Net_0", 0, 99)).notes)

    assert "1 thread called modules, but the ops were not recorded" in notes


def test_missing_allocations_are_explained(tmp_path):
    def note(**header):
        notes = loaded(tmp_path, op("aten::mm", 5, 10), **header).notes
        return next(note for note in notes if "no allocations" in note)

    assert note().endswith("record with `profile_memory=True`.")
    assert note(profile_memory=1).endswith("does not record them with all threads.")


def test_a_recording_that_was_cut_off_says_so(tmp_path):
    path = tmp_path / "trace.json"
    profile = loaded(tmp_path, op("aten::mm", 0, 10))
    path.write_bytes(path.read_bytes().replace(b"Record Window End", b"Something else"))

    assert not any("is it complete" in note for note in profile.notes)
    assert any("is it complete" in note for note in tfprof.load(path).notes)
