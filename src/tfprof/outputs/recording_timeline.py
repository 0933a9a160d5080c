"""A timeline of recorded steps for trace viewers: Chrome trace events in JSON.

It has every run of every op, in lanes per device, the steps, waits for input and transfers. Unlike
`step_timeline.py` it is made from a profile, so it also shows recordings of TensorFlow 2 and
PyTorch.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tfprof.model.profile import ProfileColumns
from tfprof.units import exact_micros
from tfprof.views import tracks
from tfprof.views.steps import StepTimes
from tfprof.views.tracks import Track, TrackKind


def encode(profile: ProfileColumns, times: StepTimes) -> Iterator[bytes]:
    """The document for these steps, of which there is at least one."""
    base = min(step.start_ns for step in times.steps)
    before = b'{"displayTimeUnit":"ns","traceEvents":[\n'
    for number, track in enumerate(tracks.build(profile, times)):
        for event in _events(track, _title(profile, track), number, base):
            yield before + json.dumps(event, separators=(",", ":")).encode()
            before = b",\n"
    yield b"\n]}\n"


def _title(profile: ProfileColumns, track: Track) -> str:
    """The name of a track, prefixed with its recording's label if there are several."""
    label = profile.recordings.label[track.recording]
    prefix = f"{label}: " if len(profile.recordings) > 1 else ""
    if track.device < 0:
        return f"{prefix}{track.kind.value}"
    suffix = f" ({track.kind.value})" if track.kind is TrackKind.TRANSFERS else ""
    return f"{prefix}{profile.devices.name[track.device]}{suffix}"


def _events(track: Track, title: str, number: int, base: int) -> Iterator[dict[str, Any]]:
    yield {"ph": "M", "name": "process_name", "pid": number, "args": {"name": title}}
    yield {"ph": "M", "name": "process_sort_index", "pid": number, "args": {"sort_index": number}}
    slices = track.slices
    columns = (track.lane, slices.start_ns - base, slices.duration_ns)
    places = zip(*(column.tolist() for column in columns), strict=True)
    for row, (lane, start, duration) in enumerate(places):
        yield {
            "ph": "X",
            "name": slices.name[row],
            "cat": slices.category[row],
            "pid": number,
            "tid": lane,
            "ts": exact_micros(start),
            "dur": exact_micros(duration),
        }
