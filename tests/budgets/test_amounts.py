"""Amounts in human units."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfprof.budgets.amounts import (
    Quantity,
    Rounding,
    exactly_restyled,
    natural,
    natural_style,
    parse,
    parse_percent,
    restyled,
    told_apart,
    written,
)

QUANTITIES = st.sampled_from(Quantity)


@st.composite
def texts(draw):
    """A quantity, the text of an amount, and its value by another computation."""
    quantity = draw(QUANTITIES)
    whole = draw(st.integers(0, 10**12))
    decimals = draw(st.text("0123456789", max_size=6))
    suffix = draw(st.sampled_from(sorted(quantity.scales)))
    cased = draw(st.sampled_from([suffix, suffix.upper(), suffix.capitalize()]))
    if not cased.isascii():  # the capital of the micro sign is another letter
        cased = suffix
    gap = draw(st.sampled_from(["", " "]))
    number = f"{whole}.{decimals}" if decimals else str(whole)
    return quantity, f"{number}{gap}{cased}", Fraction(number) * quantity.scales[suffix]


@given(texts())
def test_an_amount_is_its_number_times_its_unit(case):
    quantity, text, value = case

    assert parse(text, quantity).value == value


@given(texts())
def test_an_amount_is_written_as_it_was_read(case):
    quantity, text, _ = case

    assert str(parse(text, quantity)) == text.strip()


@given(texts(), st.integers(1, 10**18))
def test_an_amount_that_is_rounded_up_in_a_style_is_never_too_small(case, value):
    quantity, text, _ = case
    old = parse(text, quantity)

    new = restyled(Fraction(value), old, Rounding.UP)

    assert parse(new, quantity).value >= value
    assert parse(restyled(Fraction(value), old, Rounding.DOWN), quantity).value <= value


@given(texts(), st.integers(1, 10**15))
def test_rounding_up_adds_less_than_one_of_the_last_digit(case, value):
    quantity, text, _ = case

    new = parse(restyled(Fraction(value), parse(text, quantity), Rounding.UP), quantity)

    last_digit = Fraction(quantity.scales[new.style.suffix.lower()], 10**new.style.decimals)
    assert new.value - value < last_digit


@given(texts(), st.integers(0, 10**15))
def test_an_exact_amount_can_be_read_again_if_its_style_can_write_it(case, value):
    quantity, text, _ = case

    new = exactly_restyled(Fraction(value), parse(text, quantity))

    if quantity is not Quantity.TIME:  # without a unit, a time cannot be read
        assert parse(new, quantity).value == value


@given(QUANTITIES, st.integers(0, 10**17))
def test_the_usual_style_is_accurate_to_a_hundredth_of_its_unit(quantity, value):
    style = natural_style(Fraction(value), quantity)

    found = parse(natural(Fraction(value), quantity), quantity).value

    scale = quantity.scales[style.suffix.lower()]
    assert abs(found - value) <= Fraction(scale, 200)


@given(texts(), st.integers(0, 10**12))
def test_a_number_is_shown_with_enough_decimals_to_see_whether_it_is_larger(case, value):
    quantity, text, _ = case
    other = parse(text, quantity)

    shown = parse(told_apart(Fraction(value), other), quantity).value

    if value != other.value and abs(value - other.value) > Fraction(1, 10**3):
        assert (shown > other.value) == (value > other.value)


@pytest.mark.parametrize(
    ("text", "quantity", "value"),
    [
        ("25.6 M", Quantity.COUNT, 25_600_000),
        ("8.2 G", Quantity.COUNT, 8_200_000_000),
        ("8.2 B", Quantity.COUNT, 8_200_000_000),
        ("464.15k", Quantity.COUNT, 464_150),
        ("25,557,032", Quantity.COUNT, 25_557_032),
        ("12 GiB", Quantity.BYTES, 12 * 1024**3),
        ("12 GB", Quantity.BYTES, 12 * 10**9),
        ("512", Quantity.BYTES, 512),
        ("1.5 kib", Quantity.BYTES, 1536),
        ("3.5 ms", Quantity.TIME, 3_500_000),
        ("2 µs", Quantity.TIME, 2_000),
    ],
)
def test_units_have_their_usual_meaning(text, quantity, value):
    assert parse(text, quantity).value == value


@pytest.mark.parametrize(
    ("text", "quantity"),
    [
        ("", Quantity.COUNT),
        ("M", Quantity.COUNT),
        ("12 GiB", Quantity.COUNT),
        ("12 G", Quantity.BYTES),
        ("3.5", Quantity.TIME),
        ("1e6", Quantity.COUNT),
        ("1.2.3", Quantity.COUNT),
        ("1,00", Quantity.COUNT),
        ("-5", Quantity.COUNT),
        ("٣", Quantity.COUNT),
        ("9" * 100, Quantity.COUNT),
        ("nan", Quantity.COUNT),
    ],
)
def test_other_texts_are_refused_with_an_example(text, quantity):
    with pytest.raises(ValueError, match="is not an amount; write it like"):
        parse(text, quantity)


@pytest.mark.parametrize(
    ("text", "share"),
    [("3 %", Fraction(3, 100)), ("0.5%", Fraction(1, 200)), ("3", None), ("% 3", None)],
)
def test_a_percentage_is_a_share(text, share):
    assert parse_percent(text) == share


@pytest.mark.parametrize(
    ("value", "old", "new"),
    [
        (25_634_000, "25.6 M", "25.7 M"),
        (25_600_000, "25.6 M", "25.6 M"),
        (900, "25.6 M", "900"),
        (12_300, "25.6M", "12.3k"),
        (7_000_000_000_000, "8.2 G", "7000.0 G"),
        (70_000_000_000_000, "8.2 G", "70.0 T"),
        (1_234_567, "25,557,032", "1,234,567"),
    ],
)
def test_an_updated_count_looks_like_the_old_one(value, old, new):
    assert restyled(Fraction(value), parse(old, Quantity.COUNT), Rounding.UP) == new


@pytest.mark.parametrize(
    ("value", "other", "shown"),
    [
        (25_600_001, "25.6 M", "25.600001 M"),
        (25_557_032, "25.6 M", "25.56 M"),
        (77, "10 k", "77"),
        (999_996, "1 M", "0.999996 M"),
        (1_234_567, "1000000", "1,234,567"),
    ],
)
def test_a_number_is_shown_in_the_unit_of_its_budget(value, other, shown):
    assert told_apart(Fraction(value), parse(other, Quantity.COUNT)) == shown


def test_an_updated_size_keeps_its_system_of_units():
    old = parse("12 GiB", Quantity.BYTES)

    assert restyled(Fraction(5 * 1024**2), old, Rounding.UP) == "5 MiB"


def test_a_negative_amount_keeps_its_sign():
    style = parse("1.5 M", Quantity.COUNT).style

    assert written(Fraction(-1_500_000), Quantity.COUNT, style) == "-1.5 M"
