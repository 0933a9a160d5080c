"""Compares files of any length that two profilers wrote, line by line or byte by byte."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

_LEGEND = "node name |"
_BLOCK = 1 << 20


def difference(ours: Path, original: Path) -> str | None:
    """The first row, from the legend on, in which the two tables differ; None if they are equal.

    A file without a legend contains no table, which is a difference too.
    """
    with ours.open(errors="replace") as mine, original.open(errors="replace") as theirs:
        pairs = zip_longest(_rows(mine), _rows(theirs), fillvalue="(nothing)")
        row = 0
        for row, (one, other) in enumerate(pairs, start=1):
            if one != other:
                return f"row {row}: tfprof {one.strip()!r}, original {other.strip()!r}"
    return None if row else "neither wrote a table"


def byte_difference(ours: Path, original: Path) -> str | None:
    """The first byte in which two files differ; None if they are equal."""
    place = 0
    with ours.open("rb") as mine, original.open("rb") as theirs:
        while (one := mine.read(_BLOCK)) == (other := theirs.read(_BLOCK)):
            if not one:
                return None if place else "both are empty"
            place += len(one)
    pairs = enumerate(zip_longest(one, other), start=place)
    return f"byte {next(at for at, (mine, theirs) in pairs if mine != theirs):,}"


def _rows(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        if line.startswith(_LEGEND):
            yield line
            break
    yield from lines
