"""What accelerators did, as an independent program computes it from the JSON, and as tfprof does.

`scripts/compare_traces.py` does the same for folders of traces.
"""

import json

import compare_traces
import gpu_traces
import pytest
from gpu_job import Job

import h200
from formats.kineto_traces import trace_of
from independent import device_timeline
from kineto_programs import END, annotation, copy, event, kernel, launch, op

STEPS = [annotation("ProfilerStep#5", 0, 100), annotation("ProfilerStep#6", 100, 100)]
NCCL = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
# The host is ahead: step 5 launches kernels that end in step 6 of the host, and an all-reduce on
# another stream that outlasts them.
AHEAD = [
    *STEPS,
    op("aten::mm", 10, 80),
    *(launch(1, 10), launch(2, 60), launch(3, 70), launch(4, 75), launch(5, 110)),
    kernel("gemm", 1, 20, 70),
    kernel("gemm", 2, 90, 60),
    kernel(NCCL, 3, 80, 90, stream=20),
    copy("Memcpy DtoH (Device -> Pinned)", 4, 150, 10),
    op("aten::mm", 105, 20),
    kernel("gemm", 5, 170, 20),
]


def written(tmp_path, *events):
    path = tmp_path / "trace.json"
    path.write_bytes(trace_of(*events, END))
    return path


def timeline(tmp_path, *events):
    (found,) = device_timeline.devices(written(tmp_path, *events)).values()
    return found


def test_a_step_begins_on_the_device_where_the_kernels_of_the_last_one_end(tmp_path):
    first, second = timeline(tmp_path, *AHEAD)["steps"]

    assert (first["step"], first["begin"], first["wall"]) == (5, 0, 150_000)
    assert (second["step"], second["begin"], second["wall"]) == (6, 150_000, 50_000)


def test_each_instant_of_a_step_has_one_part(tmp_path):
    first, second = timeline(tmp_path, *AHEAD)["steps"]

    assert (first["compute"], first["exposed_communication"], first["idle"]) == (130_000, 0, 20_000)
    assert first["overlapped_communication"] == 70_000
    assert (second["compute"], second["idle"]) == (20_000, 10_000)
    # The copy ran beside the all-reduce.
    assert (second["exposed_communication"], second["exposed_copies"]) == (20_000, 0)


def test_a_kernel_counts_for_the_step_that_launched_it(tmp_path):
    first, second = timeline(tmp_path, *AHEAD)["steps"]

    assert (first["kernels"], first["kernel_sum"], first["copy_sum"]) == (3, 220_000, 10_000)
    assert (second["kernels"], second["kernel_sum"], second["copies"]) == (1, 20_000, 0)


def test_the_whole_recording_lasts_from_the_first_kernel_to_the_last(tmp_path):
    whole = timeline(tmp_path, *AHEAD)

    assert (whole["begin"], whole["wall"]) == (20_000, 170_000)
    assert (whole["compute"], whole["exposed_communication"], whole["idle"]) == (150_000, 20_000, 0)


def test_all_kernels_of_a_graph_belong_to_the_step_of_its_launch(tmp_path):
    graph = event(
        "cudaGraphLaunch", cat="cuda_runtime", ts=90, dur=5, tid=1, args={"correlation": 9}
    )

    first, second = timeline(
        tmp_path, *STEPS, graph, kernel("a", 9, 95, 10), kernel("b", 9, 110, 10)
    )["steps"]

    assert (first["kernels"], first["wall"]) == (2, 120_000)
    assert (second["kernels"], second["begin"]) == (0, 120_000)


def test_the_first_step_begins_with_its_first_kernel_if_that_is_before_the_mark(tmp_path):
    (first,) = timeline(tmp_path, annotation("ProfilerStep#5", 50, 100), kernel("gemm", 1, 20, 40))[
        "steps"
    ]

    assert (first["begin"], first["wall"], first["compute"]) == (20_000, 130_000, 40_000)


def test_times_are_exact_however_large_they_are(tmp_path):
    kept = json.dumps(kernel("gemm", 1, 0, 0)).replace('"ts": 0', '"ts": 3873253734956.811')

    found = timeline(tmp_path, kept.replace('"dur": 0', '"dur": 70.001'))

    assert (found["begin"], found["wall"]) == (3_873_253_734_956_811, 70_001)


@pytest.mark.parametrize("path", [h200.GPT, *h200.RANKS])
def test_tfprof_agrees_about_recordings_of_a_gpu(path):
    assert list(compare_traces.differences(path)) == []


def test_tfprof_agrees_about_a_host_that_is_ahead(tmp_path):
    assert list(compare_traces.differences(written(tmp_path, *AHEAD))) == []


@pytest.mark.parametrize("plan", ["ddp", "hsdp", "tp"])
@pytest.mark.parametrize("reads_loss", [True, False])
def test_tfprof_agrees_about_a_distributed_job(tmp_path, plan, reads_loss):
    job = Job(plan=plan, ranks=4, node=2, steps=3, layers=2, reads_loss=reads_loss)

    for path in gpu_traces.generate(tmp_path, job):
        assert list(compare_traces.differences(path)) == []
