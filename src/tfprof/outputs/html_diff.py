"""A comparison as HTML tables, for notebooks: one for each number, with rows that can be folded."""

from __future__ import annotations

from collections.abc import Iterator

from tfprof.comparison.compared import Compared
from tfprof.comparison.diff import shown_rows
from tfprof.comparison.numbers import Number
from tfprof.outputs import html_table
from tfprof.outputs.diff_sentences import amount, change, percent, sentences
from tfprof.outputs.diff_text import heading, left_out, row_cells
from tfprof.outputs.html_table import Amount, Cell, Column, Name, document, paragraph

_MOST_ROWS = 200


def of_diff(compared: Compared) -> str:
    """The sentences, the totals, and a table for each number."""
    return document(
        *(paragraph(sentence, is_quiet=False) for sentence in sentences(compared.summary)),
        _totals(compared),
        *(part for number in compared.view.numbers for part in _table(compared, number)),
        notes=compared.notes,
    )


def _totals(compared: Compared) -> str:
    if not compared.summary.totals:
        return ""
    names = ("before", "after", "change", "%")
    rows: list[list[Cell]] = [
        [
            Name(number.label),
            Amount(amount(number, before)),
            Amount(amount(number, after)),
            Amount(change(number, after - before)),
            Amount(percent(before, after)),
        ]
        for number, before, after in compared.summary.totals
    ]
    return html_table.table(
        [Column("total"), *(Column(name, is_number=True) for name in names)], rows
    )


def _table(compared: Compared, number: Number) -> Iterator[str]:
    view = compared.view
    shown = shown_rows(view, number, unchanged=compared.unchanged)
    title = f"{heading(compared, number)}, {view.kind} view"
    if len(shown.rows) == 1:
        yield paragraph(f"{title}: no row changed.")
        return
    yield html_table.heading(title)
    (_, *names), *lines = row_cells(view, number, shown)
    names[3] = "% of before"
    columns = [Column("name"), *(Column(name, is_number=True) for name in names)]
    rows: list[list[Cell]] = [
        [Name(name.strip()), *map(Amount, cells)] for name, *cells in lines[:_MOST_ROWS]
    ]
    depths = shown.tree.depths.tolist()[: len(rows)] if view.is_nested else ()
    yield html_table.table(columns, rows, depths)
    if (more := len(lines) - len(rows)) > 0:
        yield paragraph(f"{more:,} more rows: to_dataframe() has all.")
    yield from (paragraph(sentence) for sentence in left_out(shown, number))
