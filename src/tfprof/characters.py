"""Sets of characters, as ranges: what a category, a POSIX class and a match of either case mean."""

from __future__ import annotations

import functools
import re
import unicodedata
from bisect import bisect
from collections import defaultdict
from collections.abc import Sequence
from itertools import groupby
from typing import TypeAlias

Span: TypeAlias = tuple[int, int]

LAST = 0x10FFFF
_LAST_CASED = 0x1E943


def _spans(ends: str) -> list[Span]:
    """The ranges whose first and last characters alternate in `ends`."""
    return [(ord(low), ord(high)) for low, high in zip(ends[::2], ends[1::2], strict=True)]


PERL_SETS = {"d": _spans("09"), "s": _spans("\t\n\f\r  "), "w": _spans("09AZ__az")}
POSIX_SETS = {
    "alnum": _spans("09AZaz"),
    "alpha": _spans("AZaz"),
    "ascii": _spans("\0\x7f"),
    "blank": _spans("\t\t  "),
    "cntrl": _spans("\0\x1f\x7f\x7f"),
    "digit": _spans("09"),
    "graph": _spans("!~"),
    "lower": _spans("az"),
    "print": _spans(" ~"),
    "punct": _spans("!/:@[`{~"),
    "space": _spans("\t\r  "),
    "upper": _spans("AZ"),
    "word": _spans("09AZ__az"),
    "xdigit": _spans("09AFaf"),
}


def one_of(spans: Sequence[Span]) -> str:
    """One character out of `spans`, as Python writes it."""
    merged = _merged(spans)
    if not merged:
        return "(?!)"
    first, last = merged[0]
    if len(merged) == 1 and first == last:
        return re.escape(chr(first))
    # Unescaped, `[`, `--` or `&&` would draw a warning that Python may read them otherwise one day.
    return f"[{''.join(f'{re.escape(chr(low))}-{re.escape(chr(high))}' for low, high in merged)}]"


def _merged(spans: Sequence[Span]) -> list[Span]:
    """The same characters in order, without overlaps."""
    merged: list[Span] = []
    for low, high in sorted(spans):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return merged


def complement(spans: Sequence[Span]) -> list[Span]:
    """All other characters."""
    merged = _merged(spans)
    lows = [0, *(high + 1 for _, high in merged)]
    highs = [*(low - 1 for low, _ in merged), LAST]
    return [(low, high) for low, high in zip(lows, highs, strict=True) if low <= high]


def fold(spans: Sequence[Span]) -> list[Span]:
    """The same characters, with those that differ from them in case alone."""
    merged = _merged(spans)
    ends = [end for low, high in merged for end in (low, high + 1)]
    variants = [
        (code, code)
        for group in _case_groups()
        if any(bisect(ends, code) % 2 for code in group)
        for code in group
    ]
    return merged + variants


@functools.cache
def _case_groups() -> list[list[int]]:
    """The characters that differ in case alone, together: `k`, `K` and the Kelvin sign."""
    groups: defaultdict[str, list[int]] = defaultdict(list)
    for char in map(chr, range(_LAST_CASED + 1)):
        if not char.lower() == char == char.upper():
            folded = char.casefold()
            groups[folded if len(folded) == 1 else char.lower()].append(ord(char))
    return [group for group in groups.values() if len(group) > 1]


def general_category(name: str) -> list[Span]:
    """The characters of a general category, such as `L` or `Lu`, or of `Any`."""
    if name == "Any":
        return [(0, LAST)]
    return [
        span
        for known, spans in _categories().items()
        if name in {known, known[0]}
        for span in spans
    ]


@functools.cache
def _categories() -> dict[str, list[Span]]:
    """The characters of each general category of Unicode; RE2 leaves out those not assigned."""
    categories: defaultdict[str, list[Span]] = defaultdict(list)
    start = 0
    for category, run in groupby(map(unicodedata.category, map(chr, range(LAST + 1)))):
        end = start + sum(1 for _ in run)
        categories[category].append((start, end - 1))
        start = end
    del categories["Cn"]
    return dict(categories)
