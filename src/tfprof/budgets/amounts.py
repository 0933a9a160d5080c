"""Amounts in the units that people write: `25.6 M`, `12 GiB`, `3.5 ms`."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from math import ceil, floor
from typing import TypeAlias

_AMOUNT = re.compile(
    r"(?P<whole>[0-9]{1,24}|[0-9]{1,3}(?:,[0-9]{3}){1,8})(?:\.(?P<decimals>[0-9]{1,18}))?"
    r"(?P<gap>\s*)(?P<suffix>[A-Za-zµμ]*)"
)
_PERCENT = re.compile(r"(?P<number>[0-9]{1,9}(?:\.[0-9]{1,9})?)\s*%")
_MOST_DECIMALS = 15
_FEW_DIGITS = 10_000  # a larger number of units is written in a larger unit

Family: TypeAlias = tuple[tuple[str, int], ...]  # the suffixes of a system of units, smallest first

_COUNTS: Family = (("", 1), *((suffix, 1000**power) for power, suffix in enumerate("kMGTP", 1)))
_DECIMAL_BYTES: Family = (
    ("B", 1),
    *((f"{prefix}B", 1000**power) for power, prefix in enumerate("kMGTP", 1)),
)
_BINARY_BYTES: Family = (
    ("B", 1),
    *((f"{prefix}iB", 1024**power) for power, prefix in enumerate("KMGTP", 1)),
)
_TIMES: Family = (("ns", 1), ("us", 10**3), ("ms", 10**6), ("s", 10**9))


class Quantity(Enum):
    """What an amount measures: its systems of units, other spellings of units, and examples."""

    COUNT = ((_COUNTS,), {"b": 10**9}, "410 or 25.6 M")
    BYTES = ((_DECIMAL_BYTES, _BINARY_BYTES), {"": 1}, "12 GiB or 12 GB")
    TIME = ((_TIMES,), {"µs": 10**3, "μs": 10**3, "sec": 10**9}, "3.5 ms")

    def __init__(self, families: tuple[Family, ...], others: dict[str, int], example: str) -> None:
        self.families = families
        self.example = example
        known = (pair for family in families for pair in family)
        self.scales = {suffix.lower(): scale for suffix, scale in known} | others

    def family_of(self, suffix: str) -> Family:
        """The system of units that a suffix belongs to; the first if it belongs to several."""
        found = (
            family
            for family in self.families
            if suffix.lower() in {name.lower() for name, _ in family}
        )
        return next(found, self.families[0])


@dataclass(frozen=True, slots=True)
class Style:
    """How an amount is written: decimals, what separates number and unit, and the unit."""

    decimals: int = 0
    gap: str = ""
    suffix: str = ""
    has_commas: bool = False


@dataclass(frozen=True, slots=True)
class Amount:
    """An exact amount (times are nanoseconds), and how it is written."""

    value: Fraction
    quantity: Quantity
    style: Style

    def __str__(self) -> str:
        return written(self.value, self.quantity, self.style)


def parse(text: str, quantity: Quantity) -> Amount:
    """The amount in `text`; raises `ValueError` if it is none, or has another unit."""
    found = _AMOUNT.fullmatch(text.strip())
    scale = quantity.scales.get(found["suffix"].lower()) if found else None
    if found is None or scale is None:
        raise ValueError(f"`{text}` is not an amount; write it like {quantity.example}.")
    decimals, whole = found["decimals"] or "", found["whole"]
    digits = int(whole.replace(",", "") + decimals)
    style = Style(len(decimals), found["gap"], found["suffix"], "," in whole)
    return Amount(Fraction(digits * scale, 10 ** len(decimals)), quantity, style)


def parse_percent(text: str) -> Fraction | None:
    """A percentage such as `3 %` as a fraction of one, or None if `text` is none."""
    found = _PERCENT.fullmatch(text.strip())
    return Fraction(found["number"]) / 100 if found else None


class Rounding(Enum):
    """Which way a number that has too many decimals is rounded."""

    UP = (ceil,)
    DOWN = (floor,)
    NEAREST = (round,)

    def apply(self, value: Fraction) -> int:
        """The integer."""
        (function,) = self.value
        return int(function(value))


def written(
    value: Fraction, quantity: Quantity, style: Style, rounding: Rounding = Rounding.NEAREST
) -> str:
    """An amount in a certain style."""
    scaled = value * 10**style.decimals / quantity.scales[style.suffix.lower()]
    number = rounding.apply(scaled)
    sign, digits = "-" if number < 0 else "", f"{abs(number):0{style.decimals + 1}d}"
    place = len(digits) - style.decimals
    whole = f"{int(digits[:place]):,}" if style.has_commas else digits[:place]
    decimals = f".{digits[place:]}" if style.decimals else ""
    return f"{sign}{whole}{decimals}{style.gap}{style.suffix}"


def natural_style(value: Fraction, quantity: Quantity, suffix: str = "") -> Style:
    """The usual style of an amount: two decimals in the largest unit that fits, or in full.

    The unit is of the same system as `suffix`.
    """
    suffix, scale = _largest_unit(value, quantity.family_of(suffix))
    gap = " " if suffix else ""
    return Style(2 if scale > 1 else 0, gap, suffix, has_commas=not suffix)


def natural(value: Fraction, quantity: Quantity, suffix: str = "") -> str:
    """An amount in its usual style, in the system of units of `suffix`."""
    return written(value, quantity, natural_style(value, quantity, suffix))


def told_apart(value: Fraction, other: Amount) -> str:
    """`value` in the unit of `other`, with enough decimals to see which of both is larger.

    A much smaller value is written in its own unit.
    """
    style, quantity = other.style, other.quantity
    scale = quantity.scales[style.suffix.lower()]
    if value < scale and 2 * value < other.value:  # far apart, and too small for the unit
        return natural(value, quantity, style.suffix)
    if scale > 1:
        style = replace(style, decimals=max(style.decimals, 2))
    else:
        style = replace(style, has_commas=True)
    while style.decimals < _MOST_DECIMALS:
        if (written(value, quantity, style) == written(other.value, quantity, style)) == (
            value == other.value
        ):
            break
        style = replace(style, decimals=style.decimals + 1)
    return written(value, quantity, style)


def restyled(value: Fraction, old: Amount, rounding: Rounding) -> str:
    """`value` in the style of `old`; in another unit of its system if it no longer fits."""
    style, quantity = old.style, old.quantity
    scale = quantity.scales[style.suffix.lower()]
    if style.suffix and value and not 1 <= value / scale < _FEW_DIGITS:
        suffix, scale = _largest_unit(value, quantity.family_of(style.suffix))
        decimals = style.decimals if scale > 1 else 0
        style = replace(style, suffix=suffix, decimals=decimals, gap=style.gap if suffix else "")
    return written(value, quantity, style, rounding)


def exactly_restyled(value: Fraction, old: Amount) -> str:
    """`value` in the unit of `old`, with as many decimals as it takes, or in full."""
    style, quantity = old.style, old.quantity
    scale = quantity.scales[style.suffix.lower()]
    for decimals in range(style.decimals, _MOST_DECIMALS + 1):
        if (value * 10**decimals / scale).denominator == 1:
            return written(value, quantity, replace(style, decimals=decimals))
    return str(value)


def _largest_unit(value: Fraction, units: Family) -> tuple[str, int]:
    """The largest unit of which there is at least one in `value`, or the smallest of all."""
    return next((unit for unit in reversed(units) if unit[1] <= abs(value)), units[0])
