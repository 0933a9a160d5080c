"""Aligns columns of text in lines."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

_GAP = "  "


def aligned(rows: Sequence[Sequence[str]], left: Container[int] = ()) -> Iterator[str]:
    """A line per row; columns are aligned to the right, except those at the places in `left`."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return (line(row, widths, left) for row in rows)


def line(cells: Sequence[str], widths: Sequence[int], left: Container[int]) -> str:
    """One line of a table with columns of these widths."""
    padded = (
        text.ljust(width) if place in left else text.rjust(width)
        for place, (text, width) in enumerate(zip(cells, widths, strict=True))
    )
    return _GAP.join(padded).rstrip()
