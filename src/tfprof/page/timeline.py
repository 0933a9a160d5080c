"""The section `timeline`: every run in its lane, and the times of steps.

Times are nanoseconds from the start of the first step, or of the first step of each recording if
these are far apart. Runs are columns over all tracks; a track is a range of rows in order of their
starts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from tfprof.columns import Bools, Coded, Ints, Strings, ints, joined
from tfprof.errors import MissingInputError
from tfprof.measures.step_sums import busy_devices
from tfprof.metrics import Need
from tfprof.model.profile import ProfileColumns
from tfprof.options import StepOptions
from tfprof.views import steps, tracks
from tfprof.views.steps import StepTime, StepTimes
from tfprof.views.tracks import Track, TrackKind

# Of all tracks together; they take about three megabytes of the page.
MOST_RUNS = 300_000

_NO_TIMES = "The recorded runs have no times, so there is no timeline"
_ITERATORS = "iterators"
_WORD = 2**32
_NONE = -1
_LATEST = 2**62
_FAR_APART = 24 * 3600 * 10**9


class _Named(NamedTuple):
    """A track of the page: its group, what it shows, and its slices."""

    group: int
    kind: str
    title: str
    track: Track


def measured(profile: ProfileColumns) -> StepTimes:
    """The times of all steps; raises `MissingInputError` if there is nothing to draw."""
    profile.require(Need.RUNS, "The timeline requires recorded runs")
    times = steps.build(profile, StepOptions())
    if not times.steps:
        raise MissingInputError(f"{_NO_TIMES}: give {profile.remedies[Need.RUNS]}.")
    return times


def section(profile: ProfileColumns, times: StepTimes, most_runs: int) -> dict[str, Any]:
    """The tracks and steps, with at most `most_runs` runs, waits and transfers."""
    every = [track for track in tracks.build(profile, times) if track.kind is not TrackKind.STEPS]
    kept, whole_steps, left_out = _limited(profile, times, every, most_runs)
    groups, shown = _grouped(profile, kept)
    base, notes = _bases(profile, times)
    return {
        "recordings": list(profile.recordings.label),
        "groups": [
            {"recording": recording, "name": name, "models": _models(profile, recording, name)}
            for recording, name in groups
        ],
        "tracks": [_described(one, base) for one in shown],
        "runs": _runs(profile, times, [one.track for one in shown]),
        "steps": _steps(profile, times, groups, base) | {"whole": whole_steps},
        "left_out": left_out,
        "notes": [*times.notes, *notes],
    }


def _bases(profile: ProfileColumns, times: StepTimes) -> tuple[Ints, list[str]]:
    """The time that each recording counts from, and a note if these differ.

    Recordings that are far apart have different clocks, or would be dots in an empty picture. Their
    distance may also be too large for exact numbers in the page.
    """
    start, end = (np.full(len(profile.recordings), side) for side in (_LATEST, -_LATEST))
    rows = {label: row for row, label in enumerate(profile.recordings.label)}
    for step in times.steps:
        row = rows[step.recording]
        start[row] = min(start[row], step.start_ns)
        end[row] = max(end[row], step.start_ns + step.wall_ns)
    order = np.argsort(start)
    gaps = start[order][1:] - np.maximum.accumulate(end[order])[:-1]
    known = start[order][1:] < _LATEST
    if not (gaps[known] > _FAR_APART).any():
        return np.full(len(start), start.min()), []
    return start, ["The recordings are more than a day apart; each is drawn from its own start."]


def _limited(
    profile: ProfileColumns, times: StepTimes, every: Sequence[Track], most: int
) -> tuple[list[Track], Ints, dict[str, int] | None]:
    """The tracks with as many steps as the page has room for.

    Also returns whether each step is complete, and the number and time of what is left out.
    """
    place = _places(profile, times)
    step = place[joined([track.slices.step for track in every])]
    duration = joined([track.slices.duration_ns for track in every])
    counts = np.bincount(step, minlength=len(times.steps))
    if len(step) <= most:
        return list(every), np.ones(len(counts), np.int64), None
    is_whole, is_kept = _kept(times, step, duration, most)
    ends = np.cumsum([len(track.slices) for track in every])
    parts = np.split(is_kept, ends[:-1])
    limited = [track.where(part) for track, part in zip(every, parts, strict=True)]
    left_out = {
        "runs": int((~is_kept).sum()),
        "nanos": int(duration[~is_kept].sum()),
        "all_runs": len(step),
        "all_nanos": int(duration.sum()),
        "steps": int(((counts > 0) & ~is_whole).sum()),
    }
    return [track for track in limited if len(track.slices)], is_whole.astype(np.int64), left_out


def _kept(times: StepTimes, step: Ints, duration: Ints, most: int) -> tuple[Bools, Bools]:
    """Which steps are complete, and which runs are kept.

    These are whole steps, or the longest runs of a step that is itself too large.
    """
    counts = np.bincount(step, minlength=len(times.steps))
    order = ints(list(_by_interest(times)))
    chosen = order[np.cumsum(counts[order]) <= most]
    is_whole = np.zeros(len(counts), np.bool_)
    is_whole[chosen] = True
    if len(chosen):
        return is_whole, is_whole[step]
    rows = np.flatnonzero(step == order[0])
    longest = rows[np.argsort(-duration[rows], kind="stable")[:most]]
    is_kept = np.zeros(len(step), np.bool_)
    is_kept[longest] = True
    return is_whole, is_kept


def _by_interest(times: StepTimes) -> Iterator[int]:
    """All steps: the median of each recording, the first, unusual ones, then those at equal gaps.

    A prefix of the last ones is spread over the whole recording.
    """
    places = {(step.recording, step.step): place for place, step in enumerate(times.steps)}
    firsts: dict[str, int] = {}
    for place, step in enumerate(times.steps):
        firsts.setdefault(step.recording, place)
    medians = [places[one.recording, one.median_step] for one in times.summaries]
    unusual = [
        (abs(step.step_ns - one.median_ns), places[one.recording, step.step])
        for one in times.summaries
        for step in one.unusual
    ]
    slowest = [place for _, place in sorted(unusual, reverse=True)]
    yield from dict.fromkeys([*medians, *firsts.values(), *slowest, *_spread(len(times.steps))])


def _spread(count: int) -> list[int]:
    """The numbers below `count`, ordered so that those of every prefix are far apart."""
    digits = max(count - 1, 1).bit_length()
    return sorted(range(count), key=lambda place: int(f"{place:0{digits}b}"[::-1], 2))


def _places(profile: ProfileColumns, times: StepTimes) -> Ints:
    """The position of each row of `Steps` among the measured steps."""
    found = np.full(len(profile.steps), _NONE)
    found[tracks.step_rows(profile, times)] = np.arange(len(times.steps))
    return found


def _grouped(
    profile: ProfileColumns, every: Sequence[Track]
) -> tuple[list[tuple[int, str]], list[_Named]]:
    """The devices that were busy, as recording and name, and the tracks in their order."""
    names = busy_devices(profile)
    groups: dict[tuple[int, str], int] = {}
    found: list[_Named] = []
    for track in every:
        if track.device < 0:
            found.append(_Named(_NONE, "waits", "input wait", track))
            continue
        group = groups.setdefault((track.recording, names[track.device]), len(groups))
        found.extend(_Named(group, *one) for one in _parts(profile, names, track))
    # Tracks without a device come first in their recording.
    order = {group: place for place, group in enumerate(groups.values())}
    found.sort(key=lambda one: (one.track.recording, order.get(one.group, _NONE)))
    return list(groups), found


def _parts(
    profile: ProfileColumns, names: Sequence[str], track: Track
) -> Iterator[tuple[str, str, Track]]:
    """A track divided into ops and iterators of the input pipeline, whose time includes waiting."""
    if track.kind is TrackKind.TRANSFERS:
        yield track.kind.value, "transfers", track
        return
    is_iterator = profile.ops.is_iterator()[track.slices.op]
    ops = track if not is_iterator.any() else track.where(~is_iterator)
    if len(ops.slices):
        yield track.kind.value, _title(profile, names, track.device), ops
    if is_iterator.any():
        yield _ITERATORS, "input pipeline", track.where(is_iterator)


def _title(profile: ProfileColumns, names: Sequence[str], device: int) -> str:
    """What the ops of a device are among those of its group."""
    name, group = profile.devices.name[device], names[device]
    if profile.devices.is_accelerator_lane[device]:
        return name.removeprefix(f"{group}/")
    return (
        "ops" if name == group else f"launches on {name.rpartition('/')[2].removeprefix('device:')}"
    )


def _models(profile: ProfileColumns, recording: int, group: str) -> list[str]:
    """The models of the devices of a group, such as `NVIDIA H200`."""
    devices = profile.devices
    rows = zip(devices.recording.tolist(), busy_devices(profile), devices.model, strict=True)
    return sorted(
        {model for owner, name, model in rows if (owner, name) == (recording, group)} - {""}
    )


def _described(one: _Named, base: Ints) -> dict[str, Any]:
    start = one.track.slices.start_ns
    return {
        "recording": one.track.recording,
        "group": one.group,
        "kind": one.kind,
        "title": one.title,
        "count": len(start),
        "first": int(start[0] - base[one.track.recording]),
        "lanes": int(one.track.lane.max()) + 1,
    }


def _runs(profile: ProfileColumns, times: StepTimes, shown: Sequence[Track]) -> dict[str, Any]:
    """The slices of all tracks; starts are distances from the previous one in the same track.

    `op` is an op, or for other slices `-1 - i` for the text `i` of `names`.
    """
    slices = [track.slices for track in shown]
    others = Coded.joined([Coded.of([])] + [_coded(one.name) for one in slices if one.op[0] < 0])
    op = np.array(joined([one.op for one in slices]))
    op[op < 0] = _NONE - others.codes
    return {
        "start": _wide(joined([np.diff(one.start_ns, prepend=one.start_ns[:1]) for one in slices])),
        "duration": _wide(joined([one.duration_ns for one in slices])),
        "op": op,
        "lane": joined([track.lane for track in shown]),
        "step": _places(profile, times)[joined([one.step for one in slices])],
        "names": others.values,
    }


def _coded(names: Strings) -> Coded:
    return Coded.joined([Coded(np.arange(len(names)), names)])


def _wide(column: Ints) -> dict[str, Ints]:
    """Numbers of which few need more than 32 bits: all low words, and the other high words."""
    rows = np.flatnonzero(column >= _WORD)
    return {"low": column % _WORD, "rows": rows, "high": column[rows] // _WORD}


def _steps(
    profile: ProfileColumns, times: StepTimes, groups: Sequence[tuple[int, str]], base: Ints
) -> dict[str, Any]:
    """The measured steps as columns; their times are those of `tfprof steps`."""
    steps = times.steps
    rows = {label: row for row, label in enumerate(profile.recordings.label)}
    places = {(step.recording, step.step): place for place, step in enumerate(steps)}
    return {
        "recording": ints([rows[step.recording] for step in steps]),
        "number": ints([step.step for step in steps]),
        "start": ints([step.start_ns - base[rows[step.recording]] for step in steps]),
        **{
            name: ints([getattr(step, f"{name}_ns") for step in steps])
            for name in ("wall", "busy", "idle", "input_wait", "op_time")
        },
        "ops": ints([step.ops for step in steps]),
        "phases": {
            phase: ints([step.phases[phase] for step in steps]) for phase in steps[0].phases
        },
        "devices": [
            ints([_busy(step, rows[step.recording], group) for step in steps]) for group in groups
        ],
        "medians": [places[one.recording, one.median_step] for one in times.summaries],
        "unusual": [
            {"step": places[one.recording, step.step], "causes": list(step.causes)}
            for one in times.summaries
            for step in one.unusual
        ],
    }


def _busy(step: StepTime, recording: int, group: tuple[int, str]) -> int:
    """How long a device was busy in a step, -1 if it did nothing."""
    return step.devices.get(group[1], _NONE) if recording == group[0] else _NONE
