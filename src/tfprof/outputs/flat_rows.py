"""The rows of a flat table: each number is the row's own, followed by its shares."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan
from typing import assert_never

import numpy as np

from tfprof.columns import Ints, Shapes, ints
from tfprof.metrics import Metric
from tfprof.outputs import fields
from tfprof.units import Unit, format_mean
from tfprof.views import facts
from tfprof.views.facts import Column, Counts, ShapeLists, Sizes, TensorValues, Texts
from tfprof.views.view import View

_SUFFIX = {"params": " params", "slots": " slots", "float_ops": " float_ops", "macs": " macs"}

_NAME_WIDTH = 25
_FIELD_WIDTH = 30
_COUNT_WIDTH = 10


def lines(view: View, rows: range, metrics: Sequence[Metric]) -> Iterator[str]:
    """The text of `rows` with columns of `metrics`, including any lines below a row."""
    columns: list[list[str]] = []
    signatures: list[_Signatures] = []
    for metric in metrics:
        if metric.fact and metric.label:
            column = facts.column(metric, view, slice(0, len(view)))
            if isinstance(column, ShapeLists):
                signatures.append(_Signatures(view, column))
            elif column is not None:
                columns += _fact(view, column)
        if metric.unit is not None:
            columns.append(_shares(view, metric.key, metric.unit))
    for row in rows:
        name = view.name[row]
        # The original measured the width of names in bytes.
        name += " " * (_NAME_WIDTH - len(name.encode()))
        shown = ", ".join([column[row] for column in columns])
        below = "".join([found.of_row(row) for found in signatures])
        yield f"{name}{shown}\n{below}"


def _fact(view: View, column: Column) -> list[list[str]]:
    """The column of a fact, or none if the fact is not shown in the line itself."""
    texts: list[str] = []
    match column:
        case TensorValues() | ShapeLists():
            return []
        case Texts():
            texts = list(fields.text_sets(column))
        case Counts():
            own = (
                map(format_mean, column.own[name].tolist())
                for name in fields.shown_counts(view, column)
            )
            texts = [_padded("|".join(counts)) for counts in zip(*own, strict=True)]
        case Shapes():
            shapes = fields.shape_texts(column.values, unknown="")
            texts = [shapes[code] for code in column.codes.tolist()]
        case Sizes():
            known = zip(Unit.BYTES.format_column(column.bytes), column.bytes.tolist(), strict=True)
            texts = [_padded(text if size >= 0 else "") for text, size in known]
        case np.ndarray():
            texts = [_padded(str(number)) for number in column.tolist()]
        case _:
            assert_never(column)
    return [texts]


def _padded(count: str) -> str:
    return count.rjust(_COUNT_WIDTH)


def _shares(view: View, key: str, unit: Unit) -> list[str]:
    """Own numbers, each with two shares of the whole: of its running total and of itself."""
    own, total = view.own[key], view.total[key]
    is_shared = own > 0 if unit is Unit.BYTES else total > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        of_total = np.where(is_shared, 100.0 * total / float(total[0]), 0.0).tolist()
        of_own = np.where(is_shared, 100.0 * own / float(total[0]), 0.0).tolist()
    suffix = _SUFFIX.get(key, "")
    return [
        f"{text}{suffix} ({_percent(first)}, {_percent(second)})".rjust(_FIELD_WIDTH)
        for text, first, second in zip(unit.format_column(own), of_total, of_own, strict=True)
    ]


def _percent(share: float) -> str:
    # Negative bytes can cancel out to a total of 0; C prints 0/0 as `-nan` on x86.
    return "-nan%" if isnan(share) else f"{share:.2f}%"


class _Signatures:
    """The input shapes of the ops of each row, as lines below it."""

    def __init__(self, view: View, column: ShapeLists) -> None:
        self._view, self._column = view, column
        self._shapes = fields.shape_texts(column.shapes, unknown="unknown")
        self._runs, self._micros = view.op_numbers("runs"), view.op_numbers("micros")

    def of_row(self, row: int) -> str:
        """The distinct shape lists of a row's ops, most runs first; empty for the root."""
        if row == 0:
            return ""
        ops = self._column.ops[row]
        lists, list_of = self._distinct(row)
        runs, micros, defined = np.zeros((3, len(lists)), np.int64)
        np.add.at(runs, list_of, self._runs[ops])
        np.add.at(micros, list_of, self._micros[ops])
        np.add.at(defined, list_of, 1)
        times, often = (
            Unit.MICROS.format_column(micros),
            list(map(format_mean, self._view.runs(runs).tolist())),
        )
        shown = [
            f"input_type: {lists[i]}\t"
            f"(run*{often[i]}|defined*{defined[i]})\texec_time: {times[i]}\n"
            for i in np.argsort(-runs, kind="stable").tolist()
        ]
        return "".join(["\n", *shown, "\n"])

    def _distinct(self, row: int) -> tuple[list[str], Ints]:
        """The distinct shape lists of a row as sorted texts, and which of them each op has."""
        start, end = self._column.ops.offsets[row : row + 2]
        lists = self._column.codes.take(np.arange(start, end))
        codes, firsts = lists.numbered()
        found = [
            ",\t".join(fields.numbered_texts(lists[first].tolist(), self._shapes))
            for first in firsts.tolist()
        ]
        # Different shapes can have the same text: a scalar is shown as `1`.
        texts = sorted(set(found))
        place = {text: number for number, text in enumerate(texts)}
        return texts, ints([place[text] for text in found])[codes]
