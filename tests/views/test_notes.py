"""What an answer says it lacks."""

import numpy as np
import pytest

from asking import GRAPHS, RUNS, VALUES, ZERO
from build import GPU, op, profile, run
from checkpointed import with_tensors
from tfprof.columns import Shapes, Strings
from tfprof.model.builder import OpColumns, ProfileBuilder
from tfprof.model.tensors import Tensors
from tfprof.options import Options
from tfprof.views.notes import notes


def said(p, kind="scope", **options):
    return list(notes(kind, p, Options.of(**options)))


def test_nothing_is_said_where_nothing_lacks():
    assert said(profile(op("a"), run("a"))) == []


# Files that were not given.


@pytest.mark.parametrize("key", ["bytes", "peak_bytes", "cpu_micros", "device"])
def test_what_was_never_measured_names_the_file_that_would_tell(key):
    assert said(profile(op("a")), select=[key]) == [f"`{key}` requires {RUNS}, {ZERO}"]


def test_tensor_values_need_a_checkpoint():
    assert said(profile(op("a")), select=["tensor_value"]) == [
        f"`tensor_value` requires {VALUES}, {ZERO}"
    ]


def test_a_checkpoint_tells_tensor_values():
    builder = ProfileBuilder()
    builder.add_ops(OpColumns.of(["a"], ["Op"], [()], [None], [()]))
    shapes = Shapes.of([()])
    builder.set_tensors(
        Tensors(Strings(["a"]), Strings(["float32"]), shapes, lambda _: np.empty(0))
    )

    assert said(builder.build(), select=["tensor_value"]) == []


def test_types_whose_values_a_table_does_not_show_are_named():
    p = with_tensors(profile(op("a")), {"a": np.array([True]), "b": np.float16([1])})

    assert said(p, select=["tensor_value"]) == [
        "the table has no values of type bool, float16; --json has them."
    ]


def test_parameters_need_a_graph():
    assert said(profile(run("a")), select=["params"]) == [f"`params` requires {GRAPHS}, {ZERO}"]


def test_several_metrics_share_a_sentence():
    assert said(profile(op("a")), select=["micros", "bytes"]) == [
        f"`bytes` and `micros` require {RUNS}, {ZERO}"
    ]


def test_each_missing_file_has_its_own_sentence():
    assert len(said(profile(op("a")), select=["micros", "tensor_value"])) == 2


def test_what_orders_the_rows_must_have_been_measured():
    assert said(profile(op("a")), select=["params"], order_by="micros") == [
        f"`micros` requires {RUNS}, {ZERO}"
    ]


def test_what_filters_the_rows_must_have_been_measured():
    assert said(profile(op("a")), select=["params"], min_peak_bytes=1) == [
        f"`peak_bytes` requires {RUNS}, {ZERO}"
    ]


def test_ordering_by_name_needs_nothing():
    assert said(profile(op("a")), select=["params"], order_by="name") == []


# Float ops that nobody counted.


def counted(*facts, **options):
    return said(profile(*facts, counts_float_ops=True), select=["float_ops"], **options)


def test_kinds_without_a_rule_are_named_with_the_most_frequent_first():
    ops = op("a", "Zork"), op("b", "Zork"), op("c", "Blip")

    assert counted(*ops) == [
        "float ops of 3 ops of 2 kinds (Zork 2, Blip 1) are not counted: there is no rule for them."
    ]


def test_one_op_of_one_kind_is_said_to_be_one():
    assert counted(op("a", "Zork")) == [
        "float ops of 1 op of 1 kind (Zork 1) are not counted: there is no rule for them."
    ]


def test_no_more_than_five_kinds_are_named():
    ops = [op(f"x{place}", f"Zork{place}") for place in range(7)]

    assert "(Zork0 1, Zork1 1, Zork2 1, Zork3 1, Zork4 1 and 2 more)" in counted(*ops)[0]


def test_only_ops_that_are_accounted_for_are_missed():
    assert counted(op("a", "Zork"), op("b", "NoOp"), account_type_regexes=["NoOp"]) == []


def test_an_op_that_only_ran_is_missed_in_a_sentence_of_its_own():
    assert counted(op("a", "NoOp"), run("stranger")) == [
        "float ops of 1 op missing from the graph are not counted."
    ]


def test_an_op_whose_shapes_are_unknown_is_missed_with_a_way_to_learn_them():
    [note] = counted(op("a", "MatMul", inputs=["b", "b"]), op("b", "NoOp"))

    assert note == (
        "float ops of 1 op of 1 kind (MatMul 1) are not counted: their shapes are unknown; "
        f"give {RUNS}."
    )


def test_a_run_that_did_not_tell_the_shapes_is_not_asked_for_again():
    ops = op("a", "MatMul", inputs=["b", "b"]), op("b", "NoOp")

    assert counted(*ops, run("b")) == [
        "float ops of 1 op of 1 kind (MatMul 1) are not counted: their shapes are unknown."
    ]


def test_float_ops_are_missed_only_where_they_are_asked_for():
    p = profile(op("a", "Zork"), counts_float_ops=True)

    assert said(p, select=["params"]) == []


def test_nothing_is_missed_where_float_ops_come_from_a_log_alone():
    assert said(profile(op("a", "Zork")), select=["float_ops"]) == []


# Surprises of the regexes.


@pytest.mark.parametrize("kind", ["code", "op"])
def test_ops_that_count_more_than_once_are_told(kind):
    p = profile(op("a", "MatMul", code=["a.py:1:f"]), op("b", "Add"))

    [note] = said(p, kind, select=[], account_type_regexes=["MatMul", "Mat.*"])

    assert note == (
        "more than one of account_type_regexes matches 1 op, and each match counts; "
        "write one regex, a|b, to count an op once."
    )


@pytest.mark.parametrize("kind", ["scope", "graph"])
def test_ops_that_match_twice_are_no_surprise_where_they_count_once(kind):
    p = profile(op("a", "MatMul"))

    assert said(p, kind, select=[], account_type_regexes=["MatMul", "Mat.*"]) == []


def test_a_device_in_upper_case_is_told_to_be_in_lower_case():
    p = profile(op("a"), run("a", device=GPU))

    assert said(p, account_type_regexes=[".*GPU:0.*"]) == [
        "no op's types match `.*GPU:0.*`; devices are types too, in lower case."
    ]


def test_a_regex_of_the_beginning_of_a_type_is_answered_with_the_type():
    p = profile(op("a", "VariableV2"), op("b", "MatMul"))

    assert said(p, select=[], account_type_regexes=["Variable", ""]) == [
        "no op's types match `Variable,`, which stands for whole types; there is `VariableV2`."
    ]


def test_an_upper_case_regex_that_matches_is_left_alone():
    assert said(profile(op("a", "MatMul")), select=[], account_type_regexes=["MatMul"]) == []


def test_a_lower_case_regex_that_matches_nothing_is_left_alone():
    assert said(profile(op("a")), select=[], account_type_regexes=["gpu"]) == []


def test_nothing_is_said_of_regexes_where_there_are_no_ops():
    assert said(profile(), select=[], account_type_regexes=["MatMul"]) == []


# The code view.


def code_said(*facts, **options):
    return said(profile(op("a", code=["a.py:1:f"]), *facts), "code", select=[], **options)


def test_the_code_view_says_that_it_counts_everything():
    assert code_said(account_displayed_op_only=True) == [
        "the code view does not know account_displayed_op_only; totals cover everything."
    ]


def test_the_code_view_says_which_gradients_it_left_out():
    assert code_said(op("gradients/b_grad/c", code=["a.py:1:f"])) == [
        "1 op of gradients is left out: their forward ops have no code line."
    ]


def test_the_code_view_says_that_it_has_no_tensor_values():
    p = profile(op("a", code=["a.py:1:f"]))

    assert said(p, "code", select=["tensor_value"])[-1] == (
        "the code view has no tensor values; the scope and graph views do."
    )


@pytest.mark.parametrize("key", ["occurrence", "input_shapes"])
def test_the_code_view_says_that_it_has_no_occurrence_and_no_input_shapes(key):
    p = profile(op("a", code=["a.py:1:f"]))

    assert said(p, "code", select=[key]) == [
        "the code view has no occurrence and no input shapes; the op view does."
    ]


def test_other_views_have_nothing_to_say_of_code():
    p = profile(op("a", code=["a.py:1:f"]))

    assert said(p, "scope", select=["occurrence"], account_displayed_op_only=True) == []
