"""Sizes of tensors as expressions are parsed and computed, never executed."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfprof.formats.symbolic_sizes import UnknownSizeError, parse, solved, value_of

S = "Symbol('s0', positive=True, integer=True)"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("s0", 6),
        (S, 6),
        ("Integer(7)", 7),
        (f"Mul(Integer(2), {S})", 12),
        (f"Add(Mul(Integer(2), {S}), Integer(-5))", 7),
        (f"FloorDiv({S}, Integer(4))", 1),
        (f"Mod({S}, Integer(4))", 2),
        (f"Pow({S}, Integer(2))", 36),
        (f"Max({S}, Symbol('s1', integer=True))", 9),
        (f"Min(Integer(1), {S})", 1),
        (f"Mul(Rational(1, 2), {S})", 3),
        (f"Mul({S}, Pow(Integer(3), Integer(-1)))", 2),
    ],
)
def test_an_expression_has_the_value_for_its_symbols(text, value):
    assert value_of(parse(text), {"s0": 6, "s1": 9}) == value


def test_only_a_single_symbol_is_a_symbol():
    assert parse(S).is_symbol
    assert not parse(f"Mul(Integer(2), {S})").is_symbol
    assert not parse("Integer(2)").is_symbol


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2*s0",
        "Symbol(",
        "Symbol('s0'",
        "Add(Integer(1) Integer(2))",
        "Integer(1))",
        "__import__('os').system('x')",
        "Add(" * 1000,
        "Pow(Integer(9), Integer(99999))",
        "Mul(Integer(9000000000000000000), Integer(9000000000000000000))",
        "FloorDiv(Integer(1), Integer(0))",
        "Rational(1, 0)",
        "Rational(1, 2)",
        "Sin(Integer(1))",
        "Max()",
        "Symbol('s9')",
        "x" * 20_000,
    ],
)
def test_other_texts_have_no_value(text):
    with pytest.raises(UnknownSizeError):
        value_of(parse(text), {"s0": 6})


@given(st.text("AdMulPowSyb()',=s01 -", max_size=40))
def test_any_text_has_a_value_or_none(text):
    try:
        value_of(parse(text), {"s0": 6})
    except UnknownSizeError:
        return


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (S, 3),
        (f"Mul(Integer(2), {S})", 6),
        (f"Add(Mul(Integer(2), {S}), Symbol('s1'), Integer(-5))", 10),
    ],
)
def test_the_only_unknown_symbol_follows_from_the_value(text, value):
    assert solved(parse(text), Fraction(value), {"s1": 9}) == ("s0", 3)


@pytest.mark.parametrize(
    "text",
    [
        f"Mul(Integer(2), {S})",  # 7 is odd
        f"Add({S}, Integer(9))",  # negative
        f"Mul({S}, {S})",
        f"Mul(Integer(0), {S})",
        f"Add({S}, Symbol('s2'))",
        f"FloorDiv({S}, Integer(2))",
        "Integer(7)",
    ],
)
def test_other_symbols_do_not_follow_from_the_value(text):
    with pytest.raises(UnknownSizeError):
        solved(parse(text), Fraction(7), {"s1": 9})
