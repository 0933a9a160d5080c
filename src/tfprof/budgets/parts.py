"""The parts of a model that budgets name: the rows of a view, and the ops in them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tfprof.api import Profile, build_view
from tfprof.budgets.budget import Place
from tfprof.columns import Bools
from tfprof.errors import nearest
from tfprof.options import Options
from tfprof.views import lines
from tfprof.views.code import GRADIENT_SUFFIX
from tfprof.views.view import View

_ALL_LEVELS = 1 << 30
_ROOT = 0
_MOST_NAMED = 3

# The view whose rows are the places of each kind.
VIEWS = {"model": "scope", "scope": "scope", "layer": "layers"}


@dataclass(frozen=True)
class Part:
    """A part of a profile: a row of a view."""

    view: View
    row: int

    @property
    def name(self) -> str:
        """The name of the row."""
        return self.view.name[self.row]

    @cached_property
    def is_inside(self) -> Bools:
        """Whether each op of the profile is in the part."""
        flags = np.zeros(len(self.view.profile.ops), np.bool_)
        if self.row == _ROOT:
            return ~flags
        offsets = self.view.members.offsets
        first, last = offsets[self.row], offsets[self.view.tree.end[self.row]]
        flags[self.view.members.values[first:last]] = True
        return flags

    def total(self, number: str) -> int:
        """The sum of a number over the part, as its view shows it."""
        return int(self.view.total[number][self.row])

    def line(self, number: str) -> str:
        """The line of code whose ops have most of a number, or empty if it is unknown."""
        profile = self.view.profile
        if self.row == _ROOT or not profile.has_code:
            return ""
        found = lines.of_ops(profile)
        weights = self.view.op_numbers(number)[self.is_inside].astype(np.float64)
        if not weights.any():
            weights = np.ones(len(weights))
        by_code = np.bincount(found.codes[self.is_inside], weights, len(found.values))
        by_line: dict[str, float] = {}
        for code in np.flatnonzero(by_code).tolist():
            line = found.values[code].removesuffix(GRADIENT_SUFFIX)
            by_line[line] = by_line.get(line, 0.0) + float(by_code[code])
        by_line.pop(lines.NO_LINE, None)
        return max(by_line, key=lambda line: by_line[line], default="")


class Parts:
    """The parts of a profile, found by name."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self._views: dict[str, View] = {}
        self._found: dict[Place, Part] = {}

    def find(self, place: Place) -> Part:
        """The part at `place`; raises `ValueError` if there is none, which names the nearest."""
        if place not in self._found:
            view = self._view(VIEWS[place.kind])
            row = _row(view, place) if place.name else _ROOT
            self._found[place] = Part(view, row)
        return self._found[place]

    def largest_layer(self, number: str) -> Part | None:
        """The layer with most of a number that is not the whole model; None if all have 0."""
        view = self._view("layers")
        totals = view.total[number].copy()
        totals[totals == totals[_ROOT]] = 0
        row = int(totals.argmax())
        return Part(view, row) if totals[row] > 0 else None

    def _view(self, kind: str) -> View:
        if kind not in self._views:
            options = Options.of(max_depth=_ALL_LEVELS)
            self._views[kind] = build_view(kind, self.profile.columns, options)
        return self._views[kind]


def _row(view: View, place: Place) -> int:
    """The row with that name; a layer may also be named by the end of its name."""
    names = view.name
    row = names.row_of(place.name)
    if row > _ROOT:
        return row
    if place.kind == "layer":
        ends = [row for row, name in enumerate(names) if name.endswith(f"/{place.name}")]
        if len(ends) == 1:
            return ends[0]
        if ends:
            some = ", ".join(f"`{names[row]}`" for row in ends[:_MOST_NAMED])
            raise ValueError(f"{len(ends):,} layers have this name: {some}…; write it in full.")
    close = nearest(place.name, names, alike=names.alike(place.name))
    raise ValueError(f"there is no such {place.kind} in the model. {close}")
