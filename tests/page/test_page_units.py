import pytest
from hypothesis import given
from hypothesis import strategies as st

from page_script import ask, needs_node
from tfprof.page.units import formatted


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0, "count", "0"),
        (99_999, "count", "99,999"),
        (100_000, "count", "100.00 k"),
        (7_764_381_168, "count", "7.76 G"),
        (999, "nanos", "999 ns"),
        (74_140_000, "nanos", "74.14 ms"),
        (3_610_000_000_000, "nanos", "3610.00 s"),
        (98_020_000, "bytes", "98.02 MB"),
        (-1500, "bytes", "-1.50 KB"),
        (1125, "bytes", "1.13 KB"),
        (996_000_000, "bytes", "996.00 MB"),
        (999_999_999, "bytes", "1.00 GB"),
        (-999_999, "nanos", "-1.00 ms"),
    ],
)
def test_numbers_have_the_suffix_that_fits(value, unit, text):
    assert formatted(value, unit) == text.replace(" ", "\N{NO-BREAK SPACE}")


@needs_node
@given(st.lists(st.integers(-(2**53), 2**53)), st.sampled_from(["count", "nanos", "bytes"]))
def test_the_script_writes_numbers_like_python(values, unit):
    assert ask("units", values=values, unit=unit) == [formatted(value, unit) for value in values]
