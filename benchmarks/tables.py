"""Compares what two profilers wrote, line by line, however long it is."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

_LEGEND = "node name |"


def difference(ours: Path, original: Path) -> str | None:
    """The first row in which the two tables differ, from the legend on; None if they are the same.

    A file without a legend has no table, which is a difference too.
    """
    with ours.open(errors="replace") as mine, original.open(errors="replace") as theirs:
        pairs = zip_longest(_rows(mine), _rows(theirs), fillvalue="(nothing)")
        row = 0
        for row, (one, other) in enumerate(pairs, start=1):
            if one != other:
                return f"row {row}: tfprof {one.strip()!r}, original {other.strip()!r}"
    return None if row else "neither wrote a table"


def _rows(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        if line.startswith(_LEGEND):
            yield line
            break
    yield from lines
