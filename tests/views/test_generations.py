"""How `dialect` changes the rows and numbers of a view to those of older generations."""

import pytest

from asking import ROOT, ask, outline, own, total
from build import CPU, op, profile, run

EARLY = {"dialect": "early"}
# The first generation shows only variables by default.
CONTRIB = {"dialect": "contrib", "account_type_regexes": [".*"], "max_depth": 100}


def variables():
    return profile(
        op("net/w", "Variable", shape=(3,)),
        op("net/w/Momentum", "Variable", shape=(3,)),
        op("net/read", "Identity"),
        op("step", "Variable", shape=()),
    )


# The first generation: only ops that are accounted for have rows.


def test_contrib_shows_variables_by_default():
    view = ask("scope", variables(), dialect="contrib")

    assert outline(view) == ["net/w", "  net/w/Momentum", "step"]


def test_contrib_does_not_show_unaccounted_rows():
    view = ask("scope", variables(), **CONTRIB | {"account_type_regexes": ["Identity"]})

    assert outline(view) == ["net/read"]
    assert own(view, "params") == {ROOT: None, "net/read": 0}


def test_contrib_counts_hidden_levels_towards_the_depth():
    p = profile(op("a/b/w", "Variable", shape=(2,)))

    assert outline(ask("scope", p, dialect="contrib", max_depth=4)) == ["a/b/w"]
    assert outline(ask("scope", p, dialect="contrib", max_depth=3)) == []


def test_contrib_leaves_unaccounted_ops_out_of_totals():
    p = profile(op("a", "Foo", float_ops=100), op("a/b", "Bar", float_ops=10))

    assert total(ask("scope", p, account_type_regexes=["Bar"]), "float_ops")[ROOT] == 110
    contrib = ask("scope", p, dialect="contrib", account_type_regexes=["Bar"])
    assert total(contrib, "float_ops") == {ROOT: 10, "a/b": 10}


def test_contrib_trims_below_unaccounted_ops():
    p = profile(op("a", "Foo"), op("a/b", "Bar"))

    view = ask("scope", p, dialect="contrib", account_type_regexes=["Bar"], trim_name_regexes=["a"])

    assert outline(view) == []


def test_contrib_counts_no_parameters_for_a_scalar():
    assert total(ask("scope", variables(), dialect="contrib"), "params")["step"] == 0
    assert total(ask("scope", variables()), "params")["step"] == 1


def test_contrib_accounts_for_the_root_if_it_accounts_for_everything():
    p = profile(op("a"))

    assert own(ask("scope", p, **CONTRIB), "params")[ROOT] == 0
    assert own(ask("scope", p), "params")[ROOT] is None


def test_contrib_compares_thresholds_with_the_own_numbers_of_an_op():
    p = profile(op("a"), op("a/b"), run("a", micros=2), run("a/b", micros=10))

    assert outline(ask("scope", p, min_micros=5)) == ["a", "  a/b"]
    assert outline(ask("scope", p, min_micros=5, **EARLY)) == ["a/b"]
    assert outline(ask("scope", p, min_micros=5, **CONTRIB)) == ["a/b"]


def test_contrib_accounts_only_for_rows_below_the_start():
    p = profile(op("a", shape=(2,)), op("b", shape=(3,)))

    assert total(ask("scope", p, start_name_regexes=["b"]), "params")[ROOT] == 5
    assert total(ask("scope", p, start_name_regexes=["b"], **CONTRIB), "params")[ROOT] == 3


def test_contrib_does_not_count_unaccounted_ops_as_hidden():
    view = ask("scope", variables(), dialect="contrib", show_name_regexes=["step"])

    assert view.hidden.ops == 2
    assert view.hidden.numbers["params"] == 6


# Its graph: inputs by name, and totals that go to the consumer that is completed first.


def test_contrib_searches_inputs_in_name_order():
    p = profile(op("a", inputs=["n", "m"]), op("m", inputs=["x"]), op("n", inputs=["x"]), op("x"))

    assert outline(ask("graph", p)) == ["a", "  m", "  n", "    x"]
    assert outline(ask("graph", p, **CONTRIB)) == ["a", "  m", "    x", "  n"]


def test_contrib_counts_an_op_towards_the_first_completed_consumer():
    p = profile(
        op("add", inputs=["first", "second"]),
        op("first", shape=(5,)),
        op("second", inputs=["first"]),
    )

    view = ask("graph", p, **CONTRIB)

    # `first` is below `add`, which reaches it first, but `second` is completed before `add`.
    assert outline(view) == ["add", "  first", "  second"]
    assert total(view, "params") == {ROOT: 5, "add": 5, "first": 5, "second": 5}


def test_contrib_counts_every_op_of_a_cycle():
    p = profile(
        op("exit", inputs=["loop"]),
        op("loop", inputs=["body"], shape=(2,)),
        op("body", inputs=["loop"], shape=(3,)),
    )

    assert total(ask("graph", p, **CONTRIB), "params") == {ROOT: 5, "exit": 5, "loop": 5, "body": 3}


def test_contrib_searches_the_graph_again_from_the_start():
    p = profile(
        op("a", inputs=["x"]),
        op("cost", inputs=["m"]),
        op("m", inputs=["x"]),
        op("x", shape=(3,)),
    )

    view = ask("graph", p, start_name_regexes=["cost"], **CONTRIB)

    assert outline(view) == ["cost", "  m", "    x"]
    assert total(view, "params")[ROOT] == 3
    assert outline(ask("graph", p, start_name_regexes=["cost"])) == ["cost", "  m"]


def test_contrib_shows_only_the_root_if_no_name_matches_the_start():
    view = ask("graph", profile(op("a", shape=(3,))), start_name_regexes=["b"], **CONTRIB)

    assert outline(view) == []
    assert total(view, "params") == {ROOT: 0}


def test_hidden_ops_are_counted_between_a_row_and_its_parent():
    p = profile(op("a", inputs=["b"]), op("b", inputs=["c"]), op("c", inputs=["d"]), op("d"))

    view = ask("graph", p, select=["num_hidden_ops"], hide_name_regexes=["b", "c"])

    assert outline(view) == ["a", "  d"]
    assert view.skipped.tolist() == [0, 0, 2]


def test_hidden_ops_are_not_counted_unless_selected():
    assert ask("graph", profile(op("a"))).skipped is None


# The early generation: source text in code lines, gradients where they were created.


def test_early_quotes_the_source_of_a_line():
    p = profile(op("a", code=["net.py:3:build"]))

    assert outline(ask("code", p)) == ["net.py:3:build"]
    assert outline(ask("code", p, **EARLY)) == ["net.py:3:build:none"]


def test_early_leaves_gradients_where_they_were_created():
    p = profile(
        op("conv", code=["net.py:3:build"]),
        op("gradients/conv_grad/mul", code=["train.py:7:step"]),
    )

    assert outline(ask("code", p)) == ["net.py:3:build", "net.py:3:build (gradient)"]
    assert outline(ask("code", p, **EARLY)) == ["net.py:3:build:none", "train.py:7:step:none"]


def test_early_can_total_only_shown_code_lines():
    p = profile(op("a", code=["a.py:1:f"], shape=(2,)), op("b", code=["b.py:1:f"], shape=(3,)))
    shown = {"show_name_regexes": ["a.*"], "account_displayed_op_only": True}

    assert total(ask("code", p, **shown), "params")[ROOT] == 5
    assert total(ask("code", p, **shown, **EARLY), "params")[ROOT] == 2


def test_early_compares_totals_of_code_lines_with_thresholds():
    p = profile(op("a", code=["a.py:1:f", "b.py:2:g"]), run("a", micros=9))

    assert len(outline(ask("code", p, min_micros=5, **EARLY))) == 2


# All generations.


def test_rows_without_an_op_on_the_device_are_hidden():
    p = profile(op("a/on"), op("a/off"), op("never"), run("a/on"), run("a/off", device="/gpu:0"))

    assert outline(ask("scope", p, device_regexes=[".*cpu.*"])) == ["a/on"]
    assert outline(ask("scope", p, device_regexes=["/GPU:0", CPU])) == ["a/off", "a/on"]
    assert outline(ask("graph", p, device_regexes=[".*cpu.*"])) == ["a/on"]


def test_a_device_may_be_quoted_in_a_regex():
    p = profile(op("a"), op("b"), run("a"), run("b", device="/gpu:0"))

    assert outline(ask("scope", p, device_regexes=[r"\Q/GPU:0"])) == ["b"]


def test_kinds_without_an_op_on_the_device_are_hidden():
    p = profile(op("a", "Add"), op("b", "Mul"), run("a"), run("b", device="/gpu:0"))

    assert outline(ask("op", p, device_regexes=["/gpu:0"])) == ["Mul"]


def test_an_op_on_a_hidden_device_is_still_accounted_for():
    p = profile(op("a"), run("a", micros=5), op("b"), run("b", micros=7, device="/gpu:0"))

    assert total(ask("scope", p, device_regexes=["/gpu:0"]), "micros")[ROOT] == 12


# Float operations.


def squares(**logged):
    inputs = op("x", outputs=[(2, 3)]), op("a", "Square", inputs=["x"], **logged)
    return profile(*inputs, op("b", "Square", inputs=["x"]), counts_float_ops=True)


@pytest.mark.parametrize("dialect", ["early", "contrib"])
def test_older_dialects_take_float_operations_from_the_op_log_alone(dialect):
    options = {"account_type_regexes": [".*"], "select": ["float_ops"]}

    view = ask("op", squares(float_ops=10), dialect=dialect, **options)

    assert total(view, "float_ops")[ROOT] == 10
    assert total(ask("op", squares(float_ops=10), **options), "float_ops")[ROOT] == 16


@pytest.mark.parametrize("dialect", ["early", "contrib"])
def test_older_dialects_count_float_operations_if_no_op_log_has_any(dialect):
    view = ask("op", squares(), dialect=dialect, account_type_regexes=[".*"])

    assert total(view, "float_ops")[ROOT] == 12
