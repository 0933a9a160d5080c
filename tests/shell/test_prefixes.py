"""Binary search for the names with a prefix."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfprof.columns import Strings
from tfprof.shell.prefixes import SortedNames

NAMES = ["a", "a-b", "a/b", "a/b/c", "a/b/d", "a/e", "b", "größe/名", "größe/x"]


def names(*texts):
    return SortedNames.of(Strings(texts))


def children(sorted_names, prefix, most=100, **others):
    return [tuple(child) for child in sorted_names.children(prefix, most, **others)]


@pytest.mark.parametrize(
    ("prefix", "found"),
    [
        ("", [("a", 1), ("a-b", 1), ("a/", 4), ("b", 1), ("größe/", 2)]),
        ("a", [("a", 1), ("a-b", 1), ("a/", 4)]),
        ("a/", [("a/b", 1), ("a/b/", 2), ("a/e", 1)]),
        ("a/b", [("a/b", 1), ("a/b/", 2)]),
        ("a/b/", [("a/b/c", 1), ("a/b/d", 1)]),
        ("gr", [("größe/", 2)]),
        ("größe/名", [("größe/名", 1)]),
        ("c", []),
        ("zzz", []),
    ],
)
def test_children_are_names_and_scopes_below_a_prefix(prefix, found):
    assert children(names(*NAMES), prefix) == found


def test_whole_names_are_not_split_at_slashes():
    assert children(names("/cpu:0", "/gpu:0"), "/", whole=True) == [("/cpu:0", 1), ("/gpu:0", 1)]


def test_too_many_names_are_cut_to_the_first_ones_and_the_last():
    many = names(*(f"op_{number:04}" for number in range(1000)))

    assert children(many, "op_", most=3) == [("op_0000", 1), ("op_0001", 1), ("op_0999", 1)]


def test_too_many_scopes_are_cut_to_the_first_ones_and_the_last():
    many = names(*(f"s{number}/{leaf}" for number in range(9) for leaf in "xy"))

    assert children(many, "s", most=2) == [("s0/", 2), ("s8/", 2)]


def test_names_up_to_the_limit_are_all_returned():
    assert children(names("a", "b", "c"), "", most=3) == [("a", 1), ("b", 1), ("c", 1)]


def test_an_empty_column_has_no_children():
    assert children(names(), "") == []
    assert names().count("") == 0


SHORT = st.text("ab/é", min_size=1, max_size=5)


@given(st.sets(SHORT, max_size=20), st.text("ab/é", max_size=3))
def test_children_agree_with_a_linear_search(texts, prefix):
    wanted = {}
    for text in sorted(texts, key=str.encode):
        if text.startswith(prefix):
            slash = text.find("/", len(prefix))
            child = text if slash < 0 else text[: slash + 1]
            wanted[child] = wanted.get(child, 0) + 1

    found = names(*texts)

    assert dict(children(found, prefix)) == wanted
    assert found.count(prefix) == sum(text.startswith(prefix) for text in texts)
