"""The notes of a view."""

import numpy as np
import pytest

from asking import GRAPHS, RUNS, VALUES, ZERO
from build import GPU, op, profile, run
from checkpointed import with_tensors
from tfprof.api import build_view
from tfprof.columns import Shapes, Strings
from tfprof.model.builder import OpColumns, ProfileBuilder
from tfprof.model.tensors import Tensors
from tfprof.options import Options
from tfprof.views.notes import notes


def notes_of(p, kind="scope", **options):
    return list(notes(build_view(kind, p, Options.of(**options))))


W = op("a", "VariableV2", shape=(3,))


def test_there_are_no_notes_if_nothing_is_missing():
    assert notes_of(profile(op("a"), run("a"))) == []


# Files that were not given.


@pytest.mark.parametrize("key", ["bytes", "peak_bytes", "cpu_micros", "device"])
def test_a_metric_without_data_has_a_note_on_the_required_file(key):
    assert notes_of(profile(op("a")), select=[key]) == [f"`{key}` requires {RUNS}, {ZERO}"]


def test_tensor_values_require_a_checkpoint():
    assert notes_of(profile(op("a")), select=["tensor_value"]) == [
        f"`tensor_value` requires {VALUES}, {ZERO}"
    ]


def test_a_checkpoint_provides_tensor_values():
    builder = ProfileBuilder()
    builder.add_ops(OpColumns.of(["a"], ["Op"], [()], [None], [()]))
    shapes = Shapes.of([()])
    builder.set_tensors(
        Tensors(Strings(["a"]), Strings(["float32"]), shapes, lambda _: np.empty(0))
    )

    assert notes_of(builder.build(), select=["tensor_value"]) == []


def test_types_whose_values_a_table_does_not_show_are_noted():
    p = with_tensors(profile(op("a")), {"a": np.array([True]), "b": np.float16([1])})

    assert notes_of(p, select=["tensor_value"]) == [
        "tables do not show values of type bool, float16; use --json to see them."
    ]


def test_parameters_require_a_graph():
    assert notes_of(profile(run("a")), select=["params"]) == [f"`params` requires {GRAPHS}, {ZERO}"]


def test_metrics_that_require_the_same_file_share_a_note():
    assert notes_of(profile(op("a")), select=["micros", "bytes"]) == [
        f"`bytes` and `micros` require {RUNS}, {ZERO}"
    ]


def test_each_missing_file_has_its_own_note():
    assert len(notes_of(profile(op("a")), select=["micros", "tensor_value"])) == 2


def test_ordering_by_a_metric_without_data_is_noted():
    assert notes_of(profile(W), select=["params"], order_by="micros") == [
        f"`micros` requires {RUNS}, {ZERO}"
    ]


def test_filtering_by_a_metric_without_data_is_noted():
    assert notes_of(profile(W), select=["params"], min_peak_bytes=1) == [
        f"`peak_bytes` requires {RUNS}, {ZERO}"
    ]


def test_ordering_by_name_requires_no_file():
    assert notes_of(profile(W), select=["params"], order_by="name") == []


# Float ops that are not counted.


def counted(*facts, **options):
    return notes_of(profile(*facts, counts_float_ops=True), select=["float_ops"], **options)


def test_kinds_without_a_rule_are_listed_most_frequent_first():
    ops = op("a", "Zork"), op("b", "Zork"), op("c", "Blip")

    assert counted(*ops) == [
        "float ops of 3 ops of 2 kinds (Zork 2, Blip 1) are not counted: there is no rule for them."
    ]


def test_one_op_of_one_kind_is_noted_in_the_singular():
    assert counted(op("a", "Zork")) == [
        "float ops of 1 op of 1 kind (Zork 1) are not counted: there is no rule for them."
    ]


def test_at_most_five_kinds_are_listed():
    ops = [op(f"x{number}", f"Zork{number}") for number in range(7)]

    assert "(Zork0 1, Zork1 1, Zork2 1, Zork3 1, Zork4 1 and 2 more)" in counted(*ops)[0]


def test_uncounted_ops_are_noted_only_if_they_are_accounted_for():
    ops = op("a", "Zork"), op("b", "NoOp", float_ops=5)

    assert counted(*ops, account_type_regexes=["NoOp"]) == []


@pytest.mark.parametrize(
    ("names", "note"),
    [
        ("x", "1 op that ran is not in the graph; its float ops are not counted."),
        ("xy", "2 ops that ran are not in the graph; their float ops are not counted."),
    ],
)
def test_ops_that_ran_but_are_not_in_the_graph_are_noted(names, note):
    assert counted(op("a", "NoOp"), *map(run, names)) == [note]


def test_ops_that_are_not_in_the_graph_are_noted_only_if_they_are_accounted_for():
    ops = op("a", "NoOp", float_ops=5), run("x")

    assert counted(*ops, account_type_regexes=["NoOp"]) == []


def test_the_note_on_unknown_shapes_names_the_files_that_provide_them():
    [note] = counted(op("a", "MatMul", inputs=["b", "b"]), op("b", "NoOp"))

    assert note == (
        "float ops of 1 op of 1 kind (MatMul 1) are not counted: their shapes are unknown; "
        f"give {RUNS}."
    )


def test_the_note_on_unknown_shapes_does_not_suggest_a_run_that_was_given():
    ops = op("a", "MatMul", inputs=["b", "b"]), op("b", "NoOp")

    assert counted(*ops, run("b")) == [
        "float ops of 1 op of 1 kind (MatMul 1) are not counted: their shapes are unknown."
    ]


def test_uncounted_float_ops_are_noted_only_if_float_ops_are_selected():
    p = profile(op("a", "Zork", shape=(3,)), counts_float_ops=True)

    assert notes_of(p, select=["params"]) == []


def test_uncounted_float_ops_are_not_noted_if_counting_is_turned_off():
    assert notes_of(profile(op("a", "Zork", float_ops=5)), select=["float_ops"]) == []


# Likely mistakes in regexes.


@pytest.mark.parametrize("kind", ["code", "op"])
def test_ops_that_count_more_than_once_are_noted(kind):
    p = profile(op("a", "MatMul", code=["a.py:1:f"]), op("b", "Add"))

    [note] = notes_of(p, kind, select=[], account_type_regexes=["MatMul", "Mat.*"])

    assert note == (
        "1 op matches more than one of account_type_regexes and counts once per match; "
        "combine the regexes into one, a|b, to count each op once."
    )


@pytest.mark.parametrize("kind", ["scope", "graph"])
def test_ops_that_match_twice_are_not_noted_if_they_count_once(kind):
    p = profile(op("a", "MatMul"))

    assert notes_of(p, kind, select=[], account_type_regexes=["MatMul", "Mat.*"]) == []


def test_a_regex_in_upper_case_gets_the_hint_that_devices_are_in_lower_case():
    p = profile(op("a"), run("a", device=GPU))

    assert notes_of(p, account_type_regexes=[".*GPU:0.*"]) == [
        (
            "-account_type_regexes: no op type matches `.*GPU:0.*`. "
            f"A regex must match the whole name: `.*gpu:0.*` matches `{GPU}`."
        )
    ]


def test_a_regex_that_is_the_beginning_of_a_type_gets_the_whole_type_as_a_hint():
    p = profile(op("a", "VariableV2"), op("b", "MatMul"))

    assert notes_of(p, select=[], account_type_regexes=["Variable", ""]) == [
        (
            "-account_type_regexes: no op type matches `Variable`. "
            "A regex must match the whole name: `Variable.*` matches `VariableV2`."
        )
    ]


def test_an_upper_case_regex_that_matches_is_not_noted():
    assert notes_of(profile(op("a", "MatMul")), select=[], account_type_regexes=["MatMul"]) == []


def test_a_regex_that_is_like_no_type_gets_the_list_of_types():
    assert notes_of(profile(op("a")), select=[], account_type_regexes=["gpu"]) == [
        "-account_type_regexes: no op type matches `gpu`. Available: Op."
    ]


def test_regexes_are_not_noted_if_there_are_no_ops():
    assert notes_of(profile(), select=[], account_type_regexes=["MatMul"]) == [
        "these files contain no ops."
    ]


# The code view.


def code_notes(*facts, **options):
    return notes_of(profile(op("a", code=["a.py:1:f"]), *facts), "code", select=[], **options)


def test_the_code_view_notes_that_it_ignores_account_displayed_op_only():
    assert code_notes(account_displayed_op_only=True) == [
        "the code view ignores account_displayed_op_only; totals include hidden lines."
    ]


@pytest.mark.parametrize(
    ("names", "note"),
    [
        ("c", "1 gradient op is left out: its forward op has no code line."),
        ("cd", "2 gradient ops are left out: their forward ops have no code line."),
    ],
)
def test_the_code_view_notes_how_many_gradients_it_leaves_out(names, note):
    gradients = [op(f"gradients/b_grad/{name}", code=["a.py:1:f"]) for name in names]

    assert code_notes(*gradients) == [note]


def test_the_code_view_notes_that_it_has_no_tensor_values():
    p = profile(op("a", code=["a.py:1:f"]))

    assert notes_of(p, "code", select=["tensor_value"])[-1] == (
        "the code view has no tensor values; the scope and graph views do."
    )


@pytest.mark.parametrize("key", ["occurrence", "input_shapes"])
def test_the_code_view_notes_that_it_has_no_occurrence_or_input_shapes(key):
    p = profile(op("a", code=["a.py:1:f"]))

    assert notes_of(p, "code", select=[key]) == [
        "the code view has no occurrence or input shapes; the op view does."
    ]


def test_other_views_have_no_notes_on_code():
    p = profile(op("a", code=["a.py:1:f"]))

    assert notes_of(p, "scope", select=["occurrence"], account_displayed_op_only=True) == []
