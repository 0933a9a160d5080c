"""Leaves out of a trace what cannot be true: events that it contains twice, and impossible times.

The kernels, copies and fills of a stream run in order: none ends before one that started earlier.
They may overlap, because a kernel can be launched before the one before it ends, but then they end
in order too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np

from tfprof.columns import Bools, Ints, numbered_rows
from tfprof.formats.kineto.columns import Slices, Trace
from tfprof.formats.kineto.fields import ON_STREAMS
from tfprof.sources.kineto.host import Host, of_category

# Old versions write whole microseconds; clocks of accelerators are converted to that of the host.
_TOLERANCE_NS = 10_000
# No two events of the same name and time have the same of these numbers.
_IDS = ("correlation", "external_id", "record_id", "python_id")


def sound(trace: Trace, host: Host) -> Trace:
    """The trace without repeated events and impossible times, or itself if it has none.

    `host` are its events on the host.
    """
    rows = _in_order(trace.slices)
    slices = host.slice[host.slice >= 0]
    if _has_repeats(trace.slices, rows) or _has_repeats(trace.slices, slices):
        trace = _without_repeats(trace)
        rows = _in_order(trace.slices)
    impossible = _impossible(trace.slices, rows)
    if not len(impossible):
        return trace
    duration = trace.slices.duration_ns.copy()
    duration[impossible] = 0
    return replace(
        trace,
        slices=replace(trace.slices, duration_ns=duration),
        impossible_activities=len(impossible),
        impossible_ns=int(trace.slices.duration_ns[impossible].sum()),
    )


def _in_order(slices: Slices) -> Ints:
    """What ran on streams, by stream and then in the order of starts."""
    rows = np.flatnonzero(of_category(slices, ON_STREAMS.__contains__))
    start, took = slices.start_ns[rows], slices.duration_ns[rows]
    return rows[np.lexsort((-took, start, slices.stream[rows], slices.thread[rows]))]


# Repeated events.


def _has_repeats(slices: Slices, rows: Ints) -> bool:
    """Whether an event with a number occurs twice in a row; `rows` are in the order of time."""
    before, after = rows[:-1], rows[1:]
    is_same = slices.start_ns[before] == slices.start_ns[after]
    before, after = before[is_same], after[is_same]
    is_same = np.ones(len(before), np.bool_)
    for column in _identity(slices):
        is_same &= column[before] == column[after]
    after = after[is_same]
    return any(bool((getattr(slices, name)[after] > 0).any()) for name in _IDS)


def _identity(slices: Slices) -> list[Ints]:
    """What two events have in common only if they are the same."""
    place = [slices.category.codes, slices.name.codes, slices.thread]
    return [
        *(*place, slices.start_ns, slices.duration_ns),
        *(getattr(slices, name) for name in _IDS),
    ]


def _without_repeats(trace: Trace) -> Trace:
    """The trace with the first of equal events only."""
    memory, flows = (_first(_columns(table)) for table in (trace.memory, trace.flows))
    kept = _first(_identity(trace.slices))
    place = np.cumsum(kept) - 1

    def of_kept(table: Any) -> Any:
        few = _taken(table, np.flatnonzero(kept[table.slice]))
        return replace(few, slice=place[few.slice])

    return replace(
        trace,
        slices=_taken(trace.slices, np.flatnonzero(kept)),
        memory=_taken(trace.memory, np.flatnonzero(memory)),
        flows=_taken(trace.flows, np.flatnonzero(flows)),
        collectives=of_kept(trace.collectives),
        configurations=of_kept(trace.configurations),
        repeated_events=int((~kept).sum() + (~memory).sum()),
    )


def _first(columns: Sequence[Ints]) -> Bools:
    """Which rows are not equal to an earlier one."""
    is_first = np.zeros(len(columns[0]), np.bool_)
    is_first[numbered_rows(columns)[1]] = True
    return is_first


def _columns(table: Any) -> list[Ints]:
    return [getattr(table, field.name).astype(np.int64) for field in fields(table)]


def _taken(table: Any, rows: Ints) -> Any:
    """These rows of a table."""
    columns = {field.name: getattr(table, field.name) for field in fields(table)}
    return replace(table, **{name: column.take(rows) for name, column in columns.items()})


# Impossible times.


def _impossible(slices: Slices, rows: Ints) -> Ints:
    """What ends after something that was launched later on the same stream.

    `rows` are by stream and start. Events without a duration say nothing about the order. The
    kernels of one graph may run on several streams.
    """
    rows = rows[slices.duration_ns[rows] > 0]
    if len(rows) < 2:
        return rows[:0]
    stream = _runs((slices.thread[rows], slices.stream[rows]))
    end = slices.start_ns[rows] + slices.duration_ns[rows]
    is_earlier = (end[1:] < end[:-1]) & (stream[1:] == stream[:-1])
    if not is_earlier.any():
        return rows[:0]
    number = slices.correlation[rows]
    launch = _runs((stream, np.where(number > 0, number, -rows)))
    after = np.searchsorted(launch, launch, side="right")
    # The earliest end of all that follows on the stream, as its place among all ends.
    order = np.argsort(end, kind="stable")
    place = np.empty(len(rows), np.int64)
    place[order] = np.arange(len(rows))
    place += stream * len(rows)
    earliest = np.minimum.accumulate(place[::-1])[::-1]
    earliest = np.append(earliest, _NEVER)[after]
    is_followed = earliest // len(rows) == stream
    first_end = end[order[np.where(is_followed, earliest % len(rows), 0)]]
    return np.sort(rows[is_followed & (first_end < end - _TOLERANCE_NS)])


_NEVER = np.iinfo(np.int64).max


def _runs(columns: Sequence[Ints]) -> Ints:
    """The number of the run of equal rows that each row is in."""
    is_new = np.zeros(len(columns[0]), np.bool_)
    for column in columns:
        is_new[1:] |= np.diff(column) != 0
    return np.cumsum(is_new)
