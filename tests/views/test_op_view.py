"""The op view: ops gathered by their kind."""

import pytest

from asking import ROOT, ask, outline, own, total
from build import CPU, GPU, op, profile, run


def kinds(**params):
    """A profile with one op of each kind, which has so many parameters and float ops."""
    return profile(*(op(f"an_{kind}", kind, shape=(n,), float_ops=n) for kind, n in params.items()))


FOUR = {"A": 1, "B": 20, "C": 300, "D": 4000}


def test_ops_of_one_kind_share_a_row():
    p = profile(op("x", "Add", shape=(1,)), op("y", "Mul", shape=(2,)), op("z", "Add", shape=(4,)))

    view = ask("op", p)

    assert outline(view) == ["Add", "Mul"]
    assert own(view, "params") == {ROOT: None, "Add": 5, "Mul": 2}
    assert list(view.profile.ops.name.take(view.members[1])) == ["x", "z"]


def test_an_op_that_only_ran_is_a_kind_of_its_own():
    assert outline(ask("op", profile(op("x", "Add"), run("stranger")))) == ["Add", "stranger"]


def test_a_kind_that_only_a_second_definition_has_is_no_row():
    assert outline(ask("op", profile(op("x", "Add"), op("x", "Mul")))) == ["Add"]


def test_a_profile_without_ops_shows_the_root_alone():
    view = ask("op", profile())

    assert total(view, "params") == {ROOT: 0}


# Totals.


def test_a_total_runs_from_its_row_to_the_last():
    view = ask("op", kinds(**FOUR))

    assert total(view, "params") == {ROOT: 4321, "A": 4321, "B": 4320, "C": 4300, "D": 4000}


def test_a_hidden_row_stays_in_the_totals():
    view = ask("op", kinds(**FOUR), hide_name_regexes=["C"])

    assert total(view, "params") == {ROOT: 4321, "A": 4321, "B": 4320, "D": 4000}


def test_totals_can_run_over_the_shown_rows_alone():
    view = ask("op", kinds(**FOUR), hide_name_regexes=["C"], account_displayed_op_only=True)

    assert total(view, "params") == {ROOT: 4021, "A": 4021, "B": 4020, "D": 4000}


def test_the_root_is_no_definition_even_where_only_shown_rows_count():
    view = ask("op", kinds(**FOUR), hide_name_regexes=["B"], account_displayed_op_only=True)

    assert total(view, "definitions") == {ROOT: 3, "A": 3, "C": 2, "D": 1}


def test_totals_of_no_shown_rows_are_nothing():
    view = ask("op", kinds(**FOUR), show_name_regexes=[], account_displayed_op_only=True)

    assert total(view, "params") == {ROOT: 0}


def test_runs_and_definitions_are_counted_op_by_op():
    p = profile(op("x", "Add"), op("y", "Add"), run("x", start=1), run("x", start=2))

    view = ask("op", p)

    assert total(view, "runs")["Add"] == 2
    assert total(view, "definitions")["Add"] == 2


# What is accounted for.


def test_a_kind_without_accounted_ops_is_no_row():
    view = ask("op", kinds(**FOUR), account_type_regexes=["B", "D"])

    assert total(view, "params") == {ROOT: 4020, "B": 4020, "D": 4000}


def test_only_the_accounted_ops_of_a_kind_count():
    p = profile(
        op("x", "Add", shape=(1,)),
        op("y", "Add", shape=(2,)),
        run("x", device=CPU),
        run("y", device=GPU),
    )

    view = ask("op", p, account_type_regexes=[".*gpu.*"])

    assert own(view, "params")["Add"] == 2
    assert own(view, "definitions")["Add"] == 1


def test_an_op_counts_once_for_each_regex_that_matches_it():
    view = ask("op", kinds(A=1, B=20), account_type_regexes=["A", "[AB]"])

    assert own(view, "params") == {ROOT: None, "A": 2, "B": 20}
    assert own(view, "definitions") == {ROOT: None, "A": 1, "B": 1}


def test_an_empty_account_list_shows_the_root_alone():
    assert outline(ask("op", kinds(**FOUR), account_type_regexes=[])) == []


# Start, trim and depth.


def test_rows_begin_with_the_first_that_matches():
    view = ask("op", kinds(**FOUR), start_name_regexes=["C", "B"])

    assert total(view, "params") == {ROOT: 4321, "B": 4320, "C": 4300, "D": 4000}


def test_an_empty_start_list_begins_at_the_top():
    assert outline(ask("op", kinds(**FOUR), start_name_regexes=[])) == ["A", "B", "C", "D"]


def test_a_start_that_matches_nothing_shows_nothing():
    assert outline(ask("op", kinds(**FOUR), start_name_regexes=["X"])) == []


def test_rows_end_before_the_first_that_is_trimmed():
    assert outline(ask("op", kinds(**FOUR), trim_name_regexes=["C"])) == ["A", "B"]


def test_the_root_is_no_row_to_trim_from():
    assert outline(ask("op", kinds(**FOUR), trim_name_regexes=[ROOT])) == ["A", "B", "C", "D"]


def test_a_trimmed_row_before_the_start_ends_nothing():
    view = ask("op", kinds(**FOUR), start_name_regexes=["B"], trim_name_regexes=["A", "D"])

    assert outline(view) == ["B", "C"]


@pytest.mark.parametrize(
    ("max_depth", "shown"),
    [
        (-2, []),
        (-1, []),
        (0, ["A"]),
        (1, ["A", "B"]),
        (2, ["A", "B", "C"]),
        (9, ["A", "B", "C", "D"]),
    ],
)
def test_a_depth_shows_one_row_more(max_depth, shown):
    assert outline(ask("op", kinds(**FOUR), max_depth=max_depth)) == shown


def test_depth_counts_from_the_start():
    view = ask("op", kinds(**FOUR), max_depth=1, start_name_regexes=["C"])

    assert outline(view) == ["C", "D"]


def test_a_hidden_row_counts_as_a_level():
    assert outline(ask("op", kinds(**FOUR), max_depth=1, hide_name_regexes=["A"])) == ["B"]


# Show, hide and thresholds.


def test_only_kinds_that_match_are_shown():
    assert outline(ask("op", kinds(**FOUR), show_name_regexes=["A|D"])) == ["A", "D"]


@pytest.mark.parametrize("key", ["params", "float_ops"])
def test_a_threshold_compares_the_running_total(key):
    view = ask("op", kinds(A=1, B=1, C=1), **{f"min_{key}": 2})

    assert outline(view) == ["A", "B"]


def test_a_threshold_of_time_compares_the_running_total():
    p = profile(op("x", "A"), op("y", "B"), op("z", "C"), run("x", 1), run("y", 1), run("z", 1))

    assert outline(ask("op", p, min_micros=2)) == ["A", "B"]


def test_the_least_occurrence_is_a_number_of_ops():
    p = profile(op("x", "A"), op("y", "B"), op("z", "B"), run("x", start=1), run("x", start=2))

    assert outline(ask("op", p, min_occurrence=2)) == ["B"]


# Order.


def test_rows_are_ordered_by_what_they_have_themselves():
    view = ask("op", kinds(**FOUR), order_by="params")

    assert outline(view) == ["D", "C", "B", "A"]
    assert total(view, "params") == {ROOT: 4321, "D": 4321, "C": 321, "B": 21, "A": 1}


def test_rows_that_have_the_same_are_in_name_order():
    assert outline(ask("op", kinds(C=1, A=1, B=2), order_by="params")) == ["B", "A", "C"]


def test_rows_can_be_ordered_by_how_many_ops_they_have():
    p = profile(op("x", "A"), op("y", "B"), op("z", "B"), run("x", start=1), run("x", start=2))

    assert outline(ask("op", p, order_by="occurrence")) == ["B", "A"]


def test_names_are_in_byte_order():
    assert outline(ask("op", kinds(b=1, B=1, _a=1))) == ["B", "_a", "b"]


# What is left out.


def test_hidden_ops_are_counted_and_weighed():
    p = profile(op("x", "A", shape=(1,)), op("y", "B", shape=(2,)), op("z", "B", shape=(4,)))

    hidden = ask("op", p, hide_name_regexes=["B"]).hidden

    assert hidden.ops == 2
    assert hidden.numbers["params"] == 6


def test_what_is_not_accounted_for_is_not_hidden():
    hidden = ask("op", kinds(**FOUR), account_type_regexes=["A"]).hidden

    assert hidden.ops == 0
    assert hidden.numbers["params"] == 0


def test_rows_are_side_by_side_whatever_is_hidden_between_them():
    view = ask("op", kinds(**FOUR), hide_name_regexes=["B"], select=["num_hidden_ops"])

    assert outline(view) == ["A", "C", "D"]
    assert view.skipped is None
