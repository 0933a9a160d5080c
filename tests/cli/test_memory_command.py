"""`tfprof memory` on the command line."""

import json
import shutil
from pathlib import Path

import pytest

import tfprof
from tfprof.cli import main

SAMPLES = Path(__file__).parent.parent / "samples" / "tensorflow"


@pytest.fixture
def _sample(tmp_path, monkeypatch):
    """A current folder with the files of a run on a GPU and of one on a CPU."""
    for folder in ("gpu_synth", "mlp_tiny"):
        shutil.copytree(SAMPLES / folder, tmp_path / folder)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def asked(capsys, _sample):
    """Runs a command line; returns the status, standard output and standard error."""

    def run(line):
        status = main(line.split())
        shown = capsys.readouterr()
        return status, shown.out, shown.err

    return run


GPU = "gpu_synth/graph.pb.gz gpu_synth/run_meta_0.gz"
CPU = "mlp_tiny/graph.pb.gz mlp_tiny/run_meta_1.gz"


UNRECORDED = (
    "Memory over time requires a recorded run: give RunMetadata (--run_meta_path) or XSpace, "
    "recorded with "
    "RunOptions(trace_level=RunOptions.FULL_TRACE)."
)
LOST = "a ProfileProto has no place for allocations on the host (`tfprof memory`)."
SAVED = (
    "A ProfileProto keeps allocations on accelerators only, and this one has none: "
    "load the graph and the recorded runs that it was made from."
)


def test_a_cpu_run_has_a_memory_curve(asked):
    status, out, _ = asked(f"memory {CPU}")

    assert status == 0
    assert "mklcpu on /job:localhost/replica:0/task:0/device:cpu:0\nPeak: 40B at " in out


def test_json_equals_the_python_answer(asked):
    status, out, _ = asked(f"memory {GPU} --json -max_depth 3")

    assert status == 0
    assert json.loads(out) == tfprof.load(*GPU.split()).memory(max_depth=3).to_dict()


@pytest.mark.parametrize(
    ("line", "status", "message"),
    [
        ("memory", 2, "No input files: list them after the command or use --graph_path."),
        (f"memory {CPU} -step 9", 2, "No step 9. Recorded: 0; -1 takes the highest peak."),
        (f"memory {CPU} -max_row 9", 2, "Unknown option `max_row`. Did you mean `max_rows`?"),
        (f"memory {CPU} -max_rows x", 2, "`-max_rows` takes a whole number, not `x`."),
        (
            f"scope {CPU} -max_rows 9",
            2,
            "`scope` has no option `max_rows`. It is an option of memory, kernels, ranks.",
        ),
        ("memory mlp_tiny/graph.pb.gz", 1, UNRECORDED),
    ],
)
def test_an_error_is_one_line_with_a_hint(line, status, message, asked):
    assert asked(line) == (status, "", f"tfprof: {message}\n")


def test_a_saved_profile_answers_as_its_files_do(asked):
    asked(f"save {CPU} --outfile saved")

    assert asked("memory saved") == asked(f"memory {CPU}")


def test_saving_as_a_profile_proto_says_that_allocations_on_the_host_are_lost(asked):
    _, _, err = asked(f"save {CPU} --outfile saved --format profile_proto")

    assert f"tfprof: {LOST}\n" in err
    assert asked("memory saved") == (1, "", f"tfprof: {SAVED}\n")


def test_a_profile_proto_has_the_curve_of_the_accelerator(asked):
    asked(f"save {GPU} --outfile saved --format profile_proto")
    before = {one.allocator: one for one in tfprof.load(*GPU.split()).memory()}["GPU_0_bfc"]

    (after,) = tfprof.load("saved").memory()

    assert after.curve.bytes.tolist() == before.curve.bytes.tolist()
    assert set(after.levels.bytes.tolist()) <= set(before.levels.bytes.tolist())
    assert (after.device, after.peak_ns) == (before.device, before.peak_ns)
    assert after.by_kind.name == before.by_kind.name
    _, out, err = asked("memory saved")
    assert "unknown allocator on " in out
    assert "those of the host are missing" in err


def test_info_shows_whether_memory_over_time_is_available(asked):
    with_runs, without = (
        " ".join(asked(f"info {files}")[1].split()).partition("Missing:")
        for files in (CPU, "mlp_tiny/graph.pb.gz")
    )

    assert "memory over time" in with_runs[0]
    assert "memory over time" in without[2]
