"""Advice on recordings of PyTorch programs."""

import pytest

from h200 import ddp, gpt
from kineto_programs import annotation, copy, kernel, launch, loaded, module, op, python
from tfprof.advisor import (
    accelerator_utilization,
    blocking_copies,
    data_feeding,
    device_copies,
    expensive_operations,
    float32_products,
    host_syncs,
    idle_accelerator,
    operations,
    tiny_kernels,
    tiny_operations,
    unfused_optimizer,
)

H200 = {"deviceProperties": [{"id": 0, "name": "NVIDIA H200"}]}
P100 = {"deviceProperties": [{"id": 0, "name": "NVIDIA Tesla P100-PCIE-16GB"}]}
SGEMM = "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x128x8_stage3_ffma_aligna4_execute"
TF32 = "sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32_stage3_tensor16x8x8_execute"


def found(checker, profile):
    return list(checker.check(profile.columns))


def driver(name, ts, dur, number=0):
    return launch(number, ts) | {"name": name, "dur": dur}


# Waiting for the accelerator.


@pytest.fixture
def with_items(tmp_path):
    """A step of 1 ms in which two calls of `.item()` wait while the GPU is busy half the time."""
    return loaded(
        tmp_path,
        annotation("ProfilerStep#0", 0, 1000),
        python("train.py(7): step", 0, 990),
        op("aten::mm", 0, 10),
        launch(1, 1),
        kernel("gemm", 1, 5, 500),
        op("aten::item", 20, 300),
        op("aten::_local_scalar_dense", 21, 298),
        driver("cudaStreamSynchronize", 22, 290),
        op("aten::item", 400, 110),
        driver("cudaStreamSynchronize", 401, 105),
        **H200,
    )


def test_items_that_make_the_host_wait_are_found_with_their_line(with_items):
    (finding,) = found(host_syncs, with_items)

    assert "The host waited for the accelerator 2 times in step 0, for 395us." in finding.sentence
    assert finding.evidence.to_dicts() == [
        {"op": "aten::item", "line": "train.py:7", "waits": 2, "time_micros": 395}
    ]
    assert (finding.gain.amount, finding.gain.of) == (395, 1000)


def test_waiting_for_an_accelerator_that_is_always_busy_costs_nothing(tmp_path):
    profile = loaded(
        tmp_path,
        annotation("ProfilerStep#0", 0, 1000),
        op("aten::mm", 0, 10),
        launch(1, 1),
        kernel("gemm", 1, 0, 1000),
        driver("cudaDeviceSynchronize", 20, 970),
        op("aten::mm", 991, 5),
    )

    assert found(host_syncs, profile) == []


def test_copies_that_block_are_found(tmp_path):
    profile = loaded(
        tmp_path,
        annotation("ProfilerStep#0", 0, 1000),
        op("aten::to", 0, 400),
        driver("cudaMemcpyAsync", 10, 380, number=1),
        copy("Memcpy HtoD (Pageable -> Device)", 1, 20, 370),
        op("aten::mm", 500, 10),
        launch(2, 501),
        kernel("gemm", 2, 505, 100),
    )

    (finding,) = found(blocking_copies, profile)
    (alone,) = found(device_copies, profile)

    assert "1 copy in step 0 made the host wait, for 380us" in finding.sentence
    assert finding.gain.amount == 380
    assert "non_blocking=True" in alone.sentence


def test_copies_from_pinned_memory_do_not_block(tmp_path):
    profile = loaded(
        tmp_path,
        annotation("ProfilerStep#0", 0, 1000),
        op("aten::to", 0, 400),
        driver("cudaMemcpyAsync", 10, 380, number=1),
        copy("Memcpy HtoD (Pinned -> Device)", 1, 20, 370),
    )

    assert found(blocking_copies, profile) == []


# Kernels.


def products(tmp_path, name, **header):
    return loaded(
        tmp_path,
        op("aten::mm", 0, 10),
        launch(1, 1),
        kernel(name, 1, 5, 500),
        op("aten::add", 20, 10),
        launch(2, 21),
        kernel("vectorized_elementwise_kernel", 2, 600, 100),
        **header,
    )


def test_products_in_float32_without_tensor_cores_are_found(tmp_path):
    (finding,) = found(float32_products, products(tmp_path, SGEMM, **H200))

    assert finding.sentence.startswith("83.33% of the kernel time of step 0 goes to products")
    assert finding.evidence.to_dicts() == [{"kind": "aten::mm", "kernels": 1, "time_micros": 500}]
    assert finding.gain.amount == 500


@pytest.mark.parametrize(
    ("name", "header"),
    [(TF32, H200), (SGEMM, P100), (SGEMM, {}), ("ampere_bf16_s16816gemm_bf16_128x128", H200)],
)
def test_products_on_tensor_cores_or_without_any_are_not_reported(tmp_path, name, header):
    assert found(float32_products, products(tmp_path, name, **header)) == []


def many_kernels(tmp_path, count, micros):
    events = []
    for number in range(count):
        start = 50 * number
        events += [
            op("aten::add", start, 40),
            launch(number + 1, start + 5),
            kernel("add", number + 1, start + 30, micros),
        ]
    return loaded(tmp_path, *events)


def test_many_tiny_kernels_are_found_but_not_as_tiny_ops(tmp_path):
    profile = many_kernels(tmp_path, 1200, 3)

    (finding,) = found(tiny_kernels, profile)

    assert finding.sentence.startswith("1,200 of 1,200 kernels in step 0 take at most 10")
    assert finding.gain.amount == 50 * 1199 + 3
    assert found(tiny_operations, profile) == []


def test_few_or_long_kernels_are_not_reported(tmp_path):
    assert found(tiny_kernels, many_kernels(tmp_path, 99, 3)) == []
    assert found(tiny_kernels, many_kernels(tmp_path, 200, 19)) == []


def test_tiny_ops_on_the_cpu_have_advice_for_pytorch(tmp_path):
    ops = [op("aten::add", 10 * number, 5) for number in range(1000)]

    (finding,) = found(tiny_operations, loaded(tmp_path, *ops))

    assert finding.sentence.endswith("`torch.compile` fuses ops.")


# Optimizers.


def update(tmp_path, name, kind, micros=300):
    return loaded(
        tmp_path,
        annotation("ProfilerStep#0", 0, 1000),
        annotation(f"Optimizer.step#{name}.step", 500, 490),
        op(kind, 510, micros),
        launch(1, 515),
        kernel("multi_tensor_apply_kernel", 1, 600, micros),
    )


def test_an_optimizer_that_could_be_fused_is_found(tmp_path):
    (finding,) = found(unfused_optimizer, update(tmp_path, "AdamW", "aten::_foreach_add_"))

    assert finding.sentence.startswith("AdamW takes 390us of step 0 alone, in 1 kernel.")
    assert "torch.optim.AdamW(…, fused=True)" in finding.sentence
    assert finding.gain.amount == 390


@pytest.mark.parametrize(
    ("name", "kind", "micros"),
    [
        ("AdamW", "aten::_fused_adamw_", 300),
        ("LBFGS", "aten::add_", 300),  # has no fused one
        ("AdamW", "aten::_foreach_add_", 20),
    ],
)
def test_other_optimizers_are_not_reported(tmp_path, name, kind, micros):
    assert found(unfused_optimizer, update(tmp_path, name, kind, micros)) == []


# Idle accelerators, input, and the checkers of the original.


def test_an_idle_accelerator_is_found_with_what_happened_meanwhile(with_items):
    (finding,) = found(idle_accelerator, with_items)

    assert finding.sentence.startswith(
        "cuda:0 was idle for 50% of step 0, for 490us while no op or transfer ran."
    )
    rows = finding.evidence.to_dicts()
    assert sum(row["time_micros"] for row in rows) == finding.gain.amount == 500


def test_a_loop_that_waits_for_its_data_loader_is_found(tmp_path):
    profile = loaded(
        tmp_path,
        annotation("ProfilerStep#0", 0, 1000),
        annotation("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 0, 600),
        op("aten::mm", 700, 300),
    )

    (finding,) = found(data_feeding, profile)

    assert "num_workers" in finding.sentence
    assert finding.evidence.to_dicts()[0]["kind"] == "DataLoader"
    assert finding.gain.amount == 600


def test_batch_normalisation_of_pytorch_needs_no_other_op(tmp_path):
    profile = loaded(tmp_path, module("BatchNorm2d_0", 0, 20), op("aten::batch_norm", 1, 10))

    assert found(operations, profile) == []


def test_accelerators_of_the_same_name_are_told_apart():
    (finding,) = found(accelerator_utilization, ddp())

    assert sorted(finding.ops) == [f"cuda:0 of rank{rank}" for rank in range(4)]
    assert finding.sentence.startswith("4 accelerators were busy, cuda:0 of rank")


def test_the_most_expensive_lines_are_those_that_called_the_ops(tmp_path):
    profile = loaded(
        tmp_path,
        python("train.py(1): main", 0, 9000),
        python("net.py(5): forward", 0, 3000),
        op("aten::mm", 10, 2000),
        python("loss.py(9): loss", 4000, 3000),
        op("aten::mm", 4010, 1500),
    )

    lines = found(expensive_operations, profile)[-1]

    assert [row["line"] for row in lines.evidence.to_dicts()] == [
        "net.py:5:forward",
        "loss.py:9:loss",
    ]


def test_a_recording_of_a_gpu_has_the_advice_that_it_needs():
    profile = gpt()
    (idle,) = found(idle_accelerator, profile)
    (products_,) = found(float32_products, profile)
    (optimizer,) = found(unfused_optimizer, profile)

    assert idle.sentence.startswith("cuda:0 was idle for 87% of step 1")
    assert products_.sentence.startswith("69.22% of the kernel time")
    assert optimizer.sentence.startswith("AdamW takes 5.96ms of step 1 alone, in 16 kernels.")
    assert found(host_syncs, profile) == found(blocking_copies, profile) == []


def graphed(launched):
    """A step that is mostly idle while the host runs ops, and how its kernel was launched."""
    return [
        annotation("ProfilerStep#0", 0, 1000),
        op("aten::mm", 10, 900),
        launch(1, 920) | {"name": launched},
        kernel("gemm", 1, 950, 20),
    ]


def test_programs_that_launch_graphs_are_not_advised_to_launch_graphs(tmp_path):
    (eager,) = found(idle_accelerator, loaded(tmp_path, *graphed("cudaLaunchKernel")))
    (graph,) = found(idle_accelerator, loaded(tmp_path, *graphed("cudaGraphLaunch")))

    assert "CUDA graphs" in eager.sentence
    assert "as graphs already" in graph.sentence


def test_compiled_programs_are_not_advised_to_compile(tmp_path):
    region = op("Torch-Compiled Region: 0/0", 5, 920)
    (one,) = found(idle_accelerator, loaded(tmp_path, region, *graphed("cudaLaunchKernel")))

    assert "compiled already" in one.sentence
    assert "torch.compile" not in one.sentence


def test_waiting_for_the_accelerator_is_no_expensive_operation(tmp_path):
    profile = loaded(
        tmp_path,
        python("train.py(1): main", 0, 1000),
        op("aten::mm", 0, 10),
        launch(1, 1),
        kernel("gemm", 1, 20, 50),
        launch(0, 15) | {"name": "cudaDeviceSynchronize", "dur": 800, "args": {}},
        op("aten::add", 900, 10),
    )

    assert "cudaDeviceSynchronize" not in found(expensive_operations, profile)[0].ops


def test_a_program_without_an_accelerator_gets_no_advice_on_one(tmp_path):
    advice = loaded(tmp_path, annotation("ProfilerStep#0", 0, 50), op("aten::mm", 1, 40)).advise()

    for name in ("IdleAcceleratorChecker", "AcceleratorUtilizationChecker", "CommunicationChecker"):
        assert not advice[name]
