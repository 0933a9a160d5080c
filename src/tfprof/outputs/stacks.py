"""Rows as the stacks of a flame graph: the frames of each, and its own weight."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tfprof.columns import Ints, Ragged, Strings, constant, ints, offsets_of
from tfprof.errors import OptionError, OutputError
from tfprof.kernels import trees
from tfprof.measures.numbers import is_unsigned
from tfprof.metrics import BY_KEY, Metric
from tfprof.units import Unit
from tfprof.views import code
from tfprof.views.registry import Trait
from tfprof.views.tree import Tree
from tfprof.views.view import View, chosen_by

_UNIT_NAMES = {Unit.MICROS: "microseconds", Unit.BYTES: "bytes", Unit.COUNT: "count"}

# The stacks of a chain of ops grow with the square of its length; more would fill a disk.
_MAX_FRAMES = 1 << 28

_BLOCK_FRAMES = 1 << 20


def selected_numbers(view: View) -> list[Metric]:
    """The selected metrics that can be summed; fails if there are none."""
    metrics = [BY_KEY[key] for key in view.options.select]
    numbers = [metric for metric in metrics if metric.is_number]
    if not numbers:
        raise OptionError(
            f"`{','.join(view.options.select)}` cannot be summed along a stack: "
            "-select micros, bytes, params, float_ops or another number."
        )
    for metric in numbers:
        if is_unsigned(view.profile, chosen_by(view.options), metric.key):
            raise OutputError(f"The sum of `{metric.key}` exceeds 64 bits; -select other numbers.")
    return numbers


def unit_name(metric: Metric) -> str:
    """The unit of a numeric metric, spelled out."""
    return _UNIT_NAMES[metric.unit or Unit.COUNT]


def hidden_below(view: View, key: str) -> Ints:
    """The part of each row's total that comes from hidden rows and from no shown row below."""
    hidden = view.total[key] - view.own[key]
    np.subtract.at(hidden, view.tree.parents[1:], view.total[key][1:])
    return hidden


class Frames(NamedTuple):
    """The stack frames of rows: each is a function and a line in it."""

    function: Ints
    line: Ints
    name: Strings  # of each function, as are `file` and `start_line`
    file: Strings
    start_line: Ints


def frames(view: View) -> Frames:
    """The frame of each row: a line of code, or a function named like the row."""
    if Trait.CODE in view.traits:
        return _code_frames(view)
    rows = len(view)
    no_file = Strings.of_spans(b"", constant(0, rows), constant(0, rows))
    return Frames(np.arange(rows), constant(0, rows), view.name, no_file, constant(0, rows))


def _code_frames(view: View) -> Frames:
    lines, arranged = view.profile.code, code.arrange_for(view.profile, view.options)
    call = arranged.call[view.arranged[1:]]
    columns = (lines.file.codes, lines.function.codes, lines.function_line)
    key = np.column_stack([column[call] for column in columns])
    key = np.column_stack((key, arranged.is_gradient[view.arranged[1:]]))
    distinct, function = np.unique(key, axis=0, return_inverse=True)
    names, files = [view.name[0]], [""]
    for file, function_name, _, is_gradient in distinct.tolist():
        files.append(lines.file.values[file])
        suffix = code.GRADIENT_SUFFIX if is_gradient else ""
        names.append(function_text(files[-1], lines.function.values[function_name] + suffix))
    return Frames(
        np.append(0, function.ravel() + 1),
        np.append(0, lines.line[call]),
        Strings(names),
        Strings(files),
        ints([0, *np.maximum(distinct[:, 2], 0).tolist()]),
    )


def function_text(file: str, function: str) -> str:
    """A function prefixed with the name of its file: `model:build`."""
    base = file.rpartition("/")[2]
    return f"{base.rpartition('.')[0] or base}:{function}"


def stacks(tree: Tree, rows: Ints) -> Iterator[tuple[slice, Ragged]]:
    """The stack of each of `rows`, innermost first, in blocks: a slice of `rows` and its stacks.

    The root appears only in its own stack.
    """
    lengths = np.maximum(tree.depths[rows] - 1, 1)
    offsets = offsets_of(lengths)
    if offsets[-1] > _MAX_FRAMES:
        raise OutputError(
            f"The stacks of these rows have {int(offsets[-1]):,} frames; at most {_MAX_FRAMES:,} "
            "can be written: lower -max_depth, or choose rows with -start_name_regexes."
        )
    first = 0
    while first < len(rows):
        last = int(np.searchsorted(offsets, offsets[first] + _BLOCK_FRAMES, side="right")) - 1
        block = slice(first, max(last, first + 1))
        starts = offsets[block.start : block.stop + 1] - offsets[first]
        yield block, Ragged(starts, trees.chains(tree.parents, rows[block], starts))
        first = block.stop
