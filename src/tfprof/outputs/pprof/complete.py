"""Complete pprof files: a frame for every row, a value for every selected number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tfprof.columns import Ints, Ragged, Strings, constant
from tfprof.formats.wire import encoded
from tfprof.metrics import Metric
from tfprof.outputs import stacks
from tfprof.outputs.pprof import file
from tfprof.outputs.proto import one_number, one_text
from tfprof.views.accounting import matching_regexes
from tfprof.views.registry import Trait
from tfprof.views.view import View

_LABEL = "op"


def encode(view: View, metrics: list[Metric]) -> Iterator[bytes]:
    """The messages of the file."""
    found, frames = _samples(view, metrics), stacks.frames(view)
    fixed = ["", _LABEL, *(m.key for m in metrics), *map(stacks.unit_name, metrics), *view.notes]
    # Then follow the names and files of functions; op names too, unless functions have them.
    names_at = len(fixed)
    files_at = names_at + len(frames.name)
    ops_at = files_at + len(frames.file)
    is_code = Trait.CODE in view.traits
    op_names = ops_at + np.arange(found.ops) if is_code else names_at + found.row[: found.ops]
    labels = np.zeros(len(found.row), np.int64)
    labels[: found.ops] = op_names
    types = np.arange(2, 2 + len(metrics))
    yield file.sample_types(types.tolist(), (types + len(metrics)).tolist())
    for block, chains in stacks.stacks(view.tree, found.row):
        ids = Ragged(chains.offsets, chains.values + 1)  # location numbers start at 1
        yield file.samples(ids, [column[block] for column in found.values], 1, labels[block])
    rows = np.arange(len(view))
    yield from file.locations(rows + 1, frames.function + 1, frames.line)
    functions = np.arange(len(frames.name))
    yield from file.functions(
        functions + 1,
        functions + names_at,
        functions + files_at if is_code else constant(0, len(functions)),
        frames.start_line,
    )
    yield from file.strings(Strings(fixed))
    yield from file.strings(frames.name)
    if is_code:
        yield from file.strings(frames.file)
        yield from file.strings(found.op_name)
    notes = range(names_at - len(view.notes), names_at)
    yield one_text(13, b"".join(map(encoded, notes))) + one_number(14, int(types[0]))


class _Samples(NamedTuple):
    """The samples: first the ops, each in its row, then the amounts hidden below rows."""

    row: Ints
    ops: int
    op_name: Strings
    values: list[Ints]


def _samples(view: View, metrics: list[Metric]) -> _Samples:
    """A sample per shown op and per row with hidden rows below it, except those that weigh 0."""
    ops, rows = view.members.values, view.members.owners
    weight = matching_regexes(view.profile, view.options.account_type_regexes)[ops]
    own = [
        weight * view.op_numbers(metric.key)[ops]
        if view.is_gathered
        else view.own[metric.key][rows]
        for metric in metrics
    ]
    hidden = [stacks.hidden_below(view, metric.key) for metric in metrics]
    shown = np.flatnonzero(np.any(own, axis=0))
    holding = np.flatnonzero(np.any(hidden, axis=0))
    return _Samples(
        np.concatenate((rows[shown], holding)),
        len(shown),
        view.profile.ops.name.take(ops[shown]),
        [
            np.concatenate((mine[shown], below[holding]))
            for mine, below in zip(own, hidden, strict=True)
        ],
    )
