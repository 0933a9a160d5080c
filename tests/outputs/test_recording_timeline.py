"""The timeline of recorded steps."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

import tfprof
from build import GPU, GPU_STREAM, copy, op, profile, run
from h200 import GPT
from tfprof.api import Profile
from tfprof.cli import main
from tfprof.columns import ints
from tfprof.errors import MissingInputError, OptionError
from tfprof.model.executions import Waits

CAPTURE = Path(__file__).parent.parent / "samples" / "capture"


@pytest.fixture
def drawn(tmp_path):
    """The slices of each track of a timeline, by the title of the track."""

    def draw(p, **options):
        path = tmp_path / "timeline.json"
        Profile(p).write_timeline(path, **options)
        events = json.loads(path.read_text())["traceEvents"]
        titles = {e["pid"]: e["args"]["name"] for e in events if e["name"] == "process_name"}
        tracks = {title: [] for title in titles.values()}
        for event in events:
            if event["ph"] == "X":
                tracks[titles[event["pid"]]].append(event)
        return tracks

    return draw


def test_every_run_is_a_slice_on_its_device(drawn):
    p = profile(
        op("a", "MatMul"),
        run("a", 2.5, start=100, device=GPU),
        run("a", 8, start=101, device=GPU_STREAM),
        copy("MemcpyH2D", 3, start=90),
    )
    tracks = drawn(p)

    (kernel,) = tracks[GPU_STREAM]
    assert (kernel["name"], kernel["cat"]) == ("a", "MatMul")
    assert (kernel["ts"], kernel["dur"]) == (11, 8)  # the step starts with the transfer
    assert [(one["ts"], one["dur"]) for one in tracks[GPU]] == [(10, 2.5)]
    assert [one["name"] for one in tracks["/device:gpu:0/memcpy (transfers)"]] == ["MemcpyH2D"]


def test_runs_that_overlap_are_in_different_lanes(drawn):
    runs = [run("a", 10, start=100), run("b", 10, start=105), run("c", 10, start=110)]
    (track,) = (slices for title, slices in drawn(profile(*runs)).items() if title != "steps")

    assert [(one["name"], one["tid"]) for one in track] == [("a", 0), ("b", 1), ("c", 0)]


def test_steps_and_waits_have_tracks_of_their_own(drawn):
    p = profile(run("a", 5, step=3, start=100), run("a", 5, step=4, start=200))
    waits = Waits(step=ints([1]), start_ns=ints([180_000]), duration_ns=ints([15_000]))
    tracks = drawn(replace(p, waits=waits))

    assert [(one["name"], one["ts"]) for one in tracks["steps"]] == [("step 3", 0), ("step 4", 100)]
    assert [(one["ts"], one["dur"]) for one in tracks["input wait"]] == [(80, 15)]


def test_one_step_can_be_drawn(drawn):
    p = profile(run("a", 5, step=3, start=100), run("a", 5, step=4, start=200))

    assert [one["name"] for one in drawn(p, step=4)["steps"]] == ["step 4"]
    with pytest.raises(OptionError, match="No step 5"):
        drawn(p, step=5)


def test_recordings_have_separate_tracks(drawn):
    p = profile(run("a", recording="x"), run("a", recording="y"))

    assert {title.partition(":")[0] for title in drawn(p)} == {"x", "y"}


def test_a_profile_without_runs_cannot_be_drawn(drawn):
    with pytest.raises(MissingInputError):
        drawn(profile(op("a")))


def test_the_timeline_of_a_recording_has_all_of_its_runs(tmp_path):
    found = tfprof.load(CAPTURE)
    found.write_timeline(tmp_path / "timeline.json")
    events = json.loads((tmp_path / "timeline.json").read_text())["traceEvents"]
    names = Counter(event["name"] for event in events if event["ph"] == "X")

    ops, runs = found.columns.ops, found.columns.records.runs
    row = ops.name.row_of("cnn_1/conv2d_1/Relu")
    assert row >= 0
    assert names["cnn_1/conv2d_1/Relu"] == int(runs[found.columns.records.op == row].sum())


def test_the_command_draws_the_steps_of_a_pytorch_trace(tmp_path):
    path = tmp_path / "timeline.json"

    assert main(["timeline", str(GPT), "-o", str(path)]) == 0

    events = json.loads(path.read_text())["traceEvents"]
    names = [event["name"] for event in events if event["ph"] == "X"]
    assert {name for name in names if name.startswith("step ")} == {
        f"step {number}" for number in tfprof.load(GPT).steps
    }
    assert any(name.endswith("aten::addmm") for name in names)
