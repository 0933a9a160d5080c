"""Tests of `floors`."""

import pytest
from hypothesis import settings

from floors import checked, checked_unless, floor


@pytest.fixture(autouse=True)
def load_examples():
    """Loads the examples of the tier `random`; call it with "same" for those of other runs."""
    before = settings.get_current_profile_name()
    settings.load_profile("new")
    yield settings.load_profile
    settings.load_profile(before)


def test_a_property_that_checks_enough_of_its_examples_passes():
    @floor(0.5)
    def half():
        checked(True)
        checked(False)

    half()


def test_a_property_that_checks_too_few_of_its_examples_fails():
    @floor(0.5)
    def a_third():
        checked()
        checked(False)
        checked(False)

    with pytest.raises(AssertionError, match="only 1 of 3 examples were checked"):
        a_third()


def test_one_checked_example_is_enough_if_examples_are_always_the_same(load_examples):
    load_examples("same")

    @floor(0.5)
    def a_third():
        checked()
        checked(False)
        checked(False)

    a_third()


@pytest.mark.parametrize("examples", ["same", "new"])
def test_a_property_without_examples_fails(examples, load_examples):
    load_examples(examples)

    @floor(0.0)
    def nothing():
        pass

    with pytest.raises(AssertionError, match="only 0 of 0"):
        nothing()


def test_an_example_that_raises_the_named_error_was_not_checked():
    @floor(0.5)
    def one_of_three():
        for word in ("1", "a", "b"):
            with checked_unless(ValueError):
                int(word)

    with pytest.raises(AssertionError, match="only 1 of 3"):
        one_of_three()


def test_any_other_error_fails_the_property():
    @floor(0.5)
    def broken():
        with checked_unless(ValueError):
            raise KeyError("x")

    with pytest.raises(KeyError):
        broken()
