"""Flame graphs as profiles of a speedscope file: rows with weights, drawn side by side.

The format is documented in
https://github.com/jlfwong/speedscope/wiki/Importing-from-custom-sources.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tfprof.columns import Ints, Strings
from tfprof.outputs.pieces import Piece, digits, woven
from tfprof.views.tree import Tree

SCHEMA = "https://www.speedscope.app/file-format-schema.json"
_UNITS = {"count": "none"}  # units with another name in speedscope

_BLOCK_ROWS = 1 << 15


class Flame(NamedTuple):
    """A flame graph: its name, the unit of its weights, and what each row weighs by itself."""

    name: str
    unit: str
    tree: Tree
    own: Ints  # negative weights are drawn as 0


def flame_profile(flame: Flame, frame_of_row: Ints) -> Iterator[bytes]:
    """The profile of one flame graph: an event when a row opens and one when it closes."""
    events = _events(flame)
    head = {
        "type": "evented",
        "name": flame.name,
        "unit": _UNITS.get(flame.unit, flame.unit),
        "startValue": 0,
        "endValue": int(events.at.max(initial=0)),
    }
    yield json.dumps(head, separators=(",", ":"))[:-1].encode() + b',"events":['
    yield from separated(_event_blocks(events, frame_of_row))
    yield b"]}"


class _Events(NamedTuple):
    """The open and close events of rows, in order."""

    row: Ints
    is_open: Ints
    at: Ints


def _events(flame: Flame) -> _Events:
    own = np.maximum(flame.own, 0)
    weight = flame.tree.sums_below(own)
    drawn = np.flatnonzero(weight[1:]) + 1
    rest = int(own[0])
    own, weight = own[drawn], weight[drawn]
    tree = flame.tree.keep(np.concatenate(([0], drawn)))
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


def _event_blocks(events: _Events, frame_of_row: Ints) -> Iterator[bytes]:
    kinds = Strings(["C", "O"])
    for some in blocks(np.arange(len(events.row))):
        pieces: list[Piece] = [
            *(b',{"type":"', kinds.take(events.is_open[some]), b'","frame":'),
            *(digits(frame_of_row[events.row[some]]), b',"at":'),
            *(digits(events.at[some]), b"}"),
        ]
        yield woven(pieces, len(some)).data


def blocks(rows: Ints) -> Iterator[Ints]:
    """Rows, as many as are encoded at a time."""
    return (rows[first : first + _BLOCK_ROWS] for first in range(0, len(rows), _BLOCK_ROWS))


def separated(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Blocks of items with leading commas, without the very first comma."""
    for place, block in enumerate(blocks):
        yield block if place else block[1:]
