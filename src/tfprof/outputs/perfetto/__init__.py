"""Encode a view as a trace in Perfetto's own format.

A view of single ops, such as the graph view, has real start times, with all steps in one file.
Other views become nested slices, whose durations are real but whose start times are not.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tfprof.columns import Bools, Ints, Ragged, Strings, distinct, ints, offsets_of
from tfprof.kernels.rows import grouped
from tfprof.metrics import BY_KEY, Need
from tfprof.model.profile import ProfileColumns
from tfprof.outputs.parts import Part
from tfprof.outputs.perfetto import arguments, packets
from tfprof.outputs.perfetto.packets import Interned, Type
from tfprof.outputs.perfetto.tracks import Group, Tracks
from tfprof.outputs.proto import number, only_where, repeated_fixed64
from tfprof.views.memory_curve import DeviceMemory
from tfprof.views.nested import nested
from tfprof.views.registry import Trait
from tfprof.views.schedule import Schedule, Ticks, schedule, scheduled_steps
from tfprof.views.tree import Tree
from tfprof.views.view import View


def parts(view: View) -> Iterator[Part]:
    """The trace, a single file."""
    view.profile.require(Need.RUNS, "A trace requires the times of a run")
    yield Part("", _packets(view))


def _packets(view: View) -> Iterator[bytes]:
    """The packets of the trace."""
    yield packets.opening()
    yield from _steps(view) if Trait.TIMED in view.traits else _tree(view)


def _tree(view: View) -> Iterator[bytes]:
    """Rows as nested slices, with the totals of the selected numbers as arguments."""
    slices = nested(view, "nanos")
    keys = [key for key in view.options.select if BY_KEY[key].is_number]
    yield packets.process(1, f"tfprof {view.kind}")
    yield packets.track(2, 1, "totals laid end to end", 0)
    yield from packets.interned(Interned.EVENT_NAMES, view.name.take(slices.row))
    yield from packets.interned(Interned.ARGUMENT_NAMES, Strings(f"total {key}" for key in keys))
    opens, closes = Tree.of_depths(slices.depth + 1).walk()
    place, is_begin = np.empty((2, 2 * len(slices)), np.int64)
    place[opens], is_begin[opens] = np.arange(len(slices)), 1
    place[closes], is_begin[closes] = np.arange(len(slices)), 0
    for some in packets.blocks(len(place)):
        at, begins = place[some], is_begin[some] > 0
        totals = arguments.totals(view, keys, slices.row[at])
        body = only_where(begins, [*number(10, at + 1), *totals])
        time = slices.start[at] + np.where(begins, 0, slices.duration[at])
        types = np.where(begins, Type.BEGIN, Type.END)
        yield packets.events(time, types, np.full(len(at), 2), [body])


def _steps(view: View) -> Iterator[bytes]:
    """Every step of the view, one after the other."""
    tracks, flows = Tracks(), 0
    for step in scheduled_steps(view).tolist():
        plan = schedule(view, step, Ticks.NANOS)
        if len(plan.slots):
            yield from _step(view, step, plan, tracks, flows)
            flows += len(plan.flows)


def _step(
    view: View, step: int, plan: Schedule, tracks: Tracks, flows_before: int
) -> Iterator[bytes]:
    """The runs of a step, and the memory in use."""
    slots, profile = plan.slots, view.profile
    names, number = profile.devices.name, int(profile.steps.number[step])
    start, end = int(slots.start.min()), int((slots.start + slots.duration).max())
    group = tracks.group(_recording(profile, step), start, end)
    steps = tracks.steps(group)
    track = _lane_tracks(plan, tracks, group)
    memory = [tracks.memory(names[curve.device], group) for curve in plan.memory]
    yield tracks.new()
    yield packets.one_slice(start, end - start, steps, f"step {number}")
    yield from _runs(profile, plan, track, arguments.of_step(number), flows_before)
    for curve, (usage, holders) in zip(plan.memory, memory, strict=True):
        for some in packets.blocks(len(curve)):
            yield packets.counters(curve.time[some], usage, curve.in_use[some])
            yield b"".join(
                packets.instant(time, holders, "Top Allocations", _holders(view, curve, point))
                for point, time in zip(some.tolist(), curve.time[some].tolist(), strict=True)
            )


def _recording(profile: ProfileColumns, step: int) -> str:
    """The label of a step's recording, or an empty string if there is only one."""
    label = profile.recordings.label[int(profile.steps.recording[step])]
    return label if len(profile.recordings) > 1 else ""


def _holders(view: View, curve: DeviceMemory, point: int) -> Iterator[tuple[str, int]]:
    """The ops that held most of the memory in use at a point, and the remainder."""
    start, end = curve.holders.offsets[point : point + 2].tolist()
    ops, held = curve.holders.values[start:end].tolist(), curve.holder_bytes[start:end].tolist()
    yield from zip((view.profile.ops.name[op] for op in ops), held, strict=True)
    yield "not displayed", int(curve.rest[point])


def _lane_tracks(plan: Schedule, tracks: Tracks, group: Group) -> Ints:
    """The track of each slot."""
    names = list(plan.devices.name)
    lanes = int(plan.slots.lane.max(initial=0)) + 1
    keys = plan.slots.device * lanes + plan.slots.lane
    used = distinct(keys)
    places = (divmod(key, lanes) for key in used.tolist())
    numbers = ints([tracks.lane(names[device], group, lane) for device, lane in places])
    return numbers[np.searchsorted(used, keys)]


def _runs(
    profile: ProfileColumns, plan: Schedule, track: Ints, of_step: bytes, flows_before: int
) -> Iterator[bytes]:
    """The slots of a step as slices, with their arguments and arrows."""
    slots = plan.slots
    ops = distinct(slots.op)
    place = np.searchsorted(ops, slots.op)
    of_ops = arguments.OpArguments(profile, ops)
    yield packets.clear_interned()
    yield from packets.interned(Interned.EVENT_NAMES, profile.ops.name.take(ops))
    yield from packets.interned(Interned.ARGUMENT_NAMES, arguments.argument_names())
    yield from of_ops.interned_texts()
    does_work = _does_work(plan)
    leaving, arriving = _arrows(plan, flows_before)
    for some in packets.blocks(len(slots)):
        at, duration = place[some], slots.duration[some]
        body = [
            *number(10, at + 1),
            of_step,
            *of_ops.of_runs(at, duration, does_work[slots.device[some]]),
            repeated_fixed64(47, leaving.take(some)),
            repeated_fixed64(48, arriving.take(some)),
        ]
        yield packets.slices(slots.start[some], duration, track[some], body)


def _does_work(plan: Schedule) -> Bools:
    """Which devices compute, rather than only dispatch work to another device."""
    devices = plan.devices
    by_itself = [host == name for host, name in zip(devices.host, devices.name, strict=True)]
    return devices.is_accelerator_lane | np.array(by_itself, np.bool_)


def _arrows(plan: Schedule, before: int) -> tuple[Ragged, Ragged]:
    """The numbers of the arrows that leave each slot, and of those that enter it."""
    slots, flows = len(plan.slots), plan.flows
    numbers = np.arange(len(flows)) + before + 1
    leaving = offsets_of(np.bincount(flows.producer, minlength=slots))
    arriving = offsets_of(np.bincount(flows.consumer, minlength=slots))
    order = grouped(flows.consumer, slots)
    return Ragged(leaving, numbers), Ragged(arriving, numbers[order])
