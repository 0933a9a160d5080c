"""The graph written with a recording, for real TensorFlow programs."""

import importlib.util
import json
import re
from pathlib import Path

import pytest

import live_programs
import tfprof

pytestmark = [
    pytest.mark.live,
    pytest.mark.skipif(
        importlib.util.find_spec("tensorflow") is None, reason="recording needs TensorFlow"
    ),
]

PROGRAMS = Path(__file__).with_name("recorded_programs.py")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder with a recording of each program."""
    path = tmp_path_factory.mktemp("recorded")
    live_programs.run(PROGRAMS, path)
    return path


@pytest.fixture(scope="module")
def after(folder):
    """Facts about the recording process after its recordings."""
    return json.loads((folder / "after.json").read_text("utf-8"))


@pytest.fixture
def load(folder):
    return lambda name: tfprof.load(folder / name)


def numbers(profile, metric):
    """The ops with a non-zero metric, and its value."""
    rows = profile.scope(select=[metric], max_depth=100)
    return {row["name"]: row[metric] for row in rows if row[metric]}


def ops_outside_the_graph(profile):
    """The number of ops that ran but are not in the graph, except single eager ops."""
    (note,) = [note for note in profile.notes if note.startswith("coverage")]
    in_graph, ran = re.match(r"coverage: (\d+) of (\d+) ops", note).groups()
    names = list(profile.columns.ops.name)
    return int(ran) - int(in_graph) - sum(name.startswith("eager/") for name in names)


@pytest.mark.parametrize(
    "name", ["calls_in_calls", "cases", "shared_variable", "variables_in_one_scope", "restored"]
)
def test_every_op_that_ran_in_a_function_is_in_the_graph(load, name):
    assert ops_outside_the_graph(load(name)) == 0


def test_an_op_that_reads_the_result_of_a_call_knows_its_shape(load):
    assert numbers(load("calls_in_calls"), "float_ops") == {
        "encode/MatMul": 2 * 8 * 16 * 32,
        "project/MatMul": 2 * 8 * 32 * 4,
        "end/Relu": 8 * 4,
    }


def test_calls_are_not_reported_as_uncounted(load):
    uncounted = load("calls_in_calls").scope(select=["float_ops"]).uncounted

    assert "PartitionedCall" not in str(uncounted)


def test_branches_of_a_case_are_joined_with_the_ops_that_ran(load):
    profile = load("cases")
    inside = "net/switch_case/indexed_case"

    # Each branch ran in one of two steps.
    assert numbers(profile, "float_ops") == {
        f"{inside}/branch_0/{inside}/MatMul": 2 * 4 * 8 * 8 // 2,
        f"{inside}/branch_1/{inside}/MatMul": 2 * 4 * 8 * 8 // 2,
        f"{inside}/branch_1/{inside}/Relu": 4 * 8 // 2,
    }
    assert numbers(profile, "params") == {
        f"{inside}/branch_0/{inside}/MatMul/variable": 64,
        f"{inside}/branch_1/{inside}/MatMul/variable": 64,
    }


def test_a_variable_shared_by_functions_counts_once(load):
    assert numbers(load("shared_variable"), "params") == {"net/MatMul/variable": 64}


def test_variables_are_named_after_the_scope_that_uses_them(load):
    assert numbers(load("variables_in_one_scope"), "params") == {
        "pair/variable": 12,
        "pair/variable_1": 6,
        "variable": 1,
    }


def test_code_lines_of_variables_are_from_the_program(load):
    rows = load("shared_variable").code(select=["params"], max_depth=100)
    found = [row["name"] for row in rows if row["total_params"] == 64]

    assert {name.partition(":")[0] for name in found} == {"_TFProfRoot", "recorded_programs.py"}


def test_an_op_that_contributes_to_no_result_is_not_counted(load):
    assert numbers(load("unused_op"), "float_ops") == {"net/MatMul": 2 * 4 * 8 * 8}


def test_functions_of_a_saved_model_are_recorded_without_code_lines(load):
    assert numbers(load("restored"), "params") == {"MatMul/variable": 64}
    assert numbers(load("restored"), "float_ops") == {"MatMul": 2 * 4 * 8 * 8}


def test_without_kept_functions_the_ops_are_still_in_the_graph(load, after):
    assert ops_outside_the_graph(load("not_kept")) == 0
    assert "variables and code lines of some functions are unknown" in after["notes"]["not_kept"][0]


def test_the_patch_is_undone_after_every_recording(after):
    assert set(after["is_restored"].values()) == {True}
    assert after["failed"] == "fails"


def test_no_traced_function_is_kept_alive_by_a_recording(after):
    assert after["graph_is_dropped"]


def test_a_second_recording_is_rejected_and_the_first_continues(load, folder):
    assert numbers(load("records_twice"), "params") == {"net/MatMul/variable": 64}
    assert not any("second" in path.name for path in folder.iterdir())
