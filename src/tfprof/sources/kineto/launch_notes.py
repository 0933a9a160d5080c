"""Notes on launches: which kernels were lost, and which could not be attributed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tfprof.columns import Bools, Ints
from tfprof.model.clock import NANOS_PER_MICRO
from tfprof.model.notes import Note, Subject
from tfprof.sources.kineto.interpreted import Interpreted
from tfprof.sources.kineto.sites import Sites
from tfprof.units import counted, format_nanos

_KERNELS = Subject.TIME | Subject.STEPS
_MOSTLY = 0.9
_LOST = (
    "the kernels were lost when recording, so device times are at least what is shown, and idle "
    "times at most"
)


def of_launches(found: Interpreted, ops: Sites) -> Iterator[Note]:
    """What a user has to know about the kernels of a trace."""
    yield from _without_kernels(found)
    yield from _without_launch(found, ops)
    launched = found.launched
    if launched.ambiguous:
        text = counted(launched.ambiguous, "kernel or copy has", "kernels and copies have")
        yield Note(
            f"{text} several launches with the same number, and so none; are these the events of "
            "several ranks? Give one file per rank.",
            _KERNELS,
        )
    kernels = np.flatnonzero(launched.is_kernel)
    if len(rows := kernels[launched.in_graph[kernels]]):
        text = counted(len(rows), "kernel", "kernels")
        yield Note(
            f"{text} of CUDA graphs ({device_time(found, rows)}) count for the op, the "
            "module and the phase that launched the graph; what is inside it is not recorded.",
            _KERNELS,
        )


def _without_kernels(found: Interpreted) -> Iterator[Note]:
    """Notes on launches whose kernels are missing."""
    launched, slices = found.launched, found.trace.slices
    if count := int(launched.is_captured.sum()):
        text = counted(count, "launch was", "launches were")
        yield Note(f"{text} captured for a CUDA graph, and ran no kernels.", _KERNELS)
    # A kernel without a number belongs to one of the launches, but to an unknown one.
    activity = launched.slice[launched.is_kernel]
    unnumbered = int((slices.correlation[activity] <= 0).sum())
    replays = launched.is_lost & launched.is_replay
    lost = launched.is_lost & ~launched.is_replay
    if not len(activity) and launched.is_lost.any():
        kernels = counted(int(launched.is_lost.sum()), "was", "were")
        yield Note(
            f"no kernels were recorded, although {kernels} launched, so the time of accelerators "
            "is unknown; record with `ProfilerActivity.CUDA`, and no other profiler meanwhile.",
            _KERNELS,
        )
        return
    if (count := int(lost.sum()) - unnumbered) > 0:
        text = counted(count, "launch has no kernel", "launches have no kernels")
        when = "" if unnumbered else _when(found, launched.calls, lost)
        yield Note(f"{text} in the trace{when}: {_LOST}.", _KERNELS)
    if count := int(replays.sum()):
        every = counted(int(launched.is_replay.sum()), "launch of a graph", "launches of graphs")
        have = "has" if count == 1 else "have"
        when = _when(found, launched.calls, replays)
        yield Note(f"{count:,} of {every} {have} no kernels in the trace{when}: {_LOST}.", _KERNELS)


def _when(found: Interpreted, events: Ints, is_lost: Bools) -> str:
    """When these events started, if they are almost all of a part of the recording."""
    starts = found.trace.slices.start_ns[events]
    first, last = int(starts[is_lost].min()), int(starts[is_lost].max())
    is_inside = (starts >= first) & (starts <= last)
    if first == last or is_inside.all() or is_lost.sum() < _MOSTLY * is_inside.sum():
        return ""
    begin = int(found.host.start_ns.min())
    return f", all between {format_nanos(first - begin)} and {format_nanos(last - begin)}"


def _without_launch(found: Interpreted, ops: Sites) -> Iterator[Note]:
    """Notes on kernels and copies whose launches are missing."""
    launched = found.launched
    kernels = np.flatnonzero(launched.is_kernel)
    unknown = kernels[ops.inside[ops.of_activity[kernels]] < 0]
    if len(rows := unknown[launched.is_early[unknown]]):
        text = counted(len(rows), "kernel was", "kernels were")
        yield Note(
            f"{text} launched before the recording, so the module is unknown: "
            f"{device_time(found, rows)}.",
            _KERNELS,
        )
    if len(rows := unknown[~launched.is_early[unknown]]):
        text = counted(len(rows), "kernel has", "kernels have")
        when = _when(found, launched.slice[kernels], np.isin(kernels, rows))
        yield Note(
            f"{text} no recorded launch and no module{when}: {device_time(found, rows)}.",
            _KERNELS,
        )
    copies = np.flatnonzero(~launched.is_kernel)
    if len(rows := copies[launched.call[copies] < 0]):
        text = counted(len(rows), "copy or fill has", "copies and fills have")
        nanos = int(found.trace.slices.duration_ns[launched.slice[rows]].sum())
        yield Note(
            f"{text} no recorded launch, and so no op: {nanos // NANOS_PER_MICRO:,} microseconds.",
            _KERNELS,
        )


def device_time(found: Interpreted, rows: Ints) -> str:
    """The time of these activities, and its share of that of all kernels."""
    durations = found.trace.slices.duration_ns[found.launched.slice]
    nanos, total = int(durations[rows].sum()), int(durations[found.launched.is_kernel].sum())
    share = nanos / max(total, 1)
    return f"{nanos // NANOS_PER_MICRO:,} microseconds, {share:.2%} of the device time"
