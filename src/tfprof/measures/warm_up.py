"""Warm-up: the first steps of a program, which do what later ones need not do again.

They trace and compile functions, load and tune kernels, and reserve memory, so they say nothing
about other steps. A step is warm-up if all steps before it are, and

- it sets things up (`Steps.setup_ns`) for a good part of its time, and later steps do not;
- or it takes several times as long as nearly all of at least three later steps, with no more work.

Each process warms up on its own. Steps of RunMetadata were chosen one by one, so all of them count.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tfprof.columns import Floats, Ints, ints
from tfprof.measures.averages import processes
from tfprof.measures.run_sums import run_sums
from tfprof.measures.step_bounds import durations
from tfprof.memo import remembered
from tfprof.model.profile import ProfileColumns
from tfprof.units import counted, format_nanos

# Setup counts if it takes this share of its step, or of later steps, which need not be as long; and
# if it takes so many times as long as that of later steps.
_LEAST_SETUP, _LEAST_OF_LATER, _MORE_SETUP = 0.1, 0.5, 5
# How many times as long as later steps a step takes that sets nothing up that was recorded, and of
# how many later steps. Steps on a busy machine may differ several times.
_MUCH_LONGER, _LATER_STEPS, _NEARLY_ALL = 5, 3, 0.9
# A first batch that is larger, or of another shape, is not warm-up. Without float operations, only
# the number of ops shows that; in the first step they create state.
_MOST_FLOAT_OPS, _MOST_RUNS = 1.5, 3
# A smaller ratio of times is not worth a remark.
_LONGER = 1.1


class WarmUp(NamedTuple):
    """The warm-up steps, as rows of `Steps`, and why each is one."""

    step: Ints
    reason: tuple[str, ...]


def warm_up_steps(profile: ProfileColumns) -> Ints:
    """The rows of the warm-up steps; never all steps of a process."""
    return warm_up(profile).step


@remembered
def warm_up(profile: ProfileColumns) -> WarmUp:
    """The warm-up steps with their reasons."""
    found: dict[int, str] = {}
    # Times of steps take a while to compute, and most files have a single step.
    if bool((np.bincount(_process_of_steps(profile))[1:] > 1).any()):
        steps, wall = _in_order(profile)
        for place in _candidates(profile, steps, wall):
            found |= _first(profile, steps[place], wall[place])
    rows = sorted(found)
    return WarmUp(ints(rows), tuple(found[row] for row in rows))


def _process_of_steps(profile: ProfileColumns) -> Ints:
    """The process of each step whose time was not given one by one, counted from 1; else 0."""
    recording = profile.steps.recording
    is_single = profile.recordings.counts_whole_micros[recording]
    return np.where(is_single, 0, processes(profile)[recording] + 1)


def _in_order(profile: ProfileColumns) -> tuple[Ints, Ints]:
    """The rows of timed steps by process, in the order of time, and how long they took."""
    row, begin, wall = durations(profile)
    process = _process_of_steps(profile)[row]
    order = np.lexsort((begin, process))
    order = order[process[order] > 0]
    return row[order], wall[order]


def _candidates(profile: ProfileColumns, steps: Ints, wall: Ints) -> list[slice]:
    """The steps of each process that may have warm-up, of which there may be thousands."""
    process = _process_of_steps(profile)[steps]
    first = np.flatnonzero(np.diff(process, prepend=0))
    if not len(first):
        return []
    later = wall.copy()
    later[first] = np.iinfo(np.int64).max
    is_longer = wall[first] >= _MUCH_LONGER * np.minimum.reduceat(later, first).astype(np.float64)
    rows = np.flatnonzero(is_longer | (profile.steps.setup_ns[steps[first]] > 0))
    ends = np.append(first[1:], len(steps))
    return [slice(int(first[one]), int(ends[one])) for one in rows]


def notes(profile: ProfileColumns) -> Iterator[str]:
    """Which steps averages leave out and why, if they leave out any."""
    steps, reasons = warm_up(profile)
    if not len(steps):
        return
    numbers = np.unique(profile.steps.number[steps]).tolist()
    which = f"step{'s' if len(numbers) > 1 else ''} {_listed(numbers)}"
    if len(profile.recordings) > 1:
        which += f" of {counted(len(np.unique(profile.steps.recording[steps])), 'recording')}"
    is_one, like = len(steps) == 1, "it" if len(steps) == 1 else f"step {numbers[0]}"
    yield (
        f"{which} {'is' if is_one else 'are'} left out as warm-up, because {like} {reasons[0]}; "
        f"-step all includes {'it' if is_one else 'them'}."
    )


def _listed(numbers: list[int]) -> str:
    if len(numbers) > 1 and numbers[-1] - numbers[0] == len(numbers) - 1:
        return (
            f"{numbers[0]} to {numbers[-1]}" if len(numbers) > 2 else "{} and {}".format(*numbers)
        )
    return ", ".join(map(str, numbers))


def _first(profile: ProfileColumns, steps: Ints, wall: Ints) -> dict[int, str]:
    """The warm-up steps of a process, whose steps are in the order of time."""
    setup = profile.steps.setup_ns[steps]
    count = _with_setup(setup, wall)
    long = _much_longer(wall[count:])
    if long and _is_alike(profile, steps[count:], long):
        count += long
    usual = float(np.median(wall[count:])) if count else 1.0
    return {
        int(steps[place]): _reason(int(wall[place]), int(setup[place]), usual)
        for place in range(count)
    }


def _reason(wall: int, setup: int, usual: float) -> str:
    ratio = wall / max(usual, 1)
    longer = f", {ratio:,.{0 if ratio >= 10 else 1}f} times as long as later steps"
    shown = f"took {format_nanos(wall)}{longer if ratio > _LONGER else ''}"
    if not setup:
        return shown
    what = "trace, compile, tune or load code or reserve memory"
    return f"{shown}, {format_nanos(setup)} of it to {what}"


def _with_setup(setup: Ints, wall: Ints) -> int:
    """How many of the first steps set things up, other than those after them."""
    for place in range(len(wall) - 1):
        later, usual = (float(np.median(column[place + 1 :])) for column in (setup, wall))
        least = min(_LEAST_SETUP * int(wall[place]), _LEAST_OF_LATER * usual)
        if setup[place] < max(least, _MORE_SETUP * later, 1):
            return place
    return max(len(wall) - 1, 0)


def _much_longer(wall: Ints) -> int:
    """How many of the first steps all take much longer than nearly all steps after them."""
    for count in range(len(wall) - _LATER_STEPS, 0, -1):
        later = float(np.quantile(wall[count:], _NEARLY_ALL, method="higher"))
        if int(wall[:count].min()) >= _MUCH_LONGER * max(later, 1):
            return count
    return 0


def _is_alike(profile: ProfileColumns, steps: Ints, first: int) -> bool:
    """Whether the first of these steps have no more work than the others."""
    work, most = _work(profile)
    here = work[steps]
    return bool(here[:first].max() <= most * float(np.median(here[first:])))


@remembered
def _work(profile: ProfileColumns) -> tuple[Floats, float]:
    """The float operations of each step, or its runs of ops; and the ratio that says nothing."""
    from tfprof.measures import flops  # noqa: PLC0415 -- the many rules load only when needed

    runs = run_sums(profile)
    found = runs.by_step("runs", flops.count(profile).per_run.astype(np.float64))
    if found.any():
        return found, _MOST_FLOAT_OPS
    return runs.by_step("runs", np.ones(len(profile.ops))), _MOST_RUNS
