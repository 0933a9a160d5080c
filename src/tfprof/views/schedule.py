"""The timeline of one step: when each op of a view ran on which device, its consumers, and memory.

Only views whose rows are single ops have a timeline, and only the ops that they show appear in it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from tfprof.columns import Bools, Ints, Ragged, distinct, offsets_of, places_of
from tfprof.errors import OutputError
from tfprof.kernels import lanes
from tfprof.kernels.rows import grouped
from tfprof.measures.numbers import chosen_steps
from tfprof.measures.time import run_micros
from tfprof.model.clock import NANOS_PER_MICRO, NO_TIME
from tfprof.model.devices import Devices
from tfprof.model.profile import ProfileColumns
from tfprof.views.accounting import matching_regexes
from tfprof.views.memory_curve import DeviceMemory, curves
from tfprof.views.view import View, build, chosen_by

# Every run of an op is linked to every run of its consumers; loops may have too many links to draw.
MOST_FLOWS = 1 << 24


class Ticks:
    """The unit of a schedule's times, in nanoseconds."""

    MICROS: Final = NANOS_PER_MICRO  # classic: a device has one run per starting microsecond
    NANOS: Final = 1  # all runs, with their recorded times


@dataclass(frozen=True, slots=True, eq=False)
class Slots:
    """One row per run, sorted by device, lane and start; runs in the same lane do not overlap."""

    op: Ints
    device: Ints  # a row of `Schedule.devices`
    lane: Ints  # counted from 0 on each device
    start: Ints  # in ticks, like `duration`
    duration: Ints
    run: Ints  # a row of `ProfileColumns.executions`

    def __len__(self) -> int:
        return len(self.op)

    def take(self, rows: Ints) -> Slots:
        """The slots of `rows`, in that order."""
        columns = (self.op, self.device, self.lane, self.start, self.duration, self.run)
        return Slots(*(column[rows] for column in columns))


@dataclass(frozen=True, slots=True, eq=False)
class Flows:
    """One row per data flow between runs on different devices, sorted by producer."""

    producer: Ints  # a row of `Schedule.slots`, like `consumer`
    consumer: Ints

    def __len__(self) -> int:
        return len(self.producer)


class Schedule(NamedTuple):
    """One step of the ops that a view shows, laid out in time."""

    devices: Devices  # the devices that were used, in the order of the view's ops
    slots: Slots
    flows: Flows
    memory: tuple[DeviceMemory, ...]  # of the accelerators, sorted by name
    left_out: int  # runs without a slot because another run started on their device with them


def left_out_note(runs: int) -> str:
    """The note on how many runs have no slot."""
    are = "1 run is" if runs == 1 else f"{runs:,} runs are"
    return (
        f"{are} left out: this format shows one op per device and starting microsecond; "
        "perfetto:outfile=F has all runs."
    )


def schedule(view: View, step: int, ticks: int) -> Schedule:
    """Lay out one step (a row of `Steps`) of the ops that a view shows in time.

    A view of several steps is rebuilt for this step. In microseconds, only the first of the runs
    that start on a device at the same time is kept.
    """
    view = _of_step(view, step)
    tracked = _tracked(view, step)
    devices, slots, left_out = _slots(view.profile, tracked, ticks)
    order = _by_lane(slots, len(devices))
    return Schedule(
        devices=view.profile.devices.take(devices),
        slots=slots.take(order),
        flows=_by_producer(_flows(view, tracked, devices, slots, ticks), order),
        memory=tuple(curves(view.profile, tracked.home, tracked.record, tracked.shown, ticks)),
        left_out=left_out,
    )


def scheduled_steps(view: View) -> Ints:
    """The rows of the steps that a view covers; each step has its own schedule."""
    return chosen_steps(view.profile, chosen_by(view.options))


def _of_step(view: View, step: int) -> View:
    """The view of only one step."""
    if scheduled_steps(view).tolist() == [step] and view.options.step >= 0:
        return view
    profile = view.profile
    label = profile.recordings.label[int(profile.steps.recording[step])]
    number = int(profile.steps.number[step])
    several = {"recording": [re.escape(label)]} if len(profile.recordings) > 1 else {}
    return build(view.kind, profile, view.options.but(step=number, **several))


class _Tracked(NamedTuple):
    """The ops that have a device and a start time in a step."""

    home: Ints  # the device of each op in the step's recording, -1 for none
    record: Ints  # the record of each op, -1 for none
    shown: Ints  # the ops that the view shows, in the order of the view


def _tracked(view: View, step: int) -> _Tracked:
    records, ops = view.profile.records, view.profile.ops
    rows = np.flatnonzero((records.step == step) & (records.first_start_ns != NO_TIME))
    home = view.profile.home(int(view.profile.steps.recording[step]))
    rows = rows[home[records.op[rows]] >= 0]
    record = np.full(len(ops), -1, np.int64)
    record[records.op[rows]] = rows
    shown = view.members.values
    return _Tracked(home, record, shown[record[shown] >= 0])


def _slots(profile: ProfileColumns, tracked: _Tracked, ticks: int) -> tuple[Ints, Slots, int]:
    """The used devices, the slots by device name and start, and the number of runs left out."""
    runs, devices = profile.executions, profile.devices
    found = profile.records.rows_of(runs.record).take(tracked.record[tracked.shown])
    is_kept = (devices.is_placement | devices.is_accelerator_lane)[runs.device[found.values]]
    rows, walk = found.values[is_kept], found.owners[is_kept]
    by_name = devices.name.order()
    rank = places_of(by_name, len(devices))[runs.device[rows]]
    met = by_name[_by_first_use(walk, rank, len(devices))]
    start = runs.start_ns[rows] // ticks
    order = np.lexsort((start, rank))
    if ticks == Ticks.MICROS:
        order = order[_is_new(rank[order], start[order])]
    left_out = len(rows) - len(order)
    rows, walk, start = rows[order], walk[order], start[order]
    device = places_of(met, len(devices))[runs.device[rows]]
    duration = (run_micros(profile) if ticks == Ticks.MICROS else runs.duration_ns)[rows]
    lane = _lanes(device, start, duration)
    return met, Slots(tracked.shown[walk], device, lane, start, duration, rows), left_out


def _by_first_use(walk: Ints, rank: Ints, ranks: int) -> Ints:
    """The distinct ranks in the order of their first position in the walk, then by rank."""
    never = np.iinfo(np.int64).max
    first = np.full(ranks, never)
    np.minimum.at(first, rank, walk)
    order = np.argsort(first, kind="stable")
    return order[first[order] < never]


def _is_new(device: Ints, start: Ints) -> Bools:
    """Which rows differ from the previous one."""
    flags = np.ones(len(start), np.bool_)
    flags[1:] = (device[1:] != device[:-1]) | (start[1:] != start[:-1])
    return flags


def _lanes(device: Ints, start: Ints, duration: Ints) -> Ints:
    """The first free lane of each slot's device; a slot may begin when the previous one ends."""
    # A slot takes at least one tick, even if a broken clock ends it before its start.
    last = np.maximum(start + duration, start + 1) - 1
    return lanes.first_free(start, last, _device_edges(device))


def _device_edges(device: Ints) -> Ints:
    """The index of the first slot of each device, and the number of slots."""
    is_first = np.ones(len(device), np.bool_)
    is_first[1:] = device[1:] != device[:-1]
    return np.append(np.flatnonzero(is_first), len(device))


def _by_lane(slots: Slots, devices: int) -> Ints:
    """The order of the slots by device, lane and start."""
    lanes = np.zeros(devices, np.int64)
    np.maximum.at(lanes, slots.device, slots.lane + 1)
    first_lane = offsets_of(lanes)
    return grouped(first_lane[slots.device] + slots.lane, int(first_lane[-1]))


def _flows(view: View, tracked: _Tracked, devices: Ints, slots: Slots, ticks: int) -> Flows:
    """The flows between slots, as rows of `slots`, sorted by consumer."""
    profile = view.profile
    consumer = np.flatnonzero(profile.devices.is_placement[devices][slots.device])
    if len(distinct(slots.device[consumer])) < 2:
        return Flows(consumer[:0], consumer[:0])
    runs = _dispatches(profile)
    run_counts = np.append(runs.lengths, 0)[tracked.record]
    sources = _sources_elsewhere(profile, tracked.home, (run_counts > 0) & _is_accounted(view))
    uses = sources.sums(run_counts[sources.values])[slots.op[consumer]]
    # Summed as floats because the sum may overflow an integer.
    if (count := uses.sum(dtype=np.float64)) > MOST_FLOWS:
        raise OutputError(
            f"A timeline with {count:,.0f} arrows from runs to runs on other devices is too large: "
            "show fewer ops with show_name_regexes, or account for fewer with "
            "account_type_regexes."
        )
    taken = sources.take(slots.op[consumer])
    linked = runs.take(tracked.record[taken.values])
    consumer = consumer[taken.owners][linked.owners]
    run = profile.executions
    if ticks == Ticks.NANOS:
        producer = places_of(slots.run, len(run))[linked.values]
    else:
        # A run without a slot uses the slot that starts on its device at the same time.
        device = places_of(devices, len(profile.devices))[run.device[linked.values]]
        producer = _find(slots, device, run.start_ns[linked.values] // ticks)
    return Flows(producer[producer >= 0], consumer[producer >= 0])


def _is_accounted(view: View) -> Bools:
    counts = matching_regexes(view.profile, view.options.account_type_regexes)
    return (counts > 0) | view.options.patterns("account_type_regexes").is_everything


def _sources_elsewhere(profile: ProfileColumns, home: Ints, is_wanted: Bools) -> Ragged:
    """The wanted inputs of each op that are placed on another device, by position."""
    inputs = profile.ops.inputs
    edges = Ragged(inputs.offsets, inputs.source)
    known = inputs.source >= 0
    flags = known & is_wanted[inputs.source] & (home[inputs.source] != home[edges.owners])
    return edges.where(flags)


def _dispatches(profile: ProfileColumns) -> Ragged:
    """The runs of each record on the device that its op is placed on."""
    runs, devices = profile.executions, profile.devices
    flags = (devices.is_placement & ~devices.is_accelerator_lane)[runs.device]
    return profile.records.rows_of(runs.record).where(flags)


def _find(slots: Slots, device: Ints, start: Ints) -> Ints:
    """The slot that begins on each device at each start, -1 if there is none."""
    found = np.full(len(start), -1, np.int64)
    order = np.argsort(device, kind="stable")
    ordered = device[order]
    edges = _device_edges(slots.device).tolist()
    for rows in map(slice, edges[:-1], edges[1:]):
        first, end = np.searchsorted(ordered, slots.device[rows.start] + np.arange(2))
        wanted, starts = order[first:end], slots.start[rows]
        at = np.minimum(np.searchsorted(starts, start[wanted]), len(starts) - 1)
        found[wanted] = np.where(starts[at] == start[wanted], rows.start + at, -1)
    return found


def _by_producer(flows: Flows, order: Ints) -> Flows:
    """The flows sorted by producer, as rows of the slots in `order`."""
    place = places_of(order, len(order))
    producer, consumer = place[flows.producer], place[flows.consumer]
    rows = grouped(producer, len(order))
    return Flows(producer[rows], consumer[rows])
