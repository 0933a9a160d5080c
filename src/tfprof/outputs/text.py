"""A view as the table people read, to the byte as it has always been printed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice, repeat
from math import isnan

import numpy as np

from tfprof.columns import Ints
from tfprof.metrics import BY_KEY, EXPLANATIONS, Metric, selected_columns
from tfprof.outputs import tensor_text
from tfprof.units import Unit, format_shape
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

_SUFFIX = {"params": " params", "float_ops": " flops"}
_OP_SUFFIX = {"params": " params", "float_ops": " float_ops"}

_OP_NAME_WIDTH = 25
_OP_FIELD_WIDTH = 30
_OP_COUNT_WIDTH = 10


def encode(view: View) -> Iterator[bytes]:
    """The report as a file holds it."""
    yield report(view).encode()


def report(view: View) -> str:
    """The table behind the sentences that say what its columns mean."""
    explained = [
        metric.sentence
        for key in view.options.select
        for metric in EXPLANATIONS.get(key, (BY_KEY[key],))
    ]
    warning = MISSING_STREAM if view.profile.lacks_accelerator_time else ""
    sentences = "\n".join(explained)
    return f"{warning}\nDoc:\n{VIEW_SENTENCES[view.kind]}\n{sentences}\n\nProfile:\n{table(view)}"


def table(view: View) -> str:
    """The legend and a line a row."""
    return "".join(lines(view))


def lines(view: View) -> Iterator[str]:
    """The lines of the table, each with what belongs to it and its line end."""
    if view.kind == "op":
        yield from _op_lines(view)
        return
    yield legend(view)
    indents = ["  " * depth for depth in range(int(view.tree.depths.max()))]
    depths = (view.tree.depths - 1).tolist()
    shown = zip(depths, view.name, _joined(_tree_columns(view)), _values(view), strict=False)
    for depth, name, text, value in shown:
        yield f"{indents[depth]}{name} ({text})\n{value}"


def legend(view: View) -> str:
    """The names of the columns."""
    metrics = selected_columns(view.options.select, gathered=view.is_gathered)
    labels = [label(metric, gathered=view.is_gathered) for metric in metrics if metric.label]
    return f"node name | {' | '.join(labels)}\n"


def label(metric: Metric, *, gathered: bool) -> str:
    """What a column is called in a view of that kind."""
    if metric.key == "occurrence" and gathered:
        return "op occurrence (run|defined)"
    return metric.label


def _joined(columns: list[list[str] | list[str | None]]) -> Iterable[str]:
    """The fields of each row in one text; None is a field that is left out."""
    if not columns:
        return repeat("")
    fields = zip(*columns, strict=True)
    return (", ".join([field for field in row if field is not None]) for row in fields)


def _tree_columns(view: View) -> list[list[str] | list[str | None]]:
    """The fields of the rows, column by column."""
    columns: list[list[str] | list[str | None]] = []
    for metric in selected_columns(view.options.select, gathered=view.is_gathered):
        if metric.key == "params" and not view.is_gathered:
            columns.append(_shapes(view))
        if metric.unit is not None:
            columns.append(_own_and_total(view, metric.key, metric.unit))
        elif metric.key in _FACTS:
            fact = _FACTS[metric.key]
            columns.append([fact(view, row) for row in range(len(view))])
    return columns


def _own_and_total(view: View, key: str, unit: Unit) -> list[str]:
    own = unit.format_column(view.own[key])
    total = unit.format_column(view.total[key])
    suffix = _SUFFIX.get(key, "")
    return [
        f"{mine if is_accounted else '--'}/{all_}{suffix}"
        for mine, all_, is_accounted in zip(own, total, view.is_accounted.tolist(), strict=True)
    ]


def _shapes(view: View) -> list[str | None]:
    shapes = view.profile.ops.shape
    return [
        _shape_text(shapes[int(members[0])]) if len(members := view.members[row]) else None
        for row in range(len(view))
    ]


def _shape_text(shape: tuple[int, ...] | None) -> str | None:
    """A shape as it is shown: a scalar as `1`, an unknown one not at all."""
    return None if shape is None else format_shape(shape or (1,))


def _device_field(view: View, row: int) -> str | None:
    devices = view.devices(row)
    if view.is_gathered:
        return "|".join(devices) if len(view.members[row]) else None
    return devices[0] if devices and devices[0] else None


def _types_field(view: View, row: int) -> str:
    return "|".join(view.types(row))


def _occurrence_field(view: View, row: int) -> str:
    if view.is_gathered:
        return "occurrence N/A in code view"
    pairs = []
    for key in ("runs", "definitions"):
        own = Unit.COUNT.format(int(view.own[key][row])) if view.is_accounted[row] else "--"
        pairs.append(f"{own}/{Unit.COUNT.format(int(view.total[key][row]))}")
    return "|".join(pairs)


def _input_shapes_field(view: View, row: int) -> str:
    if view.is_gathered:
        return "input_shapes N/A in code view"
    ops = view.members[row].tolist()
    return "|".join(_input_texts(view, ops[0])) if ops else ""


def _input_texts(view: View, op: int) -> list[str]:
    """The inputs of an op, as in `0:3x3x16`."""
    shapes = map(_shape_text, view.input_shapes(op))
    return [f"{place}:{shape or 'unknown'}" for place, shape in enumerate(shapes)]


_FACTS: dict[str, Callable[[View, int], str | None]] = {
    "device": _device_field,
    "op_types": _types_field,
    "occurrence": _occurrence_field,
    "input_shapes": _input_shapes_field,
}


def _values(view: View) -> Iterable[str]:
    """What the checkpoint holds for each row, where that was asked for."""
    if "tensor_value" not in view.options.select or view.is_gathered:
        return repeat("", len(view))
    named = islice(view.name, 1, None)
    return ["", *(tensor_text.of_op(view.profile, name) for name in named)]


def _op_lines(view: View) -> Iterator[str]:
    if not len(view.profile.ops):
        # Without a single op there is nothing but the root, and no legend.
        yield from _op_rows(view, range(1))
        return
    yield legend(view)
    yield from _op_rows(view, range(1, len(view)))


def _op_rows(view: View, rows: range) -> Iterator[str]:
    metrics = selected_columns(view.options.select, gathered=True)
    columns = [_shares(view, metric) for metric in metrics if metric.is_number]
    facts = [_OP_FACTS[metric.key] for metric in metrics if metric.key in _OP_FACTS]
    for row in rows:
        fields = [column[row] for column in columns] + [fact(view, row) for fact in facts]
        name = view.name[row]
        # Columns are as wide as they always were, which is in bytes.
        name += " " * (_OP_NAME_WIDTH - len(name.encode()))
        yield f"{name}{', '.join(fields)}\n{_signatures(view, row)}"


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


def _op_occurrence(view: View, row: int) -> str:
    text = f"{view.own['runs'][row]}|{view.own['definitions'][row]}"
    return text.rjust(_OP_COUNT_WIDTH)


_OP_FACTS: dict[str, Callable[[View, int], str]] = {
    "device": lambda view, row: "|".join(view.devices(row)),
    "op_types": _types_field,
    "occurrence": _op_occurrence,
}


def _signatures(view: View, row: int) -> str:
    """The distinct inputs of a row's ops, those that ran most often first; the root has none."""
    if row == 0 or "input_shapes" not in view.options.select:
        return ""
    groups: dict[str, list[int]] = {}
    for op in view.members[row].tolist():
        groups.setdefault(",\t".join(_input_texts(view, op)), []).append(op)
    runs, micros = (view.op_numbers(key) for key in ("runs", "micros"))
    shown = [(int(runs[ops].sum()), text, ops) for text, ops in sorted(groups.items())]
    shown.sort(key=lambda group: -group[0])
    return "".join(["\n", *(_signature(*group, micros) for group in shown), "\n"])


def _signature(runs: int, text: str, ops: list[int], micros: Ints) -> str:
    time = Unit.MICROS.format(int(micros[ops].sum()))
    return f"input_type: {text}\t(run*{runs}|defined*{len(ops)})\texec_time: {time}\n"
