import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tfprof

pytestmark = pytest.mark.dist

GENERATE = Path(__file__).parents[2] / "benchmarks" / "generate.py"
OPS = 300


def generate(folder, *more):
    command = [sys.executable, GENERATE, folder, "--ops", str(OPS), *more]
    subprocess.run(command, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return generate(tmp_path_factory.mktemp("model"), "--text")


@pytest.fixture(scope="module")
def profile(folder):
    return tfprof.load(folder / "graph.pb", folder / "run_meta", folder / "tfprof_log")


def test_the_model_has_the_requested_number_of_ops(profile):
    assert len(profile.columns.ops) == OPS


def test_every_input_is_an_op_in_the_model(profile):
    assert (profile.columns.ops.inputs.source >= 0).all()


def test_every_op_except_variables_and_constants_ran_once(profile):
    ops, records = profile.columns.ops, profile.columns.records
    runs = np.zeros(OPS, np.int64)
    runs[records.op] = records.runs

    never_ran = {kind for kind, count in zip(kinds(ops), runs.tolist(), strict=True) if not count}
    once = [count for kind, count in zip(kinds(ops), runs.tolist(), strict=True) if count]

    assert never_ran == {"VariableV2", "Const"}
    assert set(once) == {1}


def kinds(ops):
    return [ops.kind[op] for op in range(len(ops))]


def test_the_op_log_has_a_code_line_for_every_op(profile):
    assert (profile.columns.ops.code >= 0).all()
    assert profile.notes == ()


@pytest.mark.parametrize("view", ["scope", "graph", "op", "code"])
def test_every_view_shows_time(profile, view):
    answer = getattr(profile, view)(min_micros=1).view

    assert len(answer) > 5


def test_trainable_variables_are_marked(profile):
    answer = profile.scope(account_type_regexes=["_trainable_variables"], select=["params"]).view

    assert answer.total["params"][0] > 0


def test_the_text_graph_has_the_same_content(folder, profile):
    from_text = tfprof.load(graph_path=folder / "graph.pbtxt")

    assert from_text.columns.ops.name == profile.columns.ops.name
    assert from_text.scope(select=["params"]).table == profile.scope(select=["params"]).table


def test_the_same_size_and_seed_give_the_same_bytes(folder, tmp_path):
    again = generate(tmp_path, "--text")

    for name in ("graph.pb", "graph.pbtxt", "run_meta", "tfprof_log"):
        assert (again / name).read_bytes() == (folder / name).read_bytes()


def test_a_model_too_small_for_one_tower_is_refused(tmp_path):
    command = [sys.executable, GENERATE, tmp_path, "--ops", "20"]
    ended = subprocess.run(command, check=False, capture_output=True, text=True)

    assert ended.returncode == 2
    assert "at least" in ended.stderr
