"""What PyTorch writes differently in old versions, or wrongly: categories, and unknown times."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tfprof.columns import Coded, Strings
from tfprof.formats.kineto import fields
from tfprof.formats.kineto.columns import Trace

_SECOND = 1_000_000_000
_NEVER = fields.LATEST_NS


def repaired(trace: Trace) -> Trace:
    """The trace as a version of today would write it."""
    return _with_known_starts(_with_new_categories(trace))


def _with_new_categories(trace: Trace) -> Trace:
    """The trace with the categories of today.

    Annotations had the category of ops. Ops have a namespace, are backward ops or have a number.
    """
    category, name = trace.slices.category, trace.slices.name
    if fields.OLD_CATEGORIES.keys().isdisjoint(category.values):
        return trace
    names = [fields.OLD_CATEGORIES.get(one, one) for one in category.values]
    is_old_op = np.array([one == fields.OLD_OP for one in category.values], np.bool_)
    is_plain = np.array(["::" not in one and "Backward" not in one for one in name.values])
    is_annotation = is_old_op[category.codes] & is_plain[name.codes]
    is_annotation &= trace.slices.sequence < 0
    codes = np.where(is_annotation, len(names), category.codes)
    renamed = Coded.joined([Coded(codes, Strings([*names, fields.ANNOTATION]))])
    return replace(trace, slices=replace(trace.slices, category=renamed))


def _with_known_starts(trace: Trace) -> Trace:
    """The trace, in which events that start at 0 do not, if all others are much later.

    Kineto writes 0 for a time before the base time of the trace.
    The durations of kernels, copies and fills are still known, so these start with the first event.
    Events of the host lose their category: what they contain is unknown.
    """
    slices, memory = trace.slices, trace.memory
    category = slices.category
    is_lost = slices.start_ns <= 0
    if not (is_lost.any() or (memory.time_ns <= 0).any()):
        return trace
    # The span of the profiler itself begins before the events.
    is_event = np.array([name != "Trace" for name in category.values], np.bool_)[category.codes]
    is_known = is_event & ~is_lost
    known = slices.start_ns[is_known]
    first = int(known.min(initial=_NEVER))
    last = int((known + slices.duration_ns[is_known]).max(initial=0))
    longest = max(last - first, _SECOND)
    if first == _NEVER or first <= longest:  # a program that was recorded from its start
        return trace
    flags = np.array([name in fields.ON_STREAMS for name in category.values], np.bool_)
    is_left_out = is_lost & ~flags[category.codes]
    codes = np.where(is_left_out, len(category.values), category.codes)
    return replace(
        trace,
        slices=replace(
            slices,
            start_ns=np.where(is_lost, first, slices.start_ns),
            category=Coded.joined([Coded(codes, Strings([*category.values, ""]))]),
        ),
        memory=replace(memory, time_ns=np.where(memory.time_ns <= 0, first, memory.time_ns)),
        unplaced_events=int(is_lost.sum()),
    )
