"""A view as the table people read, to the byte as it has always been printed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import isnan

import numpy as np

from tfprof.columns import Ints, Strings, ints
from tfprof.metrics import BY_KEY, EXPLANATIONS, Metric
from tfprof.model.ops import Ops
from tfprof.outputs import fields, tensor_text
from tfprof.outputs.pieces import Piece, joined, or_else, woven
from tfprof.units import Unit
from tfprof.views.view import View

VIEW_SENTENCES = {
    "scope": "Ops by name scope: a scope's total holds everything below it.",
    "graph": "Ops by what feeds them: an op's total holds its inputs below it.",
    "code": "Ops by the line of code that made them: a line's total holds the calls below it.",
    "op": "Ops by kind: own numbers, with the share from this row to the last, and the row's own.",
}

MISSING_STREAM = (
    "Warning: ops ran on a GPU, but its streams were not traced: accelerator time is missing. "
    "Record the step with CUPTI available to the program.\n"
)

# What is written at once: enough rows for array work, and not more than memory should hold.
_BLOCK_ROWS = 1 << 15
_BLOCK_BYTES = 1 << 24

_OP_SUFFIX = {"params": " params", "float_ops": " float_ops"}

_OP_NAME_WIDTH = 25
_OP_FIELD_WIDTH = 30
_OP_COUNT_WIDTH = 10


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
    return f"{warning}\nDoc:\n{VIEW_SENTENCES[view.kind]}\n{sentences}\n\nProfile:\n"


def report(view: View) -> str:
    """The table behind the sentences that say what its columns mean."""
    return b"".join(encode(view)).decode()


def table(view: View) -> str:
    """The legend and a line a row."""
    return b"".join(_encode_table(view)).decode()


def lines(view: View) -> Iterator[str]:
    """The lines of the table, each with what belongs to it and its line end."""
    if view.kind == "op":
        yield from _op_lines(view)
        return
    yield legend(view)
    for block in _tree_blocks(view):
        yield from block


def _encode_table(view: View) -> Iterator[bytes]:
    if view.kind == "op":
        yield "".join(_op_lines(view)).encode()
        return
    yield legend(view).encode()
    for block in _tree_blocks(view):
        yield block.data


def legend(view: View) -> str:
    """The line with the names of the columns, where there is one."""
    if not view.options.generation.style.has_legend:
        return ""
    labels = [label(metric, view) for metric in fields.columns(view) if metric.label]
    return f"node name | {' | '.join(labels)}\n"


def label(metric: Metric, view: View) -> str:
    """What a column of a view is called."""
    labels = view.options.generation.style.labels
    if metric.key == "occurrence" and view.is_gathered and metric.key not in labels:
        return "op occurrence (run|defined)"
    return labels.get(metric.key, metric.label)


def _tree_blocks(view: View) -> Iterator[Strings]:
    """The rows of a tree as text, a block of them at a time."""
    has_fields = bool(view.options.select) or view.options.generation.style.closes_empty
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
            pieces += [b" (", *joined(fields.of_rows(view, rows), b", ", count), b")"]
        if skipped is not None:
            pieces = [*_skip_line(_indents(spaces, levels[rows] - 1), skipped[rows]), *pieces]
        yield woven([*pieces, b"\n", *_values(view, rows)], count)


def _indents(spaces: bytes, levels: Ints) -> Strings:
    """The space before each row."""
    return Strings.of_spans(spaces, np.zeros(len(levels), np.int64), 2 * np.maximum(levels, 0))


def _skipped(view: View) -> Ints | None:
    """How many ops a graph leaves out above each row, where the table is to say so."""
    return view.skipped if view.kind == "graph" else None


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


def _values(view: View, rows: slice) -> list[Piece]:
    """What the checkpoint holds for each row, where that was asked for."""
    if "tensor_value" not in view.options.select or view.is_gathered:
        return []
    texts = (
        tensor_text.of_op(view.profile, view.name[row]) if row else ""
        for row in range(rows.start, rows.stop)
    )
    return [Strings(texts)]


def _op_lines(view: View) -> Iterator[str]:
    if not len(view.profile.ops):
        # Without a single op there is nothing but the root, and no legend.
        yield from _op_rows(view, range(1))
        return
    yield legend(view)
    yield from _op_rows(view, range(1, len(view)))


def _op_rows(view: View, rows: range) -> Iterator[str]:
    metrics = fields.columns(view)
    columns = [_shares(view, metric) for metric in metrics if metric.is_number]
    columns += [_OP_FACTS[metric.key](view) for metric in metrics if metric.key in _OP_FACTS]
    for row in rows:
        name = view.name[row]
        # Columns are as wide as they always were, which is in bytes.
        name += " " * (_OP_NAME_WIDTH - len(name.encode()))
        shown = ", ".join(column[row] for column in columns)
        yield f"{name}{shown}\n{_signatures(view, row)}"


def _shares(view: View, metric: Metric) -> list[str]:
    """Own numbers, each with its total's and its own share of the whole."""
    own, total = view.own[metric.key], view.total[metric.key]
    unit = metric.unit or Unit.COUNT
    is_shared = own > 0 if unit is Unit.BYTES else total > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        of_total = np.where(is_shared, 100.0 * total / float(total[0]), 0.0).tolist()
        of_own = np.where(is_shared, 100.0 * own / float(total[0]), 0.0).tolist()
    suffix = _OP_SUFFIX.get(metric.key, "")
    return [
        f"{text}{suffix} ({_percent(first)}, {_percent(second)})".rjust(_OP_FIELD_WIDTH)
        for text, first, second in zip(unit.format_column(own), of_total, of_own, strict=True)
    ]


def _percent(share: float) -> str:
    # Bytes can be negative and so cancel out: nothing of nothing is written as C does on a PC.
    return "-nan%" if isnan(share) else f"{share:.2f}%"


def _op_occurrence(view: View) -> list[str]:
    runs, definitions = view.own["runs"].tolist(), view.own["definitions"].tolist()
    if not view.options.generation.style.counts_runs:
        return [str(defined).rjust(_OP_COUNT_WIDTH) for defined in definitions]
    counts = zip(runs, definitions, strict=True)
    return [f"{run}|{defined}".rjust(_OP_COUNT_WIDTH) for run, defined in counts]


_OP_FACTS: dict[str, Callable[[View], list[str]]] = {
    "device": lambda view: list(fields.devices(view, slice(0, len(view)))),
    "op_types": lambda view: list(fields.types(view, slice(0, len(view)))),
    "occurrence": _op_occurrence,
}


def _signatures(view: View, row: int) -> str:
    """The distinct inputs of a row's ops, those that ran most often first; the root has none."""
    if row == 0 or "input_shapes" not in view.options.select:
        return ""
    ops = view.members[row]
    inputs, input_of = _distinct_inputs(view.profile.ops, ops)
    runs, micros, defined = np.zeros((3, len(inputs)), np.int64)
    np.add.at(runs, input_of, view.op_numbers("runs")[ops])
    np.add.at(micros, input_of, view.op_numbers("micros")[ops])
    np.add.at(defined, input_of, 1)
    times = Unit.MICROS.format_column(micros)
    shown = [
        f"input_type: {inputs[i]}\t(run*{runs[i]}|defined*{defined[i]})\texec_time: {times[i]}\n"
        for i in np.argsort(-runs, kind="stable").tolist()
    ]
    return "".join(["\n", *shown, "\n"])


def _distinct_inputs(ops: Ops, chosen: Ints) -> tuple[list[str], Ints]:
    """What the inputs of the chosen ops look like, in order, and which of that each op has."""
    inputs, shapes = fields.input_codes(ops, chosen)
    codes, firsts = inputs.numbered()
    found = [
        ",\t".join(fields.input_texts(inputs[first].tolist(), shapes)) for first in firsts.tolist()
    ]
    # Different shapes may read the same: a scalar is shown as one with a side of 1.
    texts = sorted(set(found))
    place = {text: number for number, text in enumerate(texts)}
    return texts, ints([place[text] for text in found])[codes]
