"""Numbers as the page shows them: `7.76 G`, `74.14 ms`, `98.02 MB`, as in `static/units.js`.

Unlike tables, which use the suffixes of the original, the page uses those of the SI.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

from tfprof.units import Unit

NANOS = "nanos"

# The name of each unit in the page; times are in nanoseconds.
NAMES: dict[Unit, str] = {Unit.COUNT: "count", Unit.MICROS: NANOS, Unit.BYTES: "bytes"}

_SUFFIXES: dict[str, tuple[str, ...]] = {
    "count": ("", "k", "M", "G", "T", "P", "E"),
    NANOS: ("ns", "µs", "ms", "s"),
    "bytes": ("B", "KB", "MB", "GB", "TB", "PB"),
}
_FULL = 100_000  # below this, a count is written in full
_SPACE = "\N{NO-BREAK SPACE}"


def formatted(value: int, unit: str) -> str:
    """A number with its unit."""
    suffixes, size = _SUFFIXES[unit], abs(value)
    if size < 1000 or (unit == "count" and size < _FULL):
        return _joined(f"{value:,}", suffixes[0])
    step = min((len(str(size)) - 1) // 3, len(suffixes) - 1)
    # What rounds to a thousand of one unit is written as one of the next.
    if abs(_scaled(value, step)) >= 1000:
        step = min(step + 1, len(suffixes) - 1)
    return _joined(str(_scaled(value, step)), suffixes[step])


def _scaled(value: int, step: int) -> Decimal:
    """The same rounding as in JavaScript: of the nearest double, halves away from zero."""
    return Decimal(value / 1000**step).quantize(Decimal("0.01"), ROUND_HALF_UP)


def _joined(number: str, suffix: str) -> str:
    return f"{number}{_SPACE}{suffix}" if suffix else number
