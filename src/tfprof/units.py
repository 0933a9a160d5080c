"""Human-readable numbers: `17.63b` parameters, `158.21KB`, `3.74sec`."""

from __future__ import annotations

import re
from bisect import bisect
from enum import Enum
from typing import TYPE_CHECKING, Any

from tfprof.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray

_SCALES = (1, 1_000, 1_000_000, 1_000_000_000)
_AMOUNT = re.compile(
    r"(?P<sign>-?)(?P<whole>[0-9]{1,20})(?:\.(?P<decimals>[0-9]{1,20}))?(?P<suffix>[A-Za-z]*)"
)


class Unit(Enum):
    """The unit of a number; each suffix is a thousand times the one before."""

    COUNT = ("", "k", "m", "b")
    MICROS = ("us", "ms", "sec")
    BYTES = ("B", "KB", "MB")

    def __init__(self, *suffixes: str) -> None:
        self.suffixes = suffixes

    def format(self, amount: float) -> str:
        """`amount` with two decimals and the largest suffix that fits; in full below a thousand.

        A mean that has a fraction has at most two decimals, or three digits if it is below 1.

        Negative amounts are always written in full.
        """
        step = min(bisect(_SCALES, amount, lo=1) - 1, len(self.suffixes) - 1)
        if step == 0:
            return f"{format_mean(amount)}{self.suffixes[0]}"
        # Divided as a double, so that 2675 is `2.67k` as in C.
        return f"{float(amount) / _SCALES[step]:.2f}{self.suffixes[step]}"

    def format_column(self, amounts: NDArray[np.integer[Any] | np.floating[Any]]) -> list[str]:
        """Each amount as `format` writes it; equal amounts are formatted only once."""
        numbers: list[float] = amounts.tolist()
        texts = {number: self.format(number) for number in set(numbers)}
        return [texts[number] for number in numbers]

    def parse(self, text: str) -> int:
        """The amount in `text`, rounded to an integer; a number without a suffix is unscaled."""
        found = _AMOUNT.fullmatch(text.strip())
        scale = self._scales().get(found["suffix"].lower()) if found else None
        if found is None or scale is None:
            examples = ", ".join(f"`1.5{suffix}`" for suffix in self.suffixes[1:])
            raise OptionError(f"`{text}` is not an amount; write it like `15`, {examples}.")
        decimals = found["decimals"] or ""
        # Integers only: an amount may have more digits than a double can hold.
        divisor: int = 10 ** len(decimals)
        amount = (2 * int(found["whole"] + decimals) * scale + divisor) // (2 * divisor)
        return -amount if found["sign"] else amount

    def _scales(self) -> dict[str, int]:
        """The factor of each suffix, in lower case."""
        scales = zip(self.suffixes, _SCALES, strict=False)
        return {"": 1} | {suffix.lower(): scale for suffix, scale in scales}


def format_mean(amount: float) -> str:
    """An integer in full, another number with two decimals, or three digits if it is below 1."""
    if amount == int(amount):
        return f"{int(amount)}"
    return f"{amount:.3g}" if abs(amount) < 1 else f"{amount:.2f}".rstrip("0").rstrip(".")


format_count = Unit.COUNT.format
format_counts = Unit.COUNT.format_column
parse_count = Unit.COUNT.parse

format_micros = Unit.MICROS.format
format_micros_column = Unit.MICROS.format_column
parse_micros = Unit.MICROS.parse

format_bytes = Unit.BYTES.format
format_bytes_column = Unit.BYTES.format_column
parse_bytes = Unit.BYTES.parse


def format_shape(dims: Iterable[int]) -> str:
    """The dims of a tensor, as in `3x3x16`; an unknown dim is -1."""
    return "x".join(map(str, dims))


def format_percent(part: float, whole: float) -> str:
    """The share of `part` in `whole`, as in `12.50%`; `0.00%` if `whole` is not positive."""
    return f"{100.0 * part / whole if whole > 0 else 0.0:.2f}%"


def counted(count: int, noun: str, plural: str = "") -> str:
    """A count with its noun: `1 op`, `1,200 ops`; the plural of `noun` defaults to `noun` + `s`."""
    return f"1 {noun}" if count == 1 else f"{count:,} {plural or noun + 's'}"


def without_fraction(amount: float) -> float:
    """An integer if the fraction is 0, else the same number."""
    return int(amount) if amount == int(amount) else amount


_NANOS_PER_MICRO = 1_000
_NANOS_PER_MILLI = 1_000_000


def exact_micros(nanos: int) -> int | float:
    """Nanoseconds as microseconds: an integer such as `12` if exact, else `1.4`."""
    whole, rest = divmod(nanos, _NANOS_PER_MICRO)
    return nanos / _NANOS_PER_MICRO if rest else whole


def format_nanos(nanos: int) -> str:
    """Nanoseconds as text: `12us` for whole microseconds, else `1.40us`, `2.68ms`, `3.74sec`."""
    if nanos % _NANOS_PER_MICRO and abs(nanos) < _NANOS_PER_MILLI:
        return f"{nanos / _NANOS_PER_MICRO:.2f}us"
    return format_micros(round(nanos / _NANOS_PER_MICRO))


def format_whole_micros(nanos: int) -> str:
    """Nanoseconds rounded to microseconds, as text, so that columns are easy to compare."""
    return format_micros((nanos + _NANOS_PER_MICRO // 2) // _NANOS_PER_MICRO)
