"""The scope view: ops by the slashes in their names."""

import pytest

from asking import ROOT, ask, outline, own, texts, total
from build import op, profile, run


def test_a_worked_example():
    p = profile(
        op("a", "Foo", float_ops=100),
        op("a/b", "Bar", float_ops=10),
        op("a/b/c", "Baz", float_ops=1),
        op("d", "Bar", float_ops=5000),
    )

    view = ask("scope", p, account_type_regexes=["Bar"], select=["float_ops"])

    assert outline(view) == ["a", "  a/b", "d"]
    assert own(view, "float_ops") == {ROOT: None, "a": None, "a/b": 10, "d": 5000}
    assert total(view, "float_ops") == {ROOT: 5110, "a": 110, "a/b": 10, "d": 5000}


# Nesting of names.


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (["a/b/c"], ["a", "  a/b", "    a/b/c"]),
        (["a", "b"], ["a", "b"]),
        (["x//y"], ["x", "  x/", "    x//y"]),
        (["/a"], ["", "  /a"]),
        (["a/"], ["a", "  a/"]),
        (["/"], ["", "  /"]),
        (["//"], ["", "  /", "    //"]),
        (["a/", "a"], ["a", "  a/"]),
        (["", "/a"], ["", "  /a"]),
        (["a/b", "a-b", "a"], ["a", "  a/b", "a-b"]),
        (["a", "a\0", "a\0b", "a/b"], ["a", "  a/b", "a\0", "a\0b"]),
    ],
)
def test_names_are_nested_by_their_slashes(names, shown):
    assert outline(ask("scope", profile(*map(op, names)))) == shown


def test_an_op_may_have_the_name_of_the_root():
    view = ask("scope", profile(op(ROOT, shape=(3,)), op(f"{ROOT}/a", shape=(4,))))

    assert outline(view) == [ROOT, f"  {ROOT}/a"]
    assert view.total["params"].tolist() == [7, 7, 4]


def test_an_op_that_is_only_in_a_run_has_a_row():
    p = profile(op("a/b"), run("a/c", 5))

    assert total(ask("scope", p), "micros") == {ROOT: 5, "a": 5, "a/b": 0, "a/c": 5}


# Scopes that are ops, and scopes that are not.


def test_an_op_with_the_name_of_a_scope_shares_its_row():
    view = ask("scope", profile(op("a", shape=(3,)), op("a/b", shape=(4,))))

    assert own(view, "params") == {ROOT: None, "a": 3, "a/b": 4}
    assert total(view, "params") == {ROOT: 7, "a": 7, "a/b": 4}


def test_a_scope_that_is_not_an_op_has_no_numbers_of_its_own():
    view = ask("scope", profile(op("a/b", shape=(4,))))

    assert own(view, "params")["a"] == 0
    assert view.members[1].tolist() == []


def test_a_scope_that_is_not_an_op_counts_as_a_definition():
    view = ask("scope", profile(op("a/b/c")))

    assert total(view, "definitions") == {ROOT: 3, "a": 3, "a/b": 2, "a/b/c": 1}


def test_scopes_that_are_not_ops_can_be_accounted_for_by_their_type():
    view = ask("scope", profile(op("a/b")), account_type_regexes=["_kTFScopeParent"])

    assert outline(view) == ["a"]
    assert own(view, "definitions")["a"] == 1


def test_an_op_may_have_the_type_of_scopes():
    p = profile(op("a/b", types=["_kTFScopeParent"]))

    assert outline(ask("scope", p, account_type_regexes=["_kTFScopeParent"])) == ["a", "  a/b"]


# Accounting.


def test_a_scope_without_accounted_ops_is_not_shown():
    p = profile(op("a/b", "Foo"), op("c/d", "Bar"))

    assert outline(ask("scope", p, account_type_regexes=["Bar"])) == ["c", "  c/d"]


def test_a_scope_with_accounted_ops_is_shown_even_if_it_is_unaccounted():
    view = ask("scope", profile(op("a/b", "Bar")), account_type_regexes=["Bar"])

    assert own(view, "definitions") == {ROOT: None, "a": None, "a/b": 1}


def test_an_unaccounted_op_above_accounted_ones_adds_its_own_numbers():
    p = profile(op("a", "Foo", shape=(100,)), op("a/b", "Bar", shape=(10,)))

    view = ask("scope", p, account_type_regexes=["Bar"])

    assert total(view, "params") == {ROOT: 110, "a": 110, "a/b": 10}


def test_an_unaccounted_op_below_accounted_ones_adds_nothing():
    p = profile(op("a", "Bar", shape=(100,)), op("a/b", "Foo", shape=(10,)))

    view = ask("scope", p, account_type_regexes=["Bar"])

    assert total(view, "params") == {ROOT: 100, "a": 100}


def test_an_op_that_matches_several_regexes_counts_once():
    view = ask("scope", profile(op("a", "Bar", shape=(5,))), account_type_regexes=["Bar", "B.*"])

    assert total(view, "params") == {ROOT: 5, "a": 5}


def test_an_op_can_be_accounted_for_by_its_device():
    p = profile(op("a"), op("b"), run("b"))

    assert outline(ask("scope", p, account_type_regexes=[".*cpu:0"])) == ["b"]


def test_an_op_can_be_accounted_for_by_its_logged_types():
    p = profile(op("a", "VariableV2", types=["_trainable_variables"]), op("b", "VariableV2"))

    assert outline(ask("scope", p, account_type_regexes=["_trainable_variables"])) == ["a"]


# Hidden rows.


def test_a_hidden_scope_that_is_not_an_op_does_not_count_as_a_hidden_op():
    hidden = ask("scope", profile(op("a/b")), hide_name_regexes=["a"]).hidden

    assert hidden.ops == 0
    assert hidden.numbers["definitions"] == 1


def test_a_row_whose_name_ends_in_a_slash_can_be_hidden():
    assert outline(ask("scope", profile(op("x//y")), hide_name_regexes=["x/"])) == ["x", "  x//y"]


# Order and types.


def test_ordering_by_occurrence_puts_ops_and_scopes_in_name_order():
    p = profile(op("a/x"), op("b"))

    assert outline(ask("scope", p, order_by="occurrence")) == ["a", "  a/x", "b"]


def test_a_scope_that_is_not_an_op_has_the_type_of_scopes():
    view = ask("scope", profile(op("a/b", "Bar")))

    assert texts("op_types", view, 1) == ["_kTFScopeParent"]
    assert texts("op_types", view, 2) == ["Bar"]
