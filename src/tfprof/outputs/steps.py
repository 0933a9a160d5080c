"""The times of steps as text, plain values and a data frame."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields
from itertools import chain
from typing import TYPE_CHECKING, Any

from tfprof.errors import printable
from tfprof.outputs import device_times, schemas
from tfprof.outputs.alignment import aligned
from tfprof.outputs.frames import data_frame
from tfprof.units import counted, format_nanos, format_percent
from tfprof.units import format_whole_micros as _time
from tfprof.views.steps import StepSummary, StepTime, StepTimes

if TYPE_CHECKING:
    import pandas as pd

_DOC = (
    "wall: from the start of a step to the start of the next one, or to the end of its last op.\n"
    "busy: time in which at least one op or transfer ran, on an accelerator if its times were\n"
    "recorded; idle: the rest of the wall time.\n"
    "input wait: waiting for the next element of the input pipeline, even while ops ran.\n"
    "op time: the time of all ops added up, which tables of ops show.\n"
)
_PARTS = {
    "forward": "forward",
    "backward": "backward",
    "optimizer": "optimizer",
    "input": "input",
    "other": "other ops",
    "communication": "communication",
    "transfers": "transfers",
    "idle_input_wait": "waiting for input",
    "idle_other": "otherwise idle",
}
# With accelerators.
_ON_ACCELERATORS = (
    "on device: how long the step took on the accelerator, from the last kernel of the step before "
    "to\nits own last kernel, or to the next step on the host if that is later.\n"
)
# Of more accelerators only the table of all together is shown.
_MOST_TABLES = 3
_TIMES = ("wall", "busy", "idle", "input_wait", "op_time")


class StepTable:
    """The times of the recorded steps, to print, iterate or convert.

    `times` also has a summary of each recording, with its unusual steps.
    """

    def __init__(self, times: StepTimes) -> None:
        self.times = times

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on what is missing from the answer; empty if nothing is."""
        return self.times.notes

    @property
    def summaries(self) -> tuple[StepSummary, ...]:
        """The median, spread and unusual steps of each recording."""
        return self.times.summaries

    @property
    def report(self) -> str:
        """The table and its summary as text."""
        return "".join(f"{line}\n" for line in _lines(self.times))

    def to_dict(self) -> dict[str, Any]:
        """All steps and summaries as plain values; times are nanoseconds."""
        options = asdict(self.times.options).items()
        return {
            "schema": schemas.name_of("steps"),
            "options": {k: list(v) if isinstance(v, tuple) else v for k, v in options},
            "steps": [_plain_step(step) for step in self.times.steps],
            "summaries": [_plain(summary) for summary in self.times.summaries],
            "notes": list(self.notes),
        }

    def to_json(self) -> str:
        """`to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=1) + "\n"

    def to_dataframe(self) -> pd.DataFrame:
        """One row per step; a column `phase_ns PHASE` per phase, `busy_ns DEVICE` per device."""
        # A device that a step did not use was busy for 0 ns.
        idle = dict.fromkeys(sorted({name for step in self for name in step.devices}), 0)
        rows: list[dict[str, Any]] = []
        for step in self:
            row = asdict(step)
            parts = {f"phase_ns {name}": nanos for name, nanos in row.pop("phases").items()}
            devices = idle | row.pop("devices")
            del row["accelerators"]
            busy = {f"busy_ns {name}": nanos for name, nanos in devices.items()}
            rows.append(row | parts | busy)
        return data_frame(rows, [field.name for field in fields(StepTime)])

    def _repr_html_(self) -> str:
        from tfprof.outputs import html_steps  # noqa: PLC0415 -- only notebooks need it

        return html_steps.of_steps(self.times, list(chain.from_iterable(_summaries(self.times))))

    def __iter__(self) -> Iterator[StepTime]:
        return iter(self.times.steps)

    def __len__(self) -> int:
        return len(self.times.steps)

    def __getitem__(self, number: int) -> StepTime:
        """The step of that number; the first one if several recordings have it."""
        for step in self:
            if step.step == number:
                return step
        shown = ", ".join(str(step.step) for step in self)
        raise KeyError(f"no step {number} is shown. Shown: {shown}.")

    def __str__(self) -> str:
        return self.report

    def __repr__(self) -> str:
        medians = ", ".join(format_nanos(one.median_ns) for one in self.summaries)
        return f"<tfprof step times: {len(self):,} steps, median {medians}>"


def _plain_step(step: StepTime) -> dict[str, Any]:
    return {**asdict(step), "accelerators": [asdict(one) for one in step.accelerators]}


def _plain(summary: StepSummary) -> dict[str, Any]:
    """A summary as plain values, with lists as in JSON."""
    unusual = [{**asdict(one), "causes": list(one.causes)} for one in summary.unusual]
    return {**asdict(summary), "unusual": unusual}


def _lines(times: StepTimes) -> Iterator[str]:
    has_accelerators = any(step.accelerators for step in times.steps)
    yield from ("", "Doc:", _DOC + _ON_ACCELERATORS if has_accelerators else _DOC)
    unusual = {
        (summary.recording, one.step) for summary in times.summaries for one in summary.unusual
    }
    devices = sorted({name for step in times.steps for name in step.devices})
    shown = devices if len(devices) > 1 else []
    yield from aligned(list(_rows(times, shown, unusual)))
    yield from (f"[{place}] {printable(name)}" for place, name in enumerate(shown, 1))
    for part in _summaries(times):
        yield from ("", *part)


def _summaries(times: StepTimes) -> Iterator[Iterator[str]]:
    """The sentences on each recording, then those on an average step."""
    for summary in times.summaries:
        yield _summary(times, summary)
    if times.steps:
        yield _explained([step for step in times.steps if not step.is_warm_up] or times.steps)


def _rows(
    times: StepTimes, devices: Sequence[str], unusual: set[tuple[str, int]]
) -> Iterator[list[str]]:
    several = len(times.summaries) > 1
    has_kernels = any(step.kernels for step in times.steps)
    has_accelerators = any(step.accelerators for step in times.steps)
    yield [
        *(["recording"] if several else []),
        "step",
        *(["on device"] if has_accelerators else []),
        *(name.replace("_", " ") for name in _TIMES),
        "ops",
        *(["kernels"] if has_kernels else []),
        *(f"busy [{place}]" for place, _ in enumerate(devices, 1)),
        "",
    ]
    for step in times.steps:
        yield [
            *([printable(step.recording)] if several else []),
            str(step.step),
            *([_time(step.step_ns)] if has_accelerators else []),
            *(_time(getattr(step, f"{name}_ns")) for name in _TIMES),
            f"{step.ops:,}",
            *([f"{step.kernels:,}"] if has_kernels else []),
            *(_time(step.devices.get(name, 0)) for name in devices),
            _remark(step, unusual),
        ]


def _remark(step: StepTime, unusual: set[tuple[str, int]]) -> str:
    if step.is_warm_up:
        return "warm-up"
    return "unusual" if (step.recording, step.step) in unusual else ""


def _summary(times: StepTimes, summary: StepSummary) -> Iterator[str]:
    where = f"{printable(summary.recording)}: " if len(times.summaries) > 1 else ""
    steps = counted(summary.steps, "step")
    spread = f" (p10 {_time(summary.p10_ns)}, p90 {_time(summary.p90_ns)})"
    yield f"{where}{steps}, median {_time(summary.median_ns)}{spread if summary.steps > 1 else ''}."
    median = times.median_step(summary)
    if not median.accelerators:
        yield _divided(median)
    elif len(times.summaries) > 1:
        yield from map(printable, _on_accelerators(median))
    else:
        yield from map(printable, _tables(median))
        yield from map(printable, _recorded(summary))
    for one in summary.unusual:
        ratio = f"{one.step_ns / max(summary.median_ns, 1):.1f} times the median"
        causes = "; ".join(one.causes) or "no single cause"
        yield printable(f"Step {one.step} took {_time(one.step_ns)}, {ratio}: {causes}.")


def _on_accelerators(step: StepTime) -> Iterator[str]:
    """Where the time of the median step goes on each accelerator, in a line each."""
    for one in step.accelerators:
        name = one.device or device_times.ALL
        divided = device_times.divided(one.own)
        yield f"The median step (step {step.step}) on {name}, {_time(one.own.wall_ns)}: {divided}."


def _tables(step: StepTime) -> Iterator[str]:
    """Where the time of the median step goes on each accelerator, as tables."""
    yield f"The median step (step {step.step}):"
    few = step.accelerators if len(step.accelerators) <= _MOST_TABLES else step.accelerators[:1]
    for one in few:
        yield from aligned(list(device_times.rows(one)), left=[0])
        yield device_times.launched(one)
    if more := len(step.accelerators) - len(few):
        yield f"… {more:,} accelerators; --json has each of them."


def _recorded(summary: StepSummary) -> Iterator[str]:
    """What each accelerator did in all its recorded time."""
    for name, time in summary.accelerators.items():
        yield (
            f"{name or device_times.ALL} was busy for {_time(time.busy_ns)} "
            f"({format_percent(time.busy_ns, time.wall_ns)}) of the {_time(time.wall_ns)} from its "
            f"first kernel to its last: {device_times.divided(time)}."
        )


def _divided(step: StepTime) -> str:
    """Where the time of the median step goes, in shares of its wall time."""
    shares = [
        f"{title} {format_percent(step.phases[part], step.wall_ns)}"
        for part, title in _PARTS.items()
        if step.phases[part]
    ]
    return f"The median step (step {step.step}, {_time(step.wall_ns)}): {', '.join(shares)}."


def _explained(steps: Sequence[StepTime]) -> Iterator[str]:
    """Why the time of all ops added up differs from the wall time, for an average step."""

    def mean(name: str) -> int:
        total: int = sum(getattr(step, f"{name}_ns") for step in steps)
        return round(total / len(steps))

    wall, wait, op_time = mean("wall"), mean("input_wait"), mean("op_time")
    if any(step.accelerators for step in steps):
        yield f"On average a step takes {_time(mean('step'))} on the accelerators."
        if late := device_times.ahead(steps):
            yield late
    took = "its time on the host is" if steps[0].accelerators else "a step takes"
    yield (
        f"On average {took} {_time(wall)}: {_time(mean('busy'))} "
        f"({format_percent(mean('busy'), wall)}) busy and {_time(mean('idle'))} idle."
    )
    if wait:
        yield (
            f"It waits {_time(wait)} ({format_percent(wait, wall)}) for input, "
            f"{_time(mean('idle_input_wait'))} of that while no op runs."
        )
    parts = {
        "more in parallel to other ops": mean("parallel"),
        "in iterators of the input pipeline, which run on other threads and mostly wait": mean(
            "pipeline"
        ),
        "after the end of the step": mean("outside"),
    }
    alone = op_time - sum(parts.values())
    listed = [f"{_time(nanos)} {what}" for what, nanos in parts.items() if nanos >= 1000]
    some = f"{_time(alone)} in which at least one op ran"
    yield f"Op time is {_time(op_time)}: {', '.join([some, *listed])}."
