"""The program of a layout: the tensors that flow between its ops, for inferring shapes."""

from __future__ import annotations

import numpy as np

from tfprof.columns import Coded, Ints, Shapes, ints, joined, offsets_of
from tfprof.formats.records import Records
from tfprof.model.ops import OutputShapes
from tfprof.sources.tf_attributes import EncodedAttributes
from tfprof.sources.tf_functions.layout import Layout
from tfprof.sources.tf_shapes import Loop, Program

_NO_OP = (-1, 0)


def program(
    records: Records,
    layout: Layout,
    kind: Coded,
    outputs: OutputShapes,
    attributes: EncodedAttributes,
) -> Program:
    """The program with the rows of `layout`; loop variables are the rows after all ops."""
    count = len(kind)
    units = [instance.unit for instance in layout.instances]
    sizes = [len(unit) for unit in units]
    conditions = ints([instance.is_condition for instance in layout.instances])
    complete = {
        call: [_numbered(one, count) for one in results]
        for call, results in layout.flow_results.items()
        if call not in layout.incomplete
    }
    return Program(
        records=records,
        start=attributes.start,
        end=attributes.end,
        kind=kind,
        declared=Shapes.joined([unit.shape for unit in units]),
        stated=outputs,
        attributes=attributes,
        input_offsets=offsets_of(joined([unit.inputs.lengths for unit in units])),
        input_source=_rows(joined([one.flow.source for one in layout.instances]), count),
        input_slot=joined([one.flow.slot for one in layout.instances]),
        results={call: found for call, found in complete.items() if call not in layout.variables},
        loops={
            call: _loop(layout, call, complete[call][0], count)
            for call in layout.variables
            if call in complete
        },
        initial=_numbered(layout.initial, count),
        call=np.repeat(ints([instance.call for instance in layout.instances]), sizes),
        is_condition=np.repeat(conditions, sizes),
    )


def _loop(layout: Layout, call: int, results: list[tuple[int, int]], count: int) -> Loop:
    variables = layout.variables[call]
    (condition,) = _numbered([layout.conditions.get(call, _NO_OP)], count)
    return Loop([count + place for place in variables], condition, results)


def _rows(sources: Ints, count: int) -> Ints:
    """The sources with loop variables as rows from `count` on."""
    return np.where(sources < -1, count - 2 - sources, sources)


def _numbered(tensors: list[tuple[int, int]], count: int) -> list[tuple[int, int]]:
    return [(count - 2 - row if row < -1 else row, slot) for row, slot in tensors]
