"""Reading op logs: types, float ops and code lines of ops."""

import pytest

from sources.tf_files import CPU, add, content, graph, node, op_log, read, run_metadata, stats
from tfprof.model.builder import ProfileBuilder

GRAPH = graph(node("a", "Add"), node("b", "Mul"))
FIRST = {"traces": [{"file_id": 1, "lineno": 7, "function_id": 2, "line_id": 3}]}
SECOND = {"traces": [{"file_id": 1, "lineno": 8, "function_id": 2, "line_id": 3}]}
STRINGS = {1: "x.py", 2: "main", 3: "a = b", 0: "none"}


def logged(*entries, strings=STRINGS, notes=None):
    return read(GRAPH, log=op_log(*entries, strings=strings), notes=notes)


def test_types_are_added_to_an_op():
    ops = logged({"name": "a", "types": ["_trainable_variables", "mine"]}).ops

    assert ops.types.of(0) == ["Add", "_trainable_variables", "mine"]
    assert ops.types.of(1) == ["Mul"]


def test_types_of_several_entries_accumulate():
    ops = logged({"name": "a", "types": ["x"]}, {"name": "a", "types": ["y"]}).ops

    assert ops.types.of(0) == ["Add", "x", "y"]


@pytest.mark.parametrize(("numbers", "expected"), [([5], 5), ([5, 7], 7), ([5, 0], 5), ([0], 0)])
def test_float_ops_replace_earlier_ones_unless_they_are_zero(numbers, expected):
    ops = logged(*({"name": "a", "float_ops": number} for number in numbers)).ops

    assert ops.logged_float_ops.tolist() == [expected, 0]


def test_the_first_stack_of_an_op_counts():
    profile = logged({"name": "a", "code_def": FIRST}, {"name": "a", "code_def": SECOND})

    assert [frame.line for frame in profile.code.stack(int(profile.ops.code[0]))] == [7]


def test_a_stack_is_read_with_the_strings_of_the_log():
    profile = logged({"name": "a", "code_def": FIRST})
    (frame,) = profile.code.stack(int(profile.ops.code[0]))

    assert tuple(frame) == ("x.py", 7, "main", "a = b", 0)
    assert profile.has_code
    assert profile.ops.code.tolist() == [0, -1]


def test_an_entry_without_code_does_not_count_as_logged_code():
    assert not logged({"name": "a", "float_ops": 3}).has_code


def test_an_empty_stack_counts_as_logged_code():
    profile = logged({"name": "a", "code_def": {}})

    assert profile.has_code
    assert profile.ops.code.tolist() == [-1, -1]


def test_ops_created_by_the_same_calls_share_their_stack():
    profile = logged({"name": "a", "code_def": FIRST}, {"name": "b", "code_def": FIRST})

    assert profile.ops.code.tolist() == [0, 0]


def test_entries_for_unknown_ops_are_ignored_and_noted():
    notes = []

    profile = logged(
        {"name": "gone", "types": ["x"], "float_ops": 9, "code_def": FIRST},
        {"name": "gone too"},
        {"name": "a"},
        notes=notes,
    )

    assert list(profile.ops.name) == ["a", "b"]
    assert not profile.has_code
    (note,) = notes
    assert note == (
        "tfprof_log has entries for 2 ops that are in no other file; these entries are ignored. "
        "Is it the log of this model?"
    )


def test_a_log_may_describe_ops_known_only_from_runs():
    runs = [(0, run_metadata((CPU, [stats("only_ran")])))]

    profile = read(runs=runs, log=op_log({"name": "only_ran", "types": ["x"]}))

    assert "x" in profile.ops.types.of(0)


def test_missing_strings_are_shown_as_unknown_and_noted():
    notes = []

    profile = logged({"name": "a", "code_def": FIRST}, strings={2: "main"}, notes=notes)

    assert profile.code.frame(0).file == "unknown"
    assert profile.code.frame(0).function == "main"
    (note,) = notes
    assert note == (
        "tfprof_log lacks 1 string used in its code lines; the affected files and functions are "
        "shown as `unknown`."
    )


def test_old_logs_have_the_strings_in_the_traces():
    notes = []
    old = {"file": "x.py", "lineno": 7, "function": "main", "line": "a = b", "func_start_line": 5}

    profile = logged({"name": "a", "code_def": {"traces": [old]}}, strings={}, notes=notes)

    assert tuple(profile.code.frame(0)) == ("x.py", 7, "main", "a = b", 5)
    assert notes == []


def test_each_log_is_read_with_its_own_strings():
    builder = ProfileBuilder()
    add("graph", "graph.pb", GRAPH, builder)
    for name, file in (("a", "x.py"), ("b", "y.py")):
        data = op_log({"name": name, "code_def": FIRST}, strings={**STRINGS, 1: file})
        add("op_log", "tfprof_log", data, builder)
    profile = builder.build()

    files = [profile.code.frame(int(row)).file for row in profile.ops.code]

    assert files == ["x.py", "y.py"]


def test_a_log_of_another_model_is_noted():
    notes = []

    read(GRAPH, log=content("mlp_tiny/tfprof_log"), notes=notes)

    (note,) = notes
    assert note == (
        "tfprof_log has entries for 15 ops that are in no other file; these entries are ignored. "
        "Is it the log of this model?"
    )


def test_a_real_log_has_variables_float_ops_and_code():
    profile = read(content("mlp_tiny/graph.pb"), log=content("mlp_tiny/tfprof_log"))
    of = dict(zip(profile.ops.name, range(len(profile.ops)), strict=True))

    assert "_trainable_variables" in profile.ops.types.of(of["fc1/w"])
    assert profile.ops.logged_float_ops[of["fc2/MatMul"]] == 36
    assert all(profile.ops.code >= 0)
