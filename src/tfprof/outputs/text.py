"""Encode a view as a text report; the table matches the original byte for byte."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tfprof.columns import Ints, Strings
from tfprof.metrics import BY_KEY, EXPLANATIONS, Metric
from tfprof.outputs import fields, flat_rows
from tfprof.outputs.pieces import Piece, joined, or_else, woven
from tfprof.views.registry import VIEWS, Trait
from tfprof.views.view import View

MISSING_STREAM = (
    "Warning: ops ran on a GPU, but its streams were not traced: accelerator time is missing. "
    "Record the step with CUPTI available to the program.\n"
)

# Block size: enough rows for efficient array operations, but little memory.
_BLOCK_ROWS = 1 << 15
_BLOCK_BYTES = 1 << 24


def encode(view: View) -> Iterator[bytes]:
    """The report in pieces, so that a large one never has to fit in memory."""
    if view.options.generation.style.explains and Trait.ALIGNED not in view.traits:
        yield _explanation(view).encode()
    yield from _encode_table(view)


def _explanation(view: View) -> str:
    """The text before the table: what its rows and columns mean."""
    explained = [
        metric.sentence
        for key in view.options.select
        for metric in EXPLANATIONS.get(key, (BY_KEY[key],))
        if metric.key not in view.left_out
    ]
    warning = MISSING_STREAM if view.profile.lacks_accelerator_time else ""
    sentences = "\n".join(explained)
    return f"{warning}\nDoc:\n{VIEWS[view.kind].sentence}\n{sentences}\n\nProfile:\n"


def report(view: View) -> str:
    """The table, preceded by an explanation of its columns."""
    return b"".join(encode(view)).decode()


def table(view: View) -> str:
    """The legend and one line per row."""
    return b"".join(_encode_table(view)).decode()


def lines(view: View) -> Iterator[str]:
    """The lines of the table with their line ends; a row may add lines below its own."""
    metrics = fields.columns(view)
    if Trait.ALIGNED in view.traits:
        yield from _aligned_lines(view)
        return
    if Trait.NESTED not in view.traits:
        yield from _flat_lines(view, metrics)
        return
    yield _legend(view, metrics)
    for block in _nested_blocks(view, metrics):
        yield from block


def _encode_table(view: View) -> Iterator[bytes]:
    metrics = fields.columns(view)
    if Trait.ALIGNED in view.traits:
        yield "".join(_aligned_lines(view)).encode()
        return
    if Trait.NESTED not in view.traits:
        yield "".join(_flat_lines(view, metrics)).encode()
        return
    yield _legend(view, metrics).encode()
    for block in _nested_blocks(view, metrics):
        yield block.data


def _legend(view: View, metrics: Sequence[Metric]) -> str:
    """The line of column headings; empty in generations without one."""
    style, is_gathered = view.options.generation.style, view.is_gathered
    if not style.has_legend:
        return ""
    labels = [
        style.labels.get(metric.key, (is_gathered and metric.gathered_label) or metric.label)
        for metric in metrics
        if metric.label
    ]
    return f"node name | {' | '.join(labels)}\n"


def _aligned_lines(view: View) -> Iterator[str]:
    from tfprof.outputs import aligned_rows  # noqa: PLC0415 -- few views align their rows

    return aligned_rows.lines(view)


def _flat_lines(view: View, metrics: Sequence[Metric]) -> Iterator[str]:
    """The lines of a flat view; the root is not one of its rows."""
    if not len(view.profile.ops):
        # Without any op the table is the root alone, without a legend.
        yield from flat_rows.lines(view, range(1), metrics)
        return
    yield _legend(view, metrics)
    yield from flat_rows.lines(view, range(1, len(view)), metrics)


def _nested_blocks(view: View, metrics: Sequence[Metric]) -> Iterator[Strings]:
    """Nested rows as text, one block of rows at a time."""
    has_fields = bool(metrics) or view.options.generation.style.closes_empty
    skipped = _skipped(view)
    levels = view.tree.depths - 1
    if skipped is not None:
        levels = levels + view.tree.sums_above((skipped > 0).astype(np.int64))
    spaces = b"  " * int(levels.max())
    for rows in _block_rows(2 * levels + view.name.lengths):
        count = rows.stop - rows.start
        indent = _indents(spaces, levels[rows])
        name = view.name.take(np.arange(rows.start, rows.stop))
        pieces: list[Piece] = [indent, name]
        if has_fields:
            pieces += [b" (", *joined(fields.of_rows(view, rows, metrics), b", ", count), b")"]
        if skipped is not None:
            pieces = [*_skip_line(_indents(spaces, levels[rows] - 1), skipped[rows]), *pieces]
        yield woven([*pieces, b"\n", *fields.below_rows(view, rows, metrics)], count)


def _indents(spaces: bytes, levels: Ints) -> Strings:
    """The indent of each row."""
    return Strings.of_new_spans(spaces, np.zeros(len(levels), np.int64), 2 * np.maximum(levels, 0))


def _skipped(view: View) -> Ints | None:
    """The number of ops hidden above each row, if the table marks them."""
    return view.skipped if Trait.MARKS_HIDDEN in view.traits else None


def _skip_line(indent: Strings, skipped: Ints) -> list[Piece]:
    """A line `...hidden 3...` before each row that has hidden ops above it."""
    is_shown = skipped > 0
    counts = Strings([f"...hidden {count}...\n" for count in skipped.tolist()])
    return [or_else(is_shown, indent, b""), or_else(is_shown, counts, b"")]


def _block_rows(sizes: Ints) -> Iterator[slice]:
    """Blocks of rows, limited in bytes too: in a deep tree the indents get long."""
    end = np.cumsum(sizes)
    start = 0
    while start < len(sizes):
        before = int(end[start] - sizes[start])
        stop = int(np.searchsorted(end, before + _BLOCK_BYTES))
        stop = min(max(stop, start + 1), start + _BLOCK_ROWS, len(sizes))
        yield slice(start, stop)
        start = stop
