"""Encode a view for speedscope, which draws flame graphs in a browser.

The file has a profile for each selected number. A row is as long as its total: it contains its
children side by side, then its own part and that of hidden rows. The format is documented in
https://github.com/jlfwong/speedscope/wiki/Importing-from-custom-sources.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tfprof.columns import Ints
from tfprof.metrics import Metric
from tfprof.outputs import stacks
from tfprof.outputs.flames import SCHEMA, Flame, blocks, flame_profile, separated
from tfprof.outputs.parts import Part
from tfprof.outputs.pieces import Piece, digits, in_json, woven
from tfprof.views.registry import Trait
from tfprof.views.view import View


def parts(view: View) -> Iterator[Part]:
    """The file, with notes about values that cannot be drawn."""
    yield Part("", encode(view), notes(view))


def encode(view: View) -> Iterator[bytes]:
    """The file; fails if no number is selected."""
    metrics = stacks.selected_numbers(view)
    frames = _frames(view)
    yield f'{{"$schema":"{SCHEMA}","exporter":"tfprof","name":"tfprof {view.kind}",'.encode()
    yield b'"shared":{"frames":['
    yield from separated(_frame_blocks(view, frames))
    yield b']},"profiles":['
    for place, metric in enumerate(metrics):
        yield b"," if place else b""
        flame = Flame(
            f"{metric.key}: {metric.label}",
            stacks.unit_name(metric),
            view.tree,
            _own_weights(view, metric),
        )
        yield from flame_profile(flame, frames.of_row)
    yield b"]}\n"


def notes(view: View) -> tuple[str, ...]:
    """A note for each selected number with negative values, which cannot be drawn."""
    found = []
    for metric in stacks.selected_numbers(view):
        weight = _own_weights(view, metric)
        is_negative = weight < 0
        if metric.unit and is_negative.any():
            amount = metric.unit.format(int(-weight[is_negative].sum()))
            found.append(
                f"rows with negative `{metric.key}` are drawn as 0: "
                f"the speedscope file shows {amount} more than the view."
            )
    return tuple(found)


class _Frames(NamedTuple):
    """The distinct frames, each given by one of its rows, and the frame of each row."""

    row: Ints
    of_row: Ints


def _frames(view: View) -> _Frames:
    if Trait.CODE not in view.traits:
        return _Frames(np.arange(len(view)), np.arange(len(view)))
    frames = stacks.frames(view)
    keys = np.column_stack((frames.function, frames.line))
    _, row, of_row = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    return _Frames(row, of_row.ravel())


def _frame_blocks(view: View, found: _Frames) -> Iterator[bytes]:
    frames = stacks.frames(view)
    for rows in blocks(found.row):
        function = frames.function[rows]
        pieces: list[Piece] = [b',{"name":"', in_json(frames.name.take(function)), b'"']
        if Trait.CODE in view.traits:
            pieces += [b',"file":"', in_json(frames.file.take(function)), b'","line":']
            pieces.append(digits(frames.line[rows]))
        yield woven([*pieces, b"}"], len(rows)).data


def _own_weights(view: View, metric: Metric) -> Ints:
    """The amount of each row without that of the shown rows below it."""
    return view.own[metric.key] + stacks.hidden_below(view, metric.key)
