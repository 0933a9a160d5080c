"""Messages are short lines; those about unknown words suggest known ones."""

import pytest

from tfprof.errors import InputError, TfprofError, nearest, one_line


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


@pytest.mark.parametrize("length", [0, 499, 500, 501, 5000])
def test_a_message_has_at_most_500_characters_and_keeps_both_ends(length):
    message = f"start{'x' * length}end"

    assert len(one_line(message)) <= 500
    assert one_line(message).startswith("startx" if length else "start")
    assert one_line(message).endswith("end")
    assert ("…" in one_line(message)) == (len(message) > 500)


def test_a_message_is_short_even_if_its_characters_are_escaped():
    shown = one_line("start " + "\U000e0001" * 5000 + " end")

    assert len(shown) <= 500
    assert shown.startswith(r"start \U000e0001")
    assert shown.endswith(r"\U000e0001 end")


def test_an_error_that_quotes_a_huge_name_is_short():
    error = TfprofError(f"Op `{'x' * 10_000_000}` is unknown: check the name.")

    assert len(str(error)) <= 500
    assert str(error).endswith("is unknown: check the name.")


def test_an_error_about_a_file_keeps_its_path_and_the_advice():
    path = f"{'folder/' * 20}graph.pb"
    error = InputError(path, f"has a bad op `{'x' * 100_000}`; save it again.")

    assert len(str(error)) <= 500
    assert str(error).startswith(f"{path}: has a bad op `xxx")
    assert str(error).endswith("xxx`; save it again.")


def test_an_error_about_a_file_with_a_long_path_keeps_the_name_of_the_file():
    error = InputError(f"/{'folder/' * 500}graph.pb", "is empty; was the program still writing it?")

    assert len(str(error)) <= 500
    assert "/graph.pb: is empty; was the program still writing it?" in str(error)
    assert error.path.count("folder") == 500


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("two\nlines", "two lines"),
        ("\x1b[31mred\x07", r"\x1b[31mred\x07"),
        ("\x7f\x9b", r"\x7f\x9b"),
        ("\u202egnp", r"\u202egnp"),
        ("\udcff", r"\udcff"),
        ("größe/名", "größe/名"),
    ],
)
def test_a_message_has_no_control_characters(text, shown):
    assert one_line(text) == shown
