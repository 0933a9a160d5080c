"""What an accelerator did at each instant: one part for each, so that parts add up to any window.

While several things happen at once, the first of `PARTS` counts: computing before communication,
both before copies, and work of the accelerator before what the host did meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from tfprof.columns import Bools, Ints, ints
from tfprof.measures.collectives import is_collective
from tfprof.measures.host_waits import is_host_wait
from tfprof.measures.steps import input_feeds
from tfprof.memo import remembered, remembering
from tfprof.model.clock import NO_TIME
from tfprof.model.ops import UNATTRIBUTED_SCOPE, Phase
from tfprof.model.profile import ProfileColumns

Intervals = tuple[Ints, Ints]  # starts and ends

_WORK = [phase for phase in Phase if phase != Phase.COMMUNICATION]
# Kernels, by the phase of their ops.
COMPUTING = {phase: phase.name.lower() for phase in _WORK}
COMMUNICATION, COPIES = "exposed_communication", "exposed_copies"
# What the host did while the accelerator was idle. Outside of its recorded time that is unknown.
IDLE_INPUT, IDLE_COMMUNICATION = "idle_input", "idle_communication"
IDLE_TRANSFERS, IDLE_WAITING = "idle_transfers", "idle_waiting"
IDLE_OPS = {
    phase: f"idle_{phase.name.lower()}"
    for phase in (Phase.FORWARD, Phase.BACKWARD, Phase.OPTIMIZER, Phase.OTHER)
}
IDLE_NOTHING, UNASSIGNED = "idle_nothing", "unassigned"

BUSY = (*COMPUTING.values(), COMMUNICATION, COPIES)
IDLE = (
    *(IDLE_INPUT, IDLE_COMMUNICATION, IDLE_TRANSFERS, IDLE_WAITING),
    *(*IDLE_OPS.values(), IDLE_NOTHING, UNASSIGNED),
)
PARTS = (*BUSY, *IDLE)
# Not a part: communication while the accelerator computed.
OVERLAPPED = "overlapped_communication"


@dataclass(frozen=True, slots=True, eq=False)
class Timeline:
    """Stretches of time, each with its part, until the next one begins."""

    time: Ints  # ascending
    part: Ints  # a row of `PARTS`; the last one is `UNASSIGNED`, as is any time before
    is_overlapped: Bools

    def within(self, begin: Ints, finish: Ints) -> dict[str, Ints]:
        """How much of each window each part has, and the overlapped communication."""
        found = {
            name: self._sums(self.part == row, begin, finish)
            for row, name in enumerate(PARTS)
            if name != UNASSIGNED
        }
        found[UNASSIGNED] = finish - begin - np.sum(list(found.values()), axis=0)
        return found | {OVERLAPPED: self._sums(self.is_overlapped, begin, finish)}

    @property
    def exposed(self) -> Intervals:
        """The stretches of exposed communication; some may touch."""
        rows = np.flatnonzero(self.part == PARTS.index(COMMUNICATION))
        return self.time[rows], self.time[rows + 1]  # the last stretch is idle

    def _sums(self, flags: Bools, begin: Ints, finish: Ints) -> Ints:
        rows = np.flatnonzero(flags)
        return covered_within(self.time[rows], self.time[rows + 1], begin, finish)


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """The work of an accelerator: kernels and transfers, each in order of their starts."""

    recording: int
    name: str
    op: Ints  # of each kernel
    step: Ints  # in which it was launched, a row of `Steps`
    lane: Ints  # the stream, a row of `Devices`
    kernel_start: Ints
    kernel_end: Ints
    is_early: Bools  # kernels that were launched before the recording
    copy: Ints  # rows of `Copies`
    copy_start: Ints
    copy_end: Ints

    def of_step(self, step: int, step_of_copy: Ints) -> Work:
        """What one step launched."""
        kernels = self.step == step
        copies = step_of_copy[self.copy] == step
        return replace(
            self,
            op=self.op[kernels],
            step=self.step[kernels],
            lane=self.lane[kernels],
            kernel_start=self.kernel_start[kernels],
            kernel_end=self.kernel_end[kernels],
            is_early=self.is_early[kernels],
            copy=self.copy[copies],
            copy_start=self.copy_start[copies],
            copy_end=self.copy_end[copies],
        )

    def span(self) -> tuple[int, int]:
        """From the first start to the last end."""
        start = np.concatenate((self.kernel_start, self.copy_start))
        end = np.concatenate((self.kernel_end, self.copy_end))
        return int(start.min()), int(end.max())


@remembered
def accelerators(profile: ProfileColumns) -> list[Work]:
    """The work of each accelerator of each recording, sorted by recording, then name."""
    runs, copies, devices = profile.executions, profile.copies, profile.devices
    name = np.array([*(accelerator_of(one) for one in devices.name), ""])
    on_lane = np.flatnonzero(devices.is_accelerator_lane[runs.device])
    by_start = np.argsort(runs.start_ns[on_lane], kind="stable")
    on_lane = on_lane[by_start]
    copied = np.argsort(copies.start_ns, kind="stable")
    found = []
    lanes = np.unique(runs.device[on_lane]).tolist()
    keys = {(int(devices.recording[lane]), str(name[lane])) for lane in lanes}
    for recording, one in sorted(keys):
        is_here = (devices.recording == recording) & (name[:-1] == one)
        rows = on_lane[is_here[runs.device[on_lane]]]
        kept = copied[is_here[copies.device[copied]]]
        found.append(
            Work(
                recording,
                one,
                op=profile.records.op[runs.record[rows]],
                step=profile.records.step[runs.record[rows]],
                lane=runs.device[rows],
                kernel_start=runs.start_ns[rows],
                kernel_end=_ends(runs.start_ns[rows], runs.duration_ns[rows]),
                is_early=_early(profile, rows),
                copy=kept,
                copy_start=copies.start_ns[kept],
                copy_end=_ends(copies.start_ns[kept], copies.duration_ns[kept]),
            )
        )
    return found


def _early(profile: ProfileColumns, rows: Ints) -> Bools:
    """Which of these kernels, in order of their starts, were launched before the recording.

    On their stream they precede the first one whose launch was recorded.
    """
    runs = profile.executions
    is_known = ~profile.ops.name.starts_with(f"{UNATTRIBUTED_SCOPE}/")
    known = is_known[profile.records.op[runs.record[rows]]]
    first = np.full(len(profile.devices), np.iinfo(np.int64).min)
    places = np.flatnonzero(known)[::-1]
    first[runs.device[rows[places]]] = runs.start_ns[rows[places]]
    found: Bools = ~known & (runs.start_ns[rows] < first[runs.device[rows]])
    return found


def accelerator_of(device: str) -> str:
    """The accelerator that a stream, or the lane of its transfers, belongs to."""
    return device.partition("/stream:")[0].removesuffix("/memcpy")


def _ends(start: Ints, duration: Ints) -> Ints:
    """The ends of runs; in a damaged file one may end before it starts."""
    return ints(start + np.maximum(duration, 0))


_EVERY_STEP = -1


@remembering(4)
def timeline(profile: ProfileColumns, rows: tuple[int, ...], step: int = _EVERY_STEP) -> Timeline:
    """The timeline of these rows of `accelerators`, all of one recording, together.

    With a step, only what belongs to it counts.
    """
    works = [accelerators(profile)[row] for row in rows]
    if step != _EVERY_STEP:
        works = [work.of_step(step, profile.copies.step) for work in works]
    host = _host(profile, works[0].recording, step)
    intervals = {name: host.get(name, _NOTHING) for name in IDLE}
    is_shared = is_collective(profile)
    kernels = [(np.append(profile.phase, -1)[work.op], is_shared[work.op], work) for work in works]

    def joined(flags: list[Bools]) -> Intervals:
        return (
            np.concatenate([one.kernel_start[on] for one, on in zip(works, flags, strict=True)]),
            np.concatenate([one.kernel_end[on] for one, on in zip(works, flags, strict=True)]),
        )

    for phase, name in COMPUTING.items():
        intervals[name] = joined([(of == phase) & ~shared for of, shared, _ in kernels])
    intervals[COMMUNICATION] = joined([shared for _, shared, _ in kernels])
    intervals[COPIES] = (
        np.concatenate([one.copy_start for one in works]),
        np.concatenate([one.copy_end for one in works]),
    )
    known = host.get(UNASSIGNED, _NOTHING)
    return _divided(intervals, known)


_NOTHING: Intervals = (np.zeros(0, np.int64), np.zeros(0, np.int64))


@remembering(4)
def _host(profile: ProfileColumns, recording: int, step: int) -> Mapping[str, Intervals]:
    """What the host of a recording did, and when; `UNASSIGNED` is the time that was recorded."""

    def of_step(steps: Ints) -> Bools:
        return np.ones(len(steps), np.bool_) if step == _EVERY_STEP else steps == step

    runs, records, devices = profile.executions, profile.records, profile.devices
    op = records.op[runs.record]
    is_here = (devices.recording == recording) & ~devices.is_accelerator_lane
    is_work = is_here[runs.device] & ~profile.ops.is_iterator()[op]
    rows = np.flatnonzero(is_work & of_step(records.step)[runs.record])
    op, start = op[rows], runs.start_ns[rows]
    end = _ends(start, runs.duration_ns[rows])
    phase, found = profile.phase[op], {}
    for name, flags in _meanwhile(profile, op, phase):
        found[name] = start[flags], end[flags]
    waits = profile.waits
    waited = (profile.steps.recording[waits.step] == recording) & of_step(waits.step)
    found[IDLE_INPUT] = (
        np.concatenate((found[IDLE_INPUT][0], waits.start_ns[waited])),
        np.concatenate(
            (found[IDLE_INPUT][1], _ends(waits.start_ns[waited], waits.duration_ns[waited]))
        ),
    )
    copies, lanes = profile.copies, {one.name for one in accelerators(profile)}
    elsewhere = np.array([accelerator_of(one) not in lanes for one in devices.name], np.bool_)
    is_moved = (elsewhere & (devices.recording == recording))[copies.device]
    moved = np.flatnonzero(is_moved & of_step(copies.step))
    found[IDLE_TRANSFERS] = (
        copies.start_ns[moved],
        _ends(copies.start_ns[moved], copies.duration_ns[moved]),
    )
    begins, ends = _marked(profile, recording)
    begins, ends = np.concatenate((start, begins)), np.concatenate((end, ends))
    found[UNASSIGNED] = ints(begins[:1]), ints(ends[:1])
    if len(begins):
        found[UNASSIGNED] = ints([begins.min()]), ints([ends.max()])
    return found


def _marked(profile: ProfileColumns, recording: int) -> Intervals:
    """The steps of a recording whose begin and end the program marked."""
    steps = profile.steps
    has_bounds = (steps.start_ns != NO_TIME) & (steps.end_ns != NO_TIME)
    is_marked = (steps.recording == recording) & has_bounds
    return steps.start_ns[is_marked], steps.end_ns[is_marked]


def _meanwhile(profile: ProfileColumns, op: Ints, phase: Ints) -> Iterator[tuple[str, Bools]]:
    yield IDLE_INPUT, input_feeds(profile)[op]
    yield IDLE_COMMUNICATION, phase == Phase.COMMUNICATION
    yield IDLE_WAITING, is_host_wait(profile)[op]
    for one, name in IDLE_OPS.items():
        yield name, phase == one


def _divided(intervals: Mapping[str, Intervals], known: Intervals) -> Timeline:
    """The stretches between all starts and ends, each with the first part that is active."""
    merged = {name: _merged(*intervals[name]) for name in PARTS if name != UNASSIGNED}
    merged[UNASSIGNED] = known
    time = np.unique(np.concatenate([column for pair in merged.values() for column in pair]))
    part = np.full(len(time), PARTS.index(UNASSIGNED))
    is_active = {}
    part[_active(*known, time)] = PARTS.index(IDLE_NOTHING)
    for row in range(len(PARTS) - 3, -1, -1):
        is_active[PARTS[row]] = _active(*merged[PARTS[row]], time)
        part[is_active[PARTS[row]]] = row
    computes = np.logical_or.reduce([is_active[name] for name in COMPUTING.values()])
    return Timeline(ints(time), ints(part), computes & is_active[COMMUNICATION])


def _merged(start: Ints, end: Ints) -> Intervals:
    """The same time as intervals that do not touch, in ascending order."""
    order = np.argsort(start, kind="stable")
    start, end = start[order], end[order]
    if not len(start):
        return start, end
    reach = np.maximum.accumulate(end)
    is_first = np.append(True, start[1:] > reach[:-1])
    first = np.flatnonzero(is_first)
    return start[first], reach[np.append(first[1:] - 1, len(start) - 1)]


def uncovered(intervals: Intervals, others: Intervals) -> Intervals:
    """The time that is in `intervals` and in none of the others; some of the results may touch."""
    wanted, rest = _merged(*intervals), _merged(*others)
    time = np.unique(np.concatenate((*wanted, *rest)))
    rows = np.flatnonzero(_active(*wanted, time) & ~_active(*rest, time))
    return time[rows], time[rows + 1]


def covered_within(start: Ints, end: Ints, begin: Ints, finish: Ints) -> Ints:
    """How much of each window from `begin` to `finish` is covered by intervals."""
    start, end = _merged(start, end)
    if not len(start):
        return np.zeros(len(begin), np.int64)
    until = np.append(0, np.cumsum(end - start))

    def before(time: Ints) -> Ints:
        place = np.searchsorted(start, time, side="right") - 1
        at = np.maximum(place, 0)
        covered = until[at] + np.minimum(time, end[at]) - start[at]
        return np.where(place >= 0, covered, 0)

    return before(finish) - before(begin)


def _active(start: Ints, end: Ints, time: Ints) -> Bools:
    """Whether one of these intervals, which do not touch, covers the time after each point."""
    if not len(start):
        return np.zeros(len(time), np.bool_)
    place = np.searchsorted(start, time, side="right") - 1
    found: Bools = (place >= 0) & (time < end[np.maximum(place, 0)])
    return found
