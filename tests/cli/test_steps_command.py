"""`tfprof steps` on the command line."""

import json
from pathlib import Path

import tfprof
from tfprof.cli import main

CAPTURE = str(Path(__file__).parent.parent / "samples" / "capture")


def test_steps_prints_a_table(capsys):
    assert main(["steps", CAPTURE]) == 0

    shown = capsys.readouterr()
    assert shown.out == tfprof.load(CAPTURE).step_times().report
    assert shown.err == ""


def test_the_average_op_time_is_the_total_of_the_scope_view():
    profile = tfprof.load(CAPTURE)
    table = profile.step_times()
    root = profile.scope(select="micros")["_TFProfRoot"]

    average = sum(step.op_time_ns for step in table) / len(table)
    assert abs(average / 1000 - root["total_micros"]) < 1


def test_steps_can_print_json_of_one_step(capsys):
    assert main(["steps", CAPTURE, "-step", "4", "--json"]) == 0

    (step,) = json.loads(capsys.readouterr().out)["steps"]
    assert step["step"] == 4
    assert step["wall_ns"] == step["busy_ns"] + step["idle_ns"]


def test_steps_rejects_an_unknown_step(capsys):
    assert main(["steps", CAPTURE, "-step", "9"]) == 2

    assert "No step 9. Recorded: 3, 4; -1 shows all steps." in capsys.readouterr().err


def test_timeline_draws_the_steps_of_a_recording(capsys, tmp_path):
    path = str(tmp_path / "timeline.json")

    assert main(["timeline", CAPTURE, "-o", path, "--show_memory", "false"]) == 0
    assert capsys.readouterr().err.splitlines() == [
        "tfprof: `show_memory` has no effect on a recording: it has no data flow or tensors.",
        f"tfprof: wrote {path}",
        "tfprof: open it in https://ui.perfetto.dev or chrome://tracing",
    ]
    names = {event["name"] for event in json.loads(Path(path).read_text())["traceEvents"]}
    assert {"step 3", "step 4"} <= names

    assert main(["timeline", CAPTURE, "-o", path, "-step", "4"]) == 0
    names = {event["name"] for event in json.loads(Path(path).read_text())["traceEvents"]}
    assert "step 3" not in names


def test_memory_of_a_recording_without_allocations_says_what_records_them(capsys):
    assert main(["memory", CAPTURE]) == 1

    error = capsys.readouterr().err
    assert "TensorFlow 2 records those of GPUs" in error
    assert "RunOptions" not in error
