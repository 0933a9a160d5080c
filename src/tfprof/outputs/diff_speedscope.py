"""Encode a comparison for speedscope: flame graphs of both sides, of what grew and what shrank."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tfprof.columns import Ints, Strings
from tfprof.comparison.compared import Compared
from tfprof.comparison.diff import DiffView
from tfprof.comparison.numbers import Number
from tfprof.errors import OutputError
from tfprof.outputs.diff_pprof import require_numbers, unit_of
from tfprof.outputs.flames import SCHEMA, Flame, blocks, flame_profile, separated
from tfprof.outputs.pieces import in_json, woven
from tfprof.sums import fits


def encode(compared: Compared) -> Iterator[bytes]:
    """The file; negative weights cannot be drawn, so more and less are separate graphs."""
    view = compared.view
    require_numbers(view)
    yield f'{{"$schema":"{SCHEMA}","exporter":"tfprof","name":"tfprof diff {view.kind}",'.encode()
    yield b'"shared":{"frames":['
    yield from separated(_frames(view))
    yield b']},"profiles":['
    rows = np.arange(len(view))
    for place, flame in enumerate(_flames(view)):
        yield b"," if place else b""
        yield from flame_profile(flame, rows)
    yield b"]}\n"


def _frames(view: DiffView) -> Iterator[bytes]:
    names = Strings([view.name(row) for row in range(len(view))])
    for rows in blocks(np.arange(len(view))):
        yield woven([b',{"name":"', in_json(names.take(rows)), b'"}'], len(rows)).data


def _flames(view: DiffView) -> Iterator[Flame]:
    for number in view.numbers:
        before, after = view.own_before(number.key), view.own_after(number.key)
        yield _flame(view, number, "more than before", after - before)
        yield _flame(view, number, "less than before", before - after)
        yield _flame(view, number, "before", before)
        yield _flame(view, number, "after", after)


def _flame(view: DiffView, number: Number, what: str, own: Ints) -> Flame:
    if not fits(own):
        raise OutputError(f"The sum of `{number.metric}` exceeds 64 bits; -select other numbers.")
    return Flame(f"{number.label}: {what}", unit_of(number), view.tree, own)
