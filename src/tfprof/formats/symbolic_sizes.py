"""Sizes of tensors as expressions of symbols, such as the batch; parsed, never executed.

PyTorch writes them as SymPy does: `Mul(Integer(2), Symbol('s0', integer=True))`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import reduce
from typing import Final, NamedTuple

_TOKEN: Final = re.compile(r"\s*(?:([A-Za-z_][\w.]*)|(-?\d{1,20})|'([^']*)'|([(),=]))", re.ASCII)
_PLAIN: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_LONGEST: Final = 10_000
_DEEPEST: Final = 50
_LARGEST: Final = 1 << 63
_MOST_POWER: Final = 64


class UnknownSizeError(ValueError):
    """An expression that cannot be computed."""


class Expression(NamedTuple):
    """A call of a function, a symbol (without arguments), or a number (without a name)."""

    name: str
    parts: tuple[Expression, ...] = ()
    number: int = 0

    @property
    def is_symbol(self) -> bool:
        return bool(self.name) and not self.parts


def parse(text: str) -> Expression:
    """The expression in `text`; raises `UnknownSizeError`."""
    if _PLAIN.fullmatch(text):
        return Expression(text)
    if len(text) > _LONGEST:
        raise UnknownSizeError(text[:80])
    tokens = list(_tokens(text))
    found, end = _parsed(tokens, 0, 0)
    if end != len(tokens):
        raise UnknownSizeError(text[:80])
    return found


def _tokens(text: str) -> list[tuple[str, str]]:
    """The words, numbers, texts and signs of an expression, each with its kind."""
    found, at = [], 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None or match.end() == at:
            raise UnknownSizeError(text[:80])
        place = match.lastindex or 0
        found.append((("", "word", "number", "text", "sign")[place], match[place]))
        at = match.end()
    return found


def _parsed(tokens: list[tuple[str, str]], at: int, depth: int) -> tuple[Expression, int]:
    """The expression at a token, and where it ends."""
    if at >= len(tokens) or depth > _DEEPEST:
        raise UnknownSizeError("nested too deep, or cut short")
    kind, word = tokens[at]
    if kind in ("number", "text"):
        number = int(word) if kind == "number" else 0
        return Expression("" if kind == "number" else word, (), number), at + 1
    if kind != "word" or tokens[at + 1 : at + 2] != [("sign", "(")]:
        raise UnknownSizeError(word[:80])
    parts: list[Expression] = []
    at += 2
    while tokens[at : at + 1] != [("sign", ")")]:
        if tokens[at + 1 : at + 2] == [("sign", "=")]:  # a property of a symbol
            at += 3
        else:
            part, at = _parsed(tokens, at, depth + 1)
            parts.append(part)
        if tokens[at : at + 1] == [("sign", ",")]:
            at += 1
        elif tokens[at : at + 1] != [("sign", ")")]:
            raise UnknownSizeError(word[:80])
    if word in ("Symbol", "Integer") and len(parts) == 1:
        return parts[0], at + 1
    return Expression(word, tuple(parts)), at + 1


def value_of(expression: Expression, symbols: Mapping[str, int]) -> int:
    """The value for these values of symbols; raises `UnknownSizeError`."""
    found = _value(expression, symbols)
    if found.denominator != 1:
        raise UnknownSizeError(expression.name)
    return int(found)


def _value(expression: Expression, symbols: Mapping[str, int]) -> Fraction:
    if not expression.name:
        return Fraction(expression.number)
    if expression.is_symbol:
        if expression.name not in symbols:
            raise UnknownSizeError(expression.name)
        return Fraction(symbols[expression.name])
    parts = [_value(part, symbols) for part in expression.parts]
    compute = _FUNCTIONS.get(expression.name)
    try:
        found = compute(parts) if compute is not None else None
    except (ArithmeticError, ValueError, TypeError):
        found = None
    if found is None or abs(found.numerator) > _LARGEST or found.denominator > _LARGEST:
        raise UnknownSizeError(expression.name)
    return found


def solved(expression: Expression, value: Fraction, symbols: Mapping[str, int]) -> tuple[str, int]:
    """The only symbol that is not among `symbols`, and its value if the expression has `value`.

    Raises `UnknownSizeError` unless it occurs once, and only in sums and products.
    """
    if expression.is_symbol and value.denominator == 1 and 0 <= value <= _LARGEST:
        return expression.name, int(value)
    known: list[Fraction] = []
    unknown: list[Expression] = []
    for part in expression.parts:
        try:
            known.append(_value(part, symbols))
        except UnknownSizeError:
            unknown.append(part)
    if len(unknown) != 1:
        raise UnknownSizeError(expression.name)
    if expression.name == "Add":
        return solved(unknown[0], value - sum(known), symbols)
    if expression.name == "Mul" and (factor := math.prod(known)):
        return solved(unknown[0], value / factor, symbols)
    raise UnknownSizeError(expression.name)


def _power(parts: list[Fraction]) -> Fraction:
    base, exponent = parts
    if exponent.denominator != 1 or abs(exponent) > _MOST_POWER:
        raise ValueError(exponent)
    return Fraction(base ** int(exponent))


def _floor(parts: list[Fraction]) -> Fraction:
    one, other = parts
    return Fraction(one // other)


def _rest(parts: list[Fraction]) -> Fraction:
    one, other = parts
    return one % other


_FUNCTIONS: Final[Mapping[str, Callable[[list[Fraction]], Fraction]]] = {
    "Add": lambda parts: sum(parts, Fraction(0)),
    "Mul": lambda parts: reduce(lambda one, other: one * other, parts, Fraction(1)),
    "Rational": lambda parts: parts[0] / parts[1],
    "Pow": _power,
    "Max": max,
    "Min": min,
    **dict.fromkeys(("FloorDiv", "CleanDiv"), _floor),
    **dict.fromkeys(("Mod", "PythonMod"), _rest),
}
