"""Encode a view for speedscope, which draws flame graphs in a browser.

The file has a profile for each selected number. A row is as long as its total: it contains its
children side by side, then its own part and that of hidden rows. The format is documented in
https://github.com/jlfwong/speedscope/wiki/Importing-from-custom-sources.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tfprof.columns import Ints, Strings
from tfprof.metrics import Metric
from tfprof.outputs import stacks
from tfprof.outputs.parts import Part
from tfprof.outputs.pieces import Piece, digits, in_json, woven
from tfprof.views.registry import Trait
from tfprof.views.view import View

_SCHEMA = "https://www.speedscope.app/file-format-schema.json"
_UNITS = {"count": "none"}  # units with another name in speedscope

_BLOCK_ROWS = 1 << 15


def parts(view: View) -> Iterator[Part]:
    """The file, with notes about values that cannot be drawn."""
    yield Part("", encode(view), notes(view))


def encode(view: View) -> Iterator[bytes]:
    """The file; fails if no number is selected."""
    metrics = stacks.selected_numbers(view)
    frames = _frames(view)
    yield f'{{"$schema":"{_SCHEMA}","exporter":"tfprof","name":"tfprof {view.kind}",'.encode()
    yield b'"shared":{"frames":['
    yield from _separated(_frame_blocks(view, frames))
    yield b']},"profiles":['
    for place, metric in enumerate(metrics):
        yield b"," if place else b""
        yield from _profile(view, metric, frames.of_row)
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
    for rows in _blocks(found.row):
        function = frames.function[rows]
        pieces: list[Piece] = [b',{"name":"', in_json(frames.name.take(function)), b'"']
        if Trait.CODE in view.traits:
            pieces += [b',"file":"', in_json(frames.file.take(function)), b'","line":']
            pieces.append(digits(frames.line[rows]))
        yield woven([*pieces, b"}"], len(rows)).data


def _profile(view: View, metric: Metric, frame_of_row: Ints) -> Iterator[bytes]:
    """The profile of one metric: an event when a row opens and one when it closes."""
    events = _events(view, metric)
    unit = stacks.unit_name(metric)
    head = {
        "type": "evented",
        "name": f"{metric.key}: {metric.label}",
        "unit": _UNITS.get(unit, unit),
        "startValue": 0,
        "endValue": int(events.at.max(initial=0)),
    }
    yield json.dumps(head, separators=(",", ":"))[:-1].encode() + b',"events":['
    yield from _separated(_event_blocks(events, frame_of_row))
    yield b"]}"


class _Events(NamedTuple):
    """The open and close events of rows, in order."""

    row: Ints
    is_open: Ints
    at: Ints


def _events(view: View, metric: Metric) -> _Events:
    own = np.maximum(_own_weights(view, metric), 0)
    weight = view.tree.sums_below(own)
    drawn = np.flatnonzero(weight[1:]) + 1
    rest = int(own[0])
    own, weight = own[drawn], weight[drawn]
    tree = view.tree.keep(np.concatenate(([0], drawn)))
    # The root is left out here; its own part comes last.
    opens, closes = (times[1:] - 1 for times in tree.walk())
    closed = np.zeros(len(drawn) + 1, np.int64)
    np.add.at(closed, tree.end[1:] - 1, own)
    start = np.cumsum(closed)[:-1]
    row, is_open, at = np.empty((3, 2 * len(drawn)), np.int64)
    row[opens], is_open[opens], at[opens] = drawn, 1, start
    row[closes], is_open[closes], at[closes] = drawn, 0, start + weight
    if rest:
        total = int(closed.sum())
        row = np.append(row, [0, 0])
        is_open = np.append(is_open, [1, 0])
        at = np.append(at, [total, total + rest])
    return _Events(row, is_open, at)


def _own_weights(view: View, metric: Metric) -> Ints:
    """The amount of each row without that of the shown rows below it."""
    return view.own[metric.key] + stacks.hidden_below(view, metric.key)


def _event_blocks(events: _Events, frame_of_row: Ints) -> Iterator[bytes]:
    kinds = Strings(["C", "O"])
    for some in _blocks(np.arange(len(events.row))):
        pieces: list[Piece] = [
            *(b',{"type":"', kinds.take(events.is_open[some]), b'","frame":'),
            *(digits(frame_of_row[events.row[some]]), b',"at":'),
            *(digits(events.at[some]), b"}"),
        ]
        yield woven(pieces, len(some)).data


def _blocks(rows: Ints) -> Iterator[Ints]:
    return (rows[first : first + _BLOCK_ROWS] for first in range(0, len(rows), _BLOCK_ROWS))


def _separated(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Blocks of items with leading commas, without the very first comma."""
    for place, block in enumerate(blocks):
        yield block if place else block[1:]
