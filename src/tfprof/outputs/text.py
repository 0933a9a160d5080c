"""A view as the table people read, to the byte as it has always been printed."""

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

# What is written at once: enough rows for array work, and not more than memory should hold.
_BLOCK_ROWS = 1 << 15
_BLOCK_BYTES = 1 << 24


def encode(view: View) -> Iterator[bytes]:
    """The report as a file holds it, piece by piece, so that it never stands in memory whole."""
    if view.options.generation.style.explains:
        yield _explanation(view).encode()
    yield from _encode_table(view)


def _explanation(view: View) -> str:
    """What stands before the table: what the rows and the columns mean."""
    explained = [
        metric.sentence
        for key in view.options.select
        for metric in EXPLANATIONS.get(key, (BY_KEY[key],))
    ]
    warning = MISSING_STREAM if view.profile.lacks_accelerator_time else ""
    sentences = "\n".join(explained)
    return f"{warning}\nDoc:\n{VIEWS[view.kind].sentence}\n{sentences}\n\nProfile:\n"


def report(view: View) -> str:
    """The table behind the sentences that say what its columns mean."""
    return b"".join(encode(view)).decode()


def table(view: View) -> str:
    """The legend and a line a row."""
    return b"".join(_encode_table(view)).decode()


def lines(view: View) -> Iterator[str]:
    """The lines of the table, each with what belongs to it and its line end."""
    metrics = fields.columns(view)
    if Trait.NESTED not in view.traits:
        yield from _flat_lines(view, metrics)
        return
    yield _legend(view, metrics)
    for block in _nested_blocks(view, metrics):
        yield from block


def _encode_table(view: View) -> Iterator[bytes]:
    metrics = fields.columns(view)
    if Trait.NESTED not in view.traits:
        yield "".join(_flat_lines(view, metrics)).encode()
        return
    yield _legend(view, metrics).encode()
    for block in _nested_blocks(view, metrics):
        yield block.data


def _legend(view: View, metrics: Sequence[Metric]) -> str:
    """The line with the headings of the columns; older generations had none."""
    style, is_gathered = view.options.generation.style, view.is_gathered
    if not style.has_legend:
        return ""
    labels = [
        style.labels.get(metric.key, (is_gathered and metric.gathered_label) or metric.label)
        for metric in metrics
        if metric.label
    ]
    return f"node name | {' | '.join(labels)}\n"


def _flat_lines(view: View, metrics: Sequence[Metric]) -> Iterator[str]:
    """The lines of rows that are side by side; the root is no row of theirs."""
    if not len(view.profile.ops):
        # Without a single op there is nothing but the root, and no legend.
        yield from flat_rows.lines(view, range(1), metrics)
        return
    yield _legend(view, metrics)
    yield from flat_rows.lines(view, range(1, len(view)), metrics)


def _nested_blocks(view: View, metrics: Sequence[Metric]) -> Iterator[Strings]:
    """Rows within each other as text, a block of them at a time."""
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
    """The space before each row."""
    return Strings.of_spans(spaces, np.zeros(len(levels), np.int64), 2 * np.maximum(levels, 0))


def _skipped(view: View) -> Ints | None:
    """How many ops are hidden above each row, if the table marks them."""
    return view.skipped if Trait.MARKS_HIDDEN in view.traits else None


def _skip_line(indent: Strings, skipped: Ints) -> list[Piece]:
    """A line before each row above which ops were left out: `...hidden 3...`."""
    is_shown = skipped > 0
    counts = Strings([f"...hidden {count}...\n" for count in skipped.tolist()])
    return [or_else(is_shown, indent, b""), or_else(is_shown, counts, b"")]


def _block_rows(sizes: Ints) -> Iterator[slice]:
    """Which rows to write at once; a deep tree has rows that are all indent."""
    end = np.cumsum(sizes)
    start = 0
    while start < len(sizes):
        before = int(end[start] - sizes[start])
        stop = int(np.searchsorted(end, before + _BLOCK_BYTES))
        stop = min(max(stop, start + 1), start + _BLOCK_ROWS, len(sizes))
        yield slice(start, stop)
        start = stop
