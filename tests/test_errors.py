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
def test_several_close_words_are_suggested_if_wanted(known, sentence):
    found = nearest("conv", known, most=3)

    # Equally close words may come in any order.
    assert sorted(found) == sorted(sentence)


def test_a_name_without_its_scope_is_suggested_with_it():
    known = ["net/block/conv/kernel", "net/kernel", "net/other/long/scope/name/kernel", "kernels/x"]

    assert nearest("kernel", known, most=3) == (
        "Did you mean `net/kernel`, `net/block/conv/kernel` or `net/other/long/scope/name/kernel`?"
    )


def test_a_few_words_that_are_all_different_are_listed():
    assert nearest("???", ["b", "a"]) == "There is: a, b."


def test_of_many_words_a_few_are_listed():
    known = [f"word{number:03}" for number in range(1000)]

    assert nearest("???", known) == (
        "There is: word000, word001, word002, word003, word004, word005, word006, word007 "
        "and 992 more."
    )


def test_nothing_to_choose_from_is_said():
    assert nearest("???", []) == "There is none."


def test_only_the_words_that_look_alike_are_compared_if_given():
    assert nearest("scop", ["scope", "graph"], alike=["graph"]) == "There is: scope, graph."
