"""Messages about unknown words suggest known ones, and stay short."""

import pytest

from tfprof.errors import nearest


def test_the_closest_word_is_suggested():
    assert nearest("scop", ["scope", "graph", "code"]) == "Did you mean `scope`?"


@pytest.mark.parametrize(
    ("known", "sentence"),
    [
        (["conv1"], "Did you mean `conv1`?"),
        (["conv1", "conv2"], "Did you mean `conv1` or `conv2`?"),
        (["conv1", "conv2", "conv3"], "Did you mean `conv1`, `conv2` or `conv3`?"),
        (["conv1", "conv2", "conv3", "x"], "Did you mean `conv1`, `conv2` or `conv3`?"),
    ],
)
def test_several_close_words_are_suggested_on_request(known, sentence):
    found = nearest("conv", known, most=3)

    # Equally close words may come in any order.
    assert sorted(found) == sorted(sentence)


def test_a_name_given_without_its_scope_is_suggested_with_it():
    known = ["net/block/conv/kernel", "net/kernel", "net/other/long/scope/name/kernel", "kernels/x"]

    assert nearest("kernel", known, most=3) == (
        "Did you mean `net/kernel`, `net/block/conv/kernel` or `net/other/long/scope/name/kernel`?"
    )


def test_known_words_are_listed_if_none_is_close():
    assert nearest("???", ["b", "a"]) == "Available: a, b."


def test_only_the_first_of_many_words_are_listed():
    known = [f"word{number:03}" for number in range(1000)]

    assert nearest("???", known) == (
        "Available: word000, word001, word002, word003, word004, word005, word006, word007 "
        "and 992 more."
    )


def test_an_empty_list_of_known_words_is_reported():
    assert nearest("???", []) == "None are available."


def test_only_preselected_words_are_compared_if_given():
    assert nearest("scop", ["scope", "graph"], alike=["graph"]) == "Available: scope, graph."
