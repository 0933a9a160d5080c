"""Which rows match what a reader of the page searches for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from page_script import ask, needs_node
from tfprof.regex_advice import ADVICE

pytestmark = needs_node

# A tree of scopes in preorder: names, and where the rows below each one end.
TREE = [
    ("_TFProfRoot", 8),
    ("net", 6),
    ("net/conv1", 5),
    ("net/conv1/Conv2D", 4),
    ("net/conv1/weights", 5),
    ("net/relu", 6),
    ("network", 8),
    ("conv1/outside", 8),
]
NAMES = [name for name, _ in TREE]


def search(text, *, kind="scope", names=NAMES, end=None):
    return ask(
        "search",
        kind=kind,
        names=names,
        end=end or [one for _, one in TREE],
        text=text,
        advice=ADVICE,
    )


def found(text, **options):
    rows = search(text, **options)["rows"]
    names = options.get("names", NAMES)
    return rows and [name for name, flag in zip(names, rows, strict=True) if flag]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("conv1", ["net/conv1", "conv1/outside"]),  # not everything inside of net/conv1
        ("CONV", ["net/conv1", "net/conv1/Conv2D", "conv1/outside"]),
        ("net/conv1", ["net/conv1"]),
        ("conv1/", ["net/conv1/Conv2D", "net/conv1/weights", "conv1/outside"]),
        ("v1/w", ["net/conv1/weights"]),
        ("net", ["net", "network"]),
        ("  relu ", ["net/relu"]),
        ("root", []),
        ("none", []),
    ],
)
def test_a_text_must_be_in_the_own_part_of_a_name(text, names):
    assert found(text) == names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("/conv1/", ["net/conv1", "net/conv1/Conv2D", "net/conv1/weights", "conv1/outside"]),
        ("/conv1$/", ["net/conv1"]),
        ("/^NET$/", ["net"]),
        ("/^(relu|network)$/", ["network"]),
        ("/\\d[a-z]/", ["net/conv1/Conv2D"]),
    ],
)
def test_a_regex_in_slashes_is_found_anywhere_in_the_whole_name(text, names):
    assert found(text) == names


@pytest.mark.parametrize("text", ["", "   "])
def test_without_a_text_nothing_is_searched(text):
    assert search(text) == {"rows": None, "problem": ""}


def test_a_regex_that_cannot_be_used_is_explained():
    answer = search("/a(b/")

    assert answer["rows"] is None
    assert answer["problem"].startswith("pattern `a(b`: ")


@pytest.mark.parametrize("text", ["/", "//", "a/", "/a", "(", "[", "*"])
def test_other_texts_with_slashes_and_signs_are_plain(text):
    names = ["root", "/", "//", "a/", "/a", "(", "[", "*"]

    assert text in found(text, kind="graph", names=names, end=[8, *range(2, 9)])


LETTERS = "abcABCéÉ_1"


@given(st.lists(st.text(LETTERS, max_size=6)), st.text(LETTERS, min_size=1, max_size=3))
def test_a_name_matches_if_it_contains_the_text_in_any_case(names, text):
    end = [len(names) + 1, *range(2, len(names) + 2)]
    rows = search(text, kind="op", names=["", *names], end=end)["rows"]

    assert rows == [0, *(int(text.lower() in name.lower()) for name in names)]
