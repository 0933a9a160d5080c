"""The op view: ops grouped by kind."""

import pytest

from asking import ROOT, ask, outline, own, total
from build import CPU, GPU, op, profile, run


def kinds(**params):
    """A profile with one op of each kind, with the given number of parameters and float ops."""
    return profile(*(op(f"an_{kind}", kind, shape=(n,), float_ops=n) for kind, n in params.items()))


FOUR = {"A": 1, "B": 20, "C": 300, "D": 4000}


def test_ops_of_the_same_kind_share_a_row():
    p = profile(op("x", "Add", shape=(1,)), op("y", "Mul", shape=(2,)), op("z", "Add", shape=(4,)))

    view = ask("op", p)

    assert outline(view) == ["Add", "Mul"]
    assert own(view, "params") == {ROOT: None, "Add": 5, "Mul": 2}
    assert list(view.profile.ops.name.take(view.members[1])) == ["x", "z"]


def test_an_op_that_is_only_in_a_run_has_its_own_kind():
    assert outline(ask("op", profile(op("x", "Add"), run("undefined")))) == ["Add", "undefined"]


def test_a_kind_that_only_a_repeated_definition_has_gets_no_row():
    assert outline(ask("op", profile(op("x", "Add"), op("x", "Mul")))) == ["Add"]


def test_a_profile_without_ops_shows_only_the_root():
    view = ask("op", profile())

    assert total(view, "params") == {ROOT: 0}


# Totals.


def test_a_total_covers_a_row_and_all_later_rows():
    view = ask("op", kinds(**FOUR))

    assert total(view, "params") == {ROOT: 4321, "A": 4321, "B": 4320, "C": 4300, "D": 4000}


def test_a_hidden_row_still_counts_towards_totals():
    view = ask("op", kinds(**FOUR), hide_name_regexes=["C"])

    assert total(view, "params") == {ROOT: 4321, "A": 4321, "B": 4320, "D": 4000}


def test_totals_can_cover_only_shown_rows():
    view = ask("op", kinds(**FOUR), hide_name_regexes=["C"], account_displayed_op_only=True)

    assert total(view, "params") == {ROOT: 4021, "A": 4021, "B": 4020, "D": 4000}


def test_the_root_is_not_a_definition_even_if_only_shown_rows_count():
    view = ask("op", kinds(**FOUR), hide_name_regexes=["B"], account_displayed_op_only=True)

    assert total(view, "definitions") == {ROOT: 3, "A": 3, "C": 2, "D": 1}


def test_the_total_is_zero_if_no_rows_are_shown():
    view = ask("op", kinds(**FOUR), show_name_regexes=[], account_displayed_op_only=True)

    assert total(view, "params") == {ROOT: 0}


def test_runs_and_definitions_are_added_up_over_the_ops_of_a_kind():
    p = profile(op("x", "Add"), op("y", "Add"), run("x", start=1), run("x", start=2))

    view = ask("op", p)

    assert total(view, "runs")["Add"] == 2
    assert total(view, "definitions")["Add"] == 2


# Accounting.


def test_a_kind_without_accounted_ops_has_no_row():
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


def test_an_empty_account_list_shows_only_the_root():
    assert outline(ask("op", kinds(**FOUR), account_type_regexes=[])) == []


# Start, trim and depth.


def test_rows_begin_with_the_first_one_that_matches_the_start():
    view = ask("op", kinds(**FOUR), start_name_regexes=["C", "B"])

    assert total(view, "params") == {ROOT: 4321, "B": 4320, "C": 4300, "D": 4000}


def test_an_empty_start_list_shows_all_rows():
    assert outline(ask("op", kinds(**FOUR), start_name_regexes=[])) == ["A", "B", "C", "D"]


def test_a_start_that_matches_nothing_shows_nothing():
    assert outline(ask("op", kinds(**FOUR), start_name_regexes=["X"])) == []


def test_rows_end_before_the_first_trimmed_one():
    assert outline(ask("op", kinds(**FOUR), trim_name_regexes=["C"])) == ["A", "B"]


def test_the_root_cannot_be_trimmed():
    assert outline(ask("op", kinds(**FOUR), trim_name_regexes=[ROOT])) == ["A", "B", "C", "D"]


def test_a_trimmed_row_before_the_start_has_no_effect():
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
def test_the_number_of_shown_rows_is_max_depth_plus_one(max_depth, shown):
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


def test_min_occurrence_is_a_number_of_ops():
    p = profile(op("x", "A"), op("y", "B"), op("z", "B"), run("x", start=1), run("x", start=2))

    assert outline(ask("op", p, min_occurrence=2)) == ["B"]


# Order.


def test_rows_are_ordered_by_their_own_numbers():
    view = ask("op", kinds(**FOUR), order_by="params")

    assert outline(view) == ["D", "C", "B", "A"]
    assert total(view, "params") == {ROOT: 4321, "D": 4321, "C": 321, "B": 21, "A": 1}


def test_rows_with_equal_numbers_are_in_name_order():
    assert outline(ask("op", kinds(C=1, A=1, B=2), order_by="params")) == ["B", "A", "C"]


def test_rows_can_be_ordered_by_their_number_of_ops():
    p = profile(op("x", "A"), op("y", "B"), op("z", "B"), run("x", start=1), run("x", start=2))

    assert outline(ask("op", p, order_by="occurrence")) == ["B", "A"]


def test_names_are_in_byte_order():
    assert outline(ask("op", kinds(b=1, B=1, _a=1))) == ["B", "_a", "b"]


# Hidden ops.


def test_hidden_ops_and_their_numbers_are_counted():
    p = profile(op("x", "A", shape=(1,)), op("y", "B", shape=(2,)), op("z", "B", shape=(4,)))

    hidden = ask("op", p, hide_name_regexes=["B"]).hidden

    assert hidden.ops == 2
    assert hidden.numbers["params"] == 6


def test_unaccounted_ops_do_not_count_as_hidden():
    hidden = ask("op", kinds(**FOUR), account_type_regexes=["A"]).hidden

    assert hidden.ops == 0
    assert hidden.numbers["params"] == 0


def test_rows_stay_a_flat_list_if_rows_between_them_are_hidden():
    view = ask("op", kinds(**FOUR), hide_name_regexes=["B"], select=["num_hidden_ops"])

    assert outline(view) == ["A", "C", "D"]
    assert view.skipped is None
