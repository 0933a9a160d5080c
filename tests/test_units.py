from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfprof import units
from tfprof.errors import OptionError
from tfprof.units import Unit

AMOUNTS = st.one_of(st.integers(0, 2_000_000), st.integers(0, 2**63 - 1))
UNITS = st.sampled_from(Unit)


@pytest.mark.parametrize(
    ("amount", "count", "micros", "size"),
    [
        (0, "0", "0us", "0B"),
        (64, "64", "64us", "64B"),
        (999, "999", "999us", "999B"),
        (1_000, "1.00k", "1.00ms", "1.00KB"),
        (1_005, "1.00k", "1.00ms", "1.00KB"),
        (2_675, "2.67k", "2.67ms", "2.67KB"),
        (158_210, "158.21k", "158.21ms", "158.21KB"),
        (999_995, "1000.00k", "1000.00ms", "1000.00KB"),
        (1_000_000, "1.00m", "1.00sec", "1.00MB"),
        (3_740_000, "3.74m", "3.74sec", "3.74MB"),
        (999_999_999, "1000.00m", "1000.00sec", "1000.00MB"),
        (17_630_000_000, "17.63b", "17630.00sec", "17630.00MB"),
        (120_356_380_000, "120.36b", "120356.38sec", "120356.38MB"),
        (-5, "-5", "-5us", "-5B"),
        (-1_234_567, "-1234567", "-1234567us", "-1234567B"),
    ],
)
def test_an_amount_is_written_with_the_largest_suffix_that_fits(amount, count, micros, size):
    assert units.format_count(amount) == count
    assert units.format_micros(amount) == micros
    assert units.format_bytes(amount) == size


@pytest.mark.parametrize(
    ("unit", "text", "amount"),
    [
        (Unit.COUNT, "999", 999),
        (Unit.COUNT, "17.63b", 17_630_000_000),
        (Unit.COUNT, "1.5K", 1_500),
        (Unit.COUNT, "9223372036854775807", 2**63 - 1),
        (Unit.MICROS, "5us", 5),
        (Unit.MICROS, "1.89ms", 1_890),
        (Unit.MICROS, "3.74sec", 3_740_000),
        (Unit.MICROS, "2000", 2_000),
        (Unit.BYTES, "64B", 64),
        (Unit.BYTES, "158.21KB", 158_210),
        (Unit.BYTES, "120356.38mb", 120_356_380_000),
        (Unit.BYTES, " -5B ", -5),
        (Unit.BYTES, "1.4B", 1),
        (Unit.BYTES, "0.0015KB", 2),
    ],
)
def test_an_amount_is_parsed_with_or_without_a_suffix(unit, text, amount):
    assert unit.parse(text) == amount


@pytest.mark.parametrize(
    ("unit", "text"),
    [
        (Unit.COUNT, ""),
        (Unit.COUNT, "k"),
        (Unit.COUNT, "1KB"),
        (Unit.COUNT, "1.k"),
        (Unit.COUNT, "1,000"),
        (Unit.COUNT, "1e3"),
        (Unit.COUNT, "--5"),
        (Unit.COUNT, "nan"),
        (Unit.COUNT, "\u0663"),
        (Unit.COUNT, "9" * 5_000),
        (Unit.MICROS, "5h"),
        (Unit.BYTES, "5GB"),
    ],
)
def test_an_invalid_amount_is_refused(unit, text):
    with pytest.raises(OptionError, match="is not an amount; write it like `15`"):
        unit.parse(text)


def test_the_error_shows_how_to_write_an_amount():
    with pytest.raises(OptionError) as refusal:
        units.parse_micros("3 days")

    assert str(refusal.value) == "`3 days` is not an amount; write it like `15`, `1.5ms`, `1.5sec`."


@given(UNITS, AMOUNTS)
def test_parsing_a_formatted_amount_is_accurate_to_two_decimals(unit, amount):
    text = unit.format(amount)
    scale = unit._scales()[re.sub("[0-9.]", "", text).lower()]

    # Half of the last decimal, plus the rounding error of a double for very large amounts.
    assert abs(unit.parse(text) - amount) <= scale // 200 + amount // 2**52


@given(UNITS, st.integers(-(2**63), 999))
def test_an_amount_written_in_full_is_parsed_exactly(unit, amount):
    assert unit.parse(unit.format(amount)) == amount


@given(UNITS, AMOUNTS, AMOUNTS)
def test_a_larger_amount_is_never_parsed_as_a_smaller_one(unit, one, other):
    small, large = sorted((one, other))

    assert unit.parse(unit.format(small)) <= unit.parse(unit.format(large))


@given(UNITS, st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(0, 3)))
def test_a_column_is_formatted_like_its_single_amounts(unit, amounts):
    column = unit.format_column(np.array(amounts, dtype=np.int64))

    assert column == [unit.format(amount) for amount in amounts]


def test_the_functions_use_their_units():
    column = np.array([999, 1_000, 999])

    assert units.format_counts(column) == ["999", "1.00k", "999"]
    assert units.format_micros_column(column) == ["999us", "1.00ms", "999us"]
    assert units.format_bytes_column(column) == ["999B", "1.00KB", "999B"]
    assert units.parse_count("1.00k") == 1_000
    assert units.parse_micros("1.00ms") == 1_000
    assert units.parse_bytes("1.00KB") == 1_000


def test_a_numpy_number_can_be_formatted():
    assert Unit.BYTES.format(np.int64(158_210)) == "158.21KB"


def test_the_dims_of_a_shape_are_joined_by_x():
    assert units.format_shape((3, 3, 16)) == "3x3x16"
    assert units.format_shape([-1, 8]) == "-1x8"
    assert units.format_shape([1]) == "1"
    assert units.format_shape([]) == ""


def test_a_share_has_two_decimals():
    assert units.format_percent(1, 8) == "12.50%"
    assert units.format_percent(1, 3) == "33.33%"
    assert units.format_percent(5, 5) == "100.00%"
    assert units.format_percent(0, 5) == "0.00%"


def test_a_share_of_zero_is_zero():
    assert units.format_percent(5, 0) == "0.00%"
