"""A timeline of recorded steps for trace viewers: Chrome trace events in JSON.

It has every run of every op, in lanes per device, the steps, waits for input and transfers. Unlike
`step_timeline.py` it is made from a profile, so it also shows recordings of TensorFlow 2.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfprof.columns import Bools, Ints, Strings
from tfprof.kernels import lanes
from tfprof.measures.numbers import chosen_steps
from tfprof.model.profile import ProfileColumns
from tfprof.units import exact_micros
from tfprof.views.steps import StepTime, StepTimes
from tfprof.views.view import chosen_by

_STEPS = "steps"
_WAITS = "input wait"


@dataclass(frozen=True, slots=True, eq=False)
class _Track:
    """Slices that are drawn together, in as many lanes as they need."""

    title: str
    name: Strings
    kind: Strings
    start: Ints
    duration: Ints


def encode(profile: ProfileColumns, times: StepTimes) -> Iterator[bytes]:
    """The document for these steps, of which there is at least one."""
    base = min(step.start_ns for step in times.steps)
    before = b'{"displayTimeUnit":"ns","traceEvents":[\n'
    for number, track in enumerate(_tracks(profile, times)):
        for event in _events(track, number, base):
            yield before + json.dumps(event, separators=(",", ":")).encode()
            before = b",\n"
    yield b"\n]}\n"


def _tracks(profile: ProfileColumns, times: StepTimes) -> Iterator[_Track]:
    steps, rows = times.steps, chosen_steps(profile, chosen_by(times.options))
    is_chosen = np.zeros(len(profile.steps), np.bool_)
    is_chosen[rows] = True
    for recording in np.unique(profile.steps.recording[rows]).tolist():
        label = profile.recordings.label[recording]
        prefix = f"{label}: " if len(profile.recordings) > 1 else ""
        here = is_chosen & (profile.steps.recording == recording)
        yield _step_track(f"{prefix}{_STEPS}", [one for one in steps if one.recording == label])
        waits = profile.waits
        waited = np.flatnonzero(here[waits.step])
        if len(waited):
            names = Strings(["waiting for the next element"]).take(np.zeros(len(waited), np.int64))
            start, duration = waits.start_ns[waited], waits.duration_ns[waited]
            yield _Track(f"{prefix}{_WAITS}", names, names, start, duration)
        yield from _device_tracks(profile, prefix, here)


def _step_track(title: str, steps: Sequence[StepTime]) -> _Track:
    names = Strings([f"step {step.step}" for step in steps])
    start = np.array([step.start_ns for step in steps], np.int64)
    return _Track(title, names, names, start, np.array([one.wall_ns for one in steps], np.int64))


def _device_tracks(profile: ProfileColumns, prefix: str, here: Bools) -> Iterator[_Track]:
    runs, records, copies = profile.executions, profile.records, profile.copies
    chosen = np.flatnonzero(here[records.step[runs.record]])
    for device in np.unique(runs.device[chosen]).tolist():
        rows = chosen[runs.device[chosen] == device]
        op = records.op[runs.record[rows]]
        kinds = profile.ops.kind.values.take(profile.ops.kind.codes[op])
        yield _Track(
            f"{prefix}{profile.devices.name[device]}",
            profile.ops.name.take(op),
            kinds,
            runs.start_ns[rows],
            runs.duration_ns[rows],
        )
    copied = np.flatnonzero(here[copies.step])
    for device in np.unique(copies.device[copied]).tolist():
        rows = copied[copies.device[copied] == device]
        names = copies.name.values.take(copies.name.codes[rows])
        title = f"{prefix}{profile.devices.name[device]} (transfers)"
        yield _Track(title, names, names, copies.start_ns[rows], copies.duration_ns[rows])


def _events(track: _Track, number: int, base: int) -> Iterator[dict[str, Any]]:
    yield {"ph": "M", "name": "process_name", "pid": number, "args": {"name": track.title}}
    yield {"ph": "M", "name": "process_sort_index", "pid": number, "args": {"sort_index": number}}
    order = np.argsort(track.start, kind="stable")
    start = np.ascontiguousarray(track.start[order])
    end = np.ascontiguousarray(start + np.maximum(track.duration[order], 0))
    # A slice may start when another ends; lanes are free only after that.
    lane = lanes.first_free(start, np.maximum(end - 1, start), np.array([0, len(order)]))
    columns = (order, lane, start - base, track.duration[order])
    for row, place, begin, took in zip(*(column.tolist() for column in columns), strict=True):
        yield {
            "ph": "X",
            "name": track.name[row],
            "cat": track.kind[row],
            "pid": number,
            "tid": place,
            "ts": exact_micros(begin),
            "dur": exact_micros(max(took, 0)),
        }
