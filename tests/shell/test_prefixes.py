"""Names that begin with a text, found by halving."""

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
def test_the_next_part_of_what_begins_so(prefix, found):
    assert children(names(*NAMES), prefix) == found


def test_a_slash_is_a_letter_where_names_are_no_paths():
    assert children(names("/cpu:0", "/gpu:0"), "/", whole=True) == [("/cpu:0", 1), ("/gpu:0", 1)]


def test_of_too_many_the_first_are_given_and_the_last():
    many = names(*(f"op_{number:04}" for number in range(1000)))

    assert children(many, "op_", most=3) == [("op_0000", 1), ("op_0001", 1), ("op_0999", 1)]


def test_of_too_many_scopes_the_last_is_given_as_one():
    many = names(*(f"s{number}/{leaf}" for number in range(9) for leaf in "xy"))

    assert children(many, "s", most=2) == [("s0/", 2), ("s8/", 2)]


def test_as_many_as_may_be_are_all_given():
    assert children(names("a", "b", "c"), "", most=3) == [("a", 1), ("b", 1), ("c", 1)]


def test_nothing_begins_anything_where_there_is_nothing():
    assert children(names(), "") == []
    assert names().count("") == 0


SHORT = st.text("ab/é", min_size=1, max_size=5)


@given(st.sets(SHORT, max_size=20), st.text("ab/é", max_size=3))
def test_children_are_what_looking_at_every_name_finds(texts, prefix):
    wanted = {}
    for text in sorted(texts, key=str.encode):
        if text.startswith(prefix):
            slash = text.find("/", len(prefix))
            child = text if slash < 0 else text[: slash + 1]
            wanted[child] = wanted.get(child, 0) + 1

    found = names(*texts)

    assert dict(children(found, prefix)) == wanted
    assert found.count(prefix) == sum(text.startswith(prefix) for text in texts)
