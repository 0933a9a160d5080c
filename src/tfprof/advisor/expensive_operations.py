"""The kinds, scopes and lines of code that take the most time, as the original reports them.

Times are averages over the recorded steps. As in the original, a scope is ranked by its total time
but printed with its own time, which is 0 unless the scope is an op. The input pipeline is left out,
because most of the time of its iterators is waiting. In recordings that the original cannot read,
lines are ranked by the time of the ops that they called themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np

from tfprof.advisor.finding import MOST_ROWS, Cell, Evidence, Finding
from tfprof.measures.host_waits import is_synchronisation
from tfprof.measures.steps import require_steps
from tfprof.metrics import Need
from tfprof.model.ops import DATA_SCOPE, ITERATOR_KIND
from tfprof.model.profile import ProfileColumns
from tfprof.options import Options
from tfprof.units import Unit, format_micros
from tfprof.views import code, op, scope
from tfprof.views.tree import Tree
from tfprof.views.view import View

SUMMARY = "The kinds of ops, scopes and lines of code that take the most time."

# The limits of the original.
_SHOWN = 3
_DEEPEST_LINE = 3
_LEAST_LINE_MICROS = 1000

_TIMES = {"cpu": Unit.MICROS, "accelerator": Unit.MICROS, "total": Unit.MICROS}
_KEYS = ("cpu_micros", "accelerator_micros", "micros")


def check(profile: ProfileColumns) -> Iterator[Finding]:
    """Report the most expensive kinds, scopes and lines of code."""
    require_steps(profile)
    idle = sum(map(_waits, profile.ops.kind.values))
    yield from _kinds(op.build(profile, _options(max_depth=_SHOWN + idle, min_micros=1)))
    yield from _scopes(scope.build(profile, _options(max_depth=100, min_micros=100)))
    profile.require(Need.CODE, "the code lines that created the ops are unknown")
    lines = code.build(profile, _options(max_depth=100, min_micros=1))
    yield from _lines(lines) if profile.counts_whole_micros else _own_lines(lines)


def _options(*, max_depth: int, min_micros: int) -> Options:
    return Options(max_depth=max_depth, min_micros=min_micros, order_by="micros")


def _waits(kind: str) -> bool:
    """Whether ops of a kind mostly wait: for input, or the host for an accelerator."""
    return kind.startswith(ITERATOR_KIND) or is_synchronisation(kind)


def _kinds(view: View) -> Iterator[Finding]:
    is_work = [not _waits(name) for name in view.name]
    rows = [row for row in range(1, len(view)) if is_work[row]][:_SHOWN]
    if not rows:
        return
    waiting = sum(int(view.own["micros"][row]) for row in range(1, len(view)) if not is_work[row])
    # The original avoids a division by 0 like this.
    whole = int(view.total["micros"][0]) - waiting + 1e-10
    shares = [100.0 * int(view.own["micros"][row]) / whole for row in rows]
    names = [view.name[row] for row in rows]
    yield Finding(
        f"The most expensive kinds, {_listed(names)}, take {sum(shares):.0f}% of the time.",
        _evidence("kind", names, _times(view, rows, is_own=True)),
        ops=tuple(names),
        command=("op", "-select", "micros,occurrence", "-order_by", "micros", "-max_depth", "9"),
        classic="\n".join(
            f"top {place} operation type: {_line(view, row, is_own=True)} ({share:.2f}%)"
            for place, (row, share) in enumerate(zip(rows, shares, strict=True), 1)
        ),
    )


def _scopes(view: View) -> Iterator[Finding]:
    children = (row for row in _children(view.tree, 0) if view.name[row] != DATA_SCOPE)
    rows = list(islice(children, _SHOWN))
    if not rows:
        return
    names = [view.name[row] for row in rows]
    yield Finding(
        f"The most expensive scopes are {_listed(names)}.",
        _evidence("scope", names, _times(view, rows, is_own=False)),
        ops=tuple(names),
        command=("scope", "-select", "micros", "-order_by", "micros", "-max_depth", "3"),
        classic="\n".join(
            f"top {place} graph node: {_line(view, row, is_own=True)}"
            for place, row in enumerate(rows, 1)
        ),
    )


def _lines(view: View) -> Iterator[Finding]:
    top, children = 0, _first_children(view.tree, 0)
    # Lines with a single call below them mostly belong to libraries.
    while len(children) == 1:
        top, children = children[0], _first_children(view.tree, children[0])
    if not children:
        return
    found = list(_expensive_lines(view, top, 0))
    names = [view.name[row] for row, _ in found]
    sentence = "No line of code takes a millisecond or more."
    if names:
        sentence = f"The most expensive line of code is {_listed(names[:1])}."
    yield Finding(
        sentence,
        _evidence("line", names, _times(view, [row for row, _ in found], is_own=False)),
        ops=tuple(names),
        command=("code", "-select", "micros", "-order_by", "micros", "-max_depth", "100"),
        classic="\n".join(
            f"{'  ' * depth}{_line(view, row, is_own=False)}" for row, depth in found
        ),
    )


def _own_lines(view: View) -> Iterator[Finding]:
    """The lines whose own ops take the most time, whatever called them."""
    times: dict[str, list[int]] = {}
    for row in range(1, len(view)):
        own = [int(view.own[key][row]) for key in _KEYS]
        known = times.setdefault(view.name[row], [0] * len(_KEYS))
        times[view.name[row]] = [one + more for one, more in zip(known, own, strict=True)]
    names = sorted(times, key=lambda name: -times[name][-1])[:MOST_ROWS]
    names = [name for name in names if times[name][-1] >= _LEAST_LINE_MICROS]
    if names:
        yield Finding(
            f"The most expensive line of code is {_listed(names[:1])}.",
            _evidence("line", names, [times[name] for name in names]),
            ops=tuple(names),
            command=("code", "-select", "micros", "-order_by", "micros", "-max_depth", "100"),
        )


def _expensive_lines(view: View, row: int, depth: int) -> Iterator[tuple[int, int]]:
    """The most expensive lines below a row with their depths, each followed by those below it."""
    children = _first_children(view.tree, row)
    if len(children) <= 1 or depth > _DEEPEST_LINE:
        return
    for child in children[:_SHOWN]:
        if view.total["micros"][child] >= _LEAST_LINE_MICROS:
            yield child, depth
            yield from _expensive_lines(view, child, depth + 1)


def _children(tree: Tree, row: int) -> Iterator[int]:
    """The children of a row."""
    child = row + 1
    while child < tree.end[row]:
        yield child
        child = int(tree.end[child])


def _first_children(tree: Tree, row: int) -> list[int]:
    """The first `_SHOWN` children of a row."""
    return list(islice(_children(tree, row), _SHOWN))


def _line(view: View, row: int, *, is_own: bool) -> str:
    numbers = view.own if is_own else view.total
    cpu, accelerator, total = (format_micros(int(numbers[key][row])) for key in _KEYS)
    return f"{view.name[row]}, cpu: {cpu}, accelerator: {accelerator}, total: {total}"


def _times(view: View, rows: list[int], *, is_own: bool) -> list[list[int]]:
    numbers = view.own if is_own else view.total
    return np.stack([numbers[key][rows] for key in _KEYS], axis=1).tolist() if rows else []


def _evidence(heading: str, names: list[str], times: list[list[int]]) -> Evidence:
    rows: list[tuple[Cell, ...]] = [(name, *row) for name, row in zip(names, times, strict=True)]
    return Evidence.of({heading: None, **_TIMES}, rows)


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
