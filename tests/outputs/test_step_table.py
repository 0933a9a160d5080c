"""The times of steps as text, JSON and a data frame."""

import json

import pytest

import kineto_programs as traces
from build import CPU, GPU, GPU_STREAM, copy, profile, run
from tfprof.api import Profile

PARTS = (
    *("forward", "backward", "optimizer", "input", "other", "communication", "transfers"),
    *("idle_input_wait", "idle_other"),
)


@pytest.fixture
def table():
    """Four steps on a GPU, the last of which takes longer."""
    facts = []
    for step, micros in enumerate((20, 20, 20, 80)):
        facts += [
            run("a", 5, step=step, device=GPU),
            run("a", micros, step=step, start=1005, device=GPU_STREAM),
        ]
    return Profile(profile(*facts)).step_times()


def test_the_report_has_a_row_per_step_and_a_summary(table):
    _, shown = table.report.split("\n\n", 1)

    assert shown == (
        "step  on device  wall  busy  idle  input wait  op time  ops  kernels  busy [1]  busy [2]\n"
        "   0       25us  25us  20us   5us         0us     25us    1        1      20us       5us\n"
        "   1       25us  25us  20us   5us         0us     25us    1        1      20us       5us\n"
        "   2       25us  25us  20us   5us         0us     25us    1        1      20us       5us\n"
        "   3       85us  85us  80us   5us         0us     85us    1        1      80us       5us  "
        "unusual\n"
        "[1] /device:gpu:0\n"
        f"[2] {CPU}\n"
        "\n"
        "4 steps, median 25us (p10 25us, p90 85us).\n"
        "The median step (step 1):\n"
        "/device:gpu:0                  on the device           in the time on the host\n"
        "computing: forward                      20us   80.00%                     20us   80.00%\n"
        "idle: forward ops on the host            5us   20.00%                      5us   20.00%\n"
        "sum                                     25us  100.00%                     25us  100.00%\n"
        "/device:gpu:0: the step launched 1 kernel, 20us (forward 100.00%).\n"
        "Step 3 took 85us, 3.4 times the median: 60us more running ops, mostly a.\n"
        "\n"
        "On average a step takes 40us on the accelerators.\n"
        "On average its time on the host is 40us: 35us (87.50%) busy and 5us idle.\n"
        "Op time is 40us: 40us in which at least one op ran.\n"
    )
    assert str(table) == table.report


def test_the_report_divides_the_median_step_of_each_recording():
    facts = (
        run("a", 30, start=100),
        run("gradients/a_grad/b", 60, start=140),
        copy("x", 20, start=230, step=0),
    )
    shown = Profile(profile(*facts)).step_times().report

    assert (
        "The median step (step 0, 150us): forward 20.00%, backward 40.00%, transfers 13.33%, "
        "otherwise idle 26.67%.\n"
    ) in shown


def test_the_report_divides_kernels_and_transfers_of_accelerators(tmp_path):
    shown = traces.loaded(
        tmp_path,
        traces.annotation("forward", 0, 10),
        traces.op("aten::mm", 0, 10),
        traces.launch(1, 1),
        traces.kernel("gemm", 1, 10, 30),
        traces.annotation("Optimizer.step#SGD.step", 50, 20),
        traces.op("aten::copy_", 52, 10),
        traces.launch(2, 53),
        traces.copy("Memcpy DtoD (Device -> Device)", 2, 60, 10),
        traces.copy("Memcpy HtoD (Pinned -> Device)", 3, 75, 10),
    )

    assert (
        "the step launched 1 kernel, 30us (forward 100.00%), and 2 copies and fills, 20us.\n"
    ) in shown.step_times().report


def test_recordings_are_named_if_there_are_several():
    p = profile(run("a", recording="x"), run("a", recording="y"))
    shown = Profile(p).step_times().report

    assert "recording  step  wall" in shown
    assert "x: 1 step, median 1us." in shown


def test_json_has_every_number(table):
    found = json.loads(table.to_json())

    assert found == table.to_dict()
    assert found["steps"][3]["wall_ns"] == 85_000
    assert found["steps"][3]["devices"] == {"/device:gpu:0": 80_000, CPU: 5_000}
    assert found["steps"][3]["phases"] == dict.fromkeys(PARTS, 0) | {
        "forward": 80_000,
        "idle_other": 5_000,
    }
    assert found["summaries"][0]["median_step"] == 1
    assert found["summaries"][0]["unusual"][0]["step"] == 3
    assert found["notes"] == []


def test_a_data_frame_has_a_row_per_step_and_whole_numbers():
    pytest.importorskip("pandas")
    p = profile(run("a", 5, step=0), run("a", 5, step=1), run("b", 3, step=1, device=CPU))
    frame = Profile(p).step_times().to_dataframe()

    assert frame["wall_ns"].tolist() == [5_000, 5_000]
    assert frame["phase_ns forward"].tolist() == [5_000, 5_000]
    assert frame[f"busy_ns {CPU}"].tolist() == [5_000, 5_000]
    assert {str(kind) for kind in frame.dtypes} <= {"int64", "object", "str", "bool"}


def test_a_step_is_found_by_its_number(table):
    assert table[3].wall_ns == 85_000
    assert [step.step for step in table] == [0, 1, 2, 3]
    assert len(table) == 4
    with pytest.raises(KeyError, match=r"no step 9 is shown. Shown: 0, 1, 2, 3."):
        table[9]


def test_the_table_describes_itself(table):
    assert repr(table) == "<tfprof step times: 4 steps, median 25us>"
