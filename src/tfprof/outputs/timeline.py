"""Encode a view as a timeline for browsers: Chrome trace events in JSON.

A view of single ops, such as the graph view, becomes one file per step with real start times.
Other views become nested slices, whose durations are real but whose start times are not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import TypeAlias

import numpy as np

from tfprof.columns import Ints, Strings
from tfprof.metrics import Need
from tfprof.model.profile import ProfileColumns
from tfprof.outputs.parts import Part
from tfprof.outputs.pieces import Piece, digits, in_json, woven
from tfprof.views.memory_curve import MOST_HOLDERS, DeviceMemory
from tfprof.views.nested import nested
from tfprof.views.registry import Trait
from tfprof.views.schedule import Schedule, Ticks, left_out_note, schedule, scheduled_steps
from tfprof.views.view import View

Event: TypeAlias = dict[str, object]

# Block size: enough rows for efficient array operations, but little memory.
_BLOCK_ROWS = 1 << 15

_MEGABYTE = 1e6


def parts(view: View) -> Iterator[Part]:
    """The timelines of a view: one per step, or one for the whole tree."""
    view.profile.require(Need.RUNS, "A timeline requires the times of a run")
    if Trait.TIMED not in view.traits:
        yield Part(f"_{view.options.step}", _document(_slices(view)))
        return
    for step in scheduled_steps(view).tolist():
        plan = schedule(view, step, Ticks.MICROS)
        suffix = f"_{step_title(view.profile, step)}"
        yield Part(suffix, _document(_events(view, plan)), tuple(_notes(view, plan)))


def step_title(profile: ProfileColumns, step: int) -> str:
    """The number of a step, prefixed with its recording's label if there are several."""
    number = str(int(profile.steps.number[step]))
    if len(profile.recordings) == 1:
        return number
    label = profile.recordings.label[int(profile.steps.recording[step])]
    return f"{re.sub(r'[^A-Za-z0-9.-]', '_', label)}_{number}"


def _document(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """The whole document; each event in `blocks` begins with a comma."""
    before = b'{"traceEvents":['
    for block in blocks:
        if block:
            yield before + block[1:] if before else block
            before = b""
    yield before + b"]}\n"


def _encoded(events: Iterable[Event]) -> bytes:
    """The events as JSON, each with a leading comma."""
    texts = [json.dumps(event, sort_keys=True, separators=(",", ":")) for event in events]
    return "".join(f",{text}" for text in texts).encode()


def _blocks(rows: int) -> Iterator[Ints]:
    """The row numbers, in blocks."""
    for start in range(0, rows, _BLOCK_ROWS):
        yield np.arange(start, min(start + _BLOCK_ROWS, rows))


def _process(number: int, name: str) -> Event:
    return {"args": {"name": name}, "name": "process_name", "ph": "M", "pid": number}


def _slices(view: View) -> Iterator[bytes]:
    """The slices of a tree; each depth is a process, named before its first slice."""
    slices = nested(view)
    is_deeper = np.diff(np.maximum.accumulate(slices.depth), prepend=-1) > 0
    for rows in _blocks(len(slices)):
        name = in_json(view.name.take(slices.row[rows]))
        depth = slices.depth[rows]
        pieces: list[Piece] = [
            *(_depth_names(depth, np.flatnonzero(is_deeper[rows])), b',{"args":{"name":"', name),
            *(b'","op":"', name, b'"},"cat":"Op","dur":', digits(slices.duration[rows])),
            *(b',"name":"', name, b'","ph":"X","pid":', digits(depth)),
            *(b',"tid":0,"ts":', digits(slices.start[rows]), b"}"),
        ]
        yield woven(pieces, len(rows)).data


def _depth_names(depth: Ints, firsts: Ints) -> Strings:
    """An event that names the process, for each row that is the first of its depth."""
    number = digits(depth[firsts])
    head: list[Piece] = [b',{"args":{"name":"Scope:', number, b'"},"name":"process_name","ph":"M"']
    named = woven([*head, b',"pid":', number, b"}"], len(firsts))
    return _spread(named, firsts, len(depth), other=b"")


def _events(view: View, plan: Schedule) -> Iterator[bytes]:
    """The process names and runs, then the arrows, then the memory counters."""
    devices = [
        f"Op {'execution' if is_lane else 'scheduling'} threads: {name}"
        for name, is_lane in zip(plan.devices.name, plan.devices.is_accelerator_lane, strict=True)
    ]
    memory = [
        f"mem usage on:{view.profile.devices.name[curve.device]}{what}"
        for curve in plan.memory
        for what in ("", " allocations")
    ]
    yield _encoded(_process(number, name) for number, name in enumerate(devices))
    yield from _runs(view, plan)
    yield _encoded(_process(number, name) for number, name in enumerate(memory, len(devices)))
    yield from _flows(view, plan)
    for place, curve in enumerate(plan.memory):
        yield from _counters(view, curve, len(devices) + 2 * place)


def _runs(view: View, plan: Schedule) -> Iterator[bytes]:
    for rows in _blocks(len(plan.slots)):
        slots = plan.slots.take(rows)
        name = in_json(view.profile.ops.name.take(slots.op))
        pieces: list[Piece] = [
            *(b',{"args":{"name":"', name, b'"},"cat":"Op","dur":', digits(slots.duration)),
            *(b',"name":"', name, b'","ph":"X","pid":', digits(slots.device)),
            *(b',"tid":', digits(slots.lane), b',"ts":', digits(slots.start), b"}"),
        ]
        yield woven(pieces, len(rows)).data


def _flows(view: View, plan: Schedule) -> Iterator[bytes]:
    """Two events per arrow: the end of the producer and the start of the consumer."""
    for rows in _blocks(len(plan.flows)):
        producer = plan.slots.take(plan.flows.producer[rows])
        consumer = plan.slots.take(plan.flows.consumer[rows])
        number = digits(rows + 1)
        name = in_json(view.profile.ops.name.take(producer.op))
        head: list[Piece] = [b',{"cat":"DataFlow","id":', number, b',"name":"', name]
        pieces: list[Piece] = [
            *(*head, b'_flow","ph":"s","pid":', digits(producer.device)),
            *(b',"tid":', digits(producer.lane)),
            *(b',"ts":', digits(producer.start + producer.duration), b"}"),
            *(*head, b'_flow","ph":"t","pid":', digits(consumer.device)),
            *(b',"tid":', digits(consumer.lane)),
            *(b',"ts":', digits(consumer.start), b"}"),
        ]
        yield woven(pieces, len(rows)).data


def _counters(view: View, curve: DeviceMemory, process: int) -> Iterator[bytes]:
    """Two counters per point: the bytes in use, and the ops that held most of them."""
    for points in _blocks(len(curve)):
        time = digits(curve.time[points])
        in_use = digits(curve.in_use[points])
        pieces: list[Piece] = [
            *(b',{"args":{"Allocator Bytes in Use":', in_use, b'},"cat":"Memory",'),
            *(b'"name":"Allocated Bytes","ph":"C","pid":%d,"tid":0,"ts":' % process, time, b"}"),
            *(b',{"args":{', *_top_allocations(view, curve, points), b'},"cat":"Memory",'),
            b'"name":"Top Allocations","ph":"C","pid":%d,"tid":0,"ts":' % (process + 1),
            *(time, b"}"),
        ]
        yield woven(pieces, len(points)).data


def _top_allocations(view: View, curve: DeviceMemory, points: Ints) -> Iterator[Piece]:
    """The ops that held most memory at each point, largest first, and the remainder.

    Each key begins with the quote that ends the previous value.
    """
    yield b'"Not Displayed":"'
    yield Strings(f"{rest / _MEGABYTE:.2f} MB" for rest in curve.rest[points].tolist())
    first, counts = curve.holders.offsets[points], curve.holders.lengths[points]
    rows = np.arange(first[0], first[-1] + counts[-1])
    sizes = _megabytes(curve.holder_bytes[rows])
    names = in_json(view.profile.ops.name.take(curve.holders.values[rows]))
    holders = woven([b'":"', sizes, b" MB from ", names], len(rows))
    for place in range(MOST_HOLDERS):
        named = np.flatnonzero(counts > place)
        texts = holders.take(first[named] - first[0] + place)
        key = b'","Top Allocation %02d' % place
        # All points need the same keys, but the original omits the first one if it is empty.
        if place == 0:
            texts = woven([key, texts], len(named))
            yield _spread(texts, named, len(points), other=b"")
        else:
            yield key
            yield _spread(texts, named, len(points), other=b'":"N/A')
    yield b'"'


def _megabytes(sizes: Ints) -> Strings:
    """Each size in megabytes with six digits; equal sizes are formatted once."""
    distinct, code = np.unique(sizes, return_inverse=True)
    return Strings(f"{size / _MEGABYTE:g}" for size in distinct.tolist()).take(code)


def _spread(texts: Strings, rows: Ints, count: int, *, other: bytes) -> Strings:
    """A text for each of `count` rows: `texts` for those in `rows`, `other` for the rest."""
    starts = np.full(count, len(texts.data))
    ends = starts + len(other)
    starts[rows], ends[rows] = texts.starts, texts.ends
    return Strings.of_new_spans(texts.data + other, starts, ends)


def _notes(view: View, plan: Schedule) -> Iterator[str]:
    """Notes about the peak memory of each device, and about runs that are left out."""
    for curve in plan.memory:
        name = view.profile.devices.name[curve.device]
        yield f"{name} peak memory: {curve.peak / _MEGABYTE:.2f} MB"
    if plan.left_out:
        yield left_out_note(plan.left_out)
