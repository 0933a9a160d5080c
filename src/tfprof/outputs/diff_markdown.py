"""Encode a comparison as Markdown, short enough for the summary of a CI job."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tfprof.comparison.compared import Compared
from tfprof.comparison.diff import shown_rows
from tfprof.comparison.numbers import Number
from tfprof.errors import printable
from tfprof.outputs.diff_sentences import amount, change, percent, sentences
from tfprof.outputs.diff_text import heading, left_out, row_cells

# GitHub limits a summary to 1 MiB, and a reader needs only the largest changes.
_MOST_ROWS = 40

_SPECIAL = re.compile(r"([\\`*_\[\]<>#|~$])")


def encode(compared: Compared) -> Iterator[bytes]:
    """The sentences, the totals, and the largest changes of each number."""
    return (f"{line}\n".encode() for line in _lines(compared))


def _lines(compared: Compared) -> Iterator[str]:
    for sentence in sentences(compared.summary):
        yield with_code(sentence)
        yield ""
    yield from _totals(compared)
    for number in compared.view.numbers:
        yield from _table(compared, number)


def _totals(compared: Compared) -> Iterator[str]:
    if not compared.summary.totals:
        return
    yield from _head(("", "before", "after", "change", "%"))
    for number, before, after in compared.summary.totals:
        cells = (amount(number, before), amount(number, after), change(number, after - before))
        share = percent(before, after) if before != after else ""
        yield _row((number.label, *cells, share))
    yield ""


def _table(compared: Compared, number: Number) -> Iterator[str]:
    view = compared.view
    shown = shown_rows(view, number, unchanged=compared.unchanged)
    title = f"{heading(compared, number)}, {view.kind} view"
    if len(shown.rows) == 1:
        return
    whole = change(number, view.typical_change(number)[0].item())
    yield f"**{escaped(title)}** (% of before; share of the change of all rows, {whole})"
    yield ""
    cells = list(row_cells(view, number, shown))
    yield from _head(["name", *cells[0][1:3], "change", "%", *cells[0][5:]])
    for name, *others in cells[1 : 1 + _MOST_ROWS]:
        own = name.lstrip(" ")
        indent = "&emsp;" * ((len(name) - len(own)) // 2)
        yield _row((own, *others), indent)
    yield ""
    if (more := len(cells) - 1 - _MOST_ROWS) > 0:
        yield f"… {more:,} more rows."
        yield ""
    for sentence in left_out(shown, number):
        yield escaped(sentence)
        yield ""


def _head(names: Sequence[str]) -> Iterator[str]:
    yield f"| {' | '.join(names)} |"
    yield f"|---|{'--:|' * (len(names) - 1)}"


def _row(cells: Sequence[str], indent: str = "") -> str:
    name, *others = cells
    return f"| {indent}{escaped(name)} | {' | '.join(map(escaped, others))} |"


def escaped(text: str) -> str:
    """Text that Markdown shows as it is; names come from files."""
    return _SPECIAL.sub(r"\\\1", printable(text))


def with_code(sentence: str) -> str:
    """A sentence whose names in backticks stay code."""
    parts = printable(sentence).split("`")
    if len(parts) % 2 == 0:  # a name has a backtick itself
        return escaped(sentence)
    return "".join(
        f"`{part}`" if place % 2 else _SPECIAL.sub(r"\\\1", part)
        for place, part in enumerate(parts)
    )
