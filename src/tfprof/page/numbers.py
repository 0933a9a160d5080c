"""The model in numbers: the cards, the bar and the facts at the top of a report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfprof.measures.numbers import EVERYTHING, per_op
from tfprof.model.profile import ProfileColumns
from tfprof.page.units import formatted
from tfprof.units import counted
from tfprof.views.ledger import Ledger
from tfprof.views.memory import AllocatorMemory, Memory
from tfprof.views.steps import StepSummary, StepTime, StepTimes

# The parts of the bar, with their labels; `static/phases.js` has their colours.
_STEP_PARTS = {
    "forward": "forward",
    "backward": "backward",
    "optimizer": "optimizer",
    "input": "input pipeline",
    "other": "other ops",
    "communication": "communication",
    "transfers": "transfers",
    "idle_input_wait": "waiting for input",
    "idle_other": "idle",
}
_COUNTED_PARTS = ("forward", "backward", "optimizer", "other")
_LONGEST_COUNT = 10**12  # longer counts are rounded


@dataclass(frozen=True, slots=True)
class Measured:
    """What the numbers come from; None if the files do not have it."""

    profile: ProfileColumns
    words: str  # the files, as words of a command
    ledger: Ledger
    steps: StepTimes | None
    memory: Memory | None


def facts(profile: ProfileColumns) -> list[str]:
    """What the report is about, in a few words each."""
    found = [counted(len(profile.ops), "op")]
    if len(profile.recordings) > 1:
        found.append(counted(len(profile.recordings), "recording"))
    if len(profile.steps):
        found.append(counted(len(profile.steps), "step"))
        found.append(counted(_devices(profile), "device"))
    return found


def _devices(profile: ProfileColumns) -> int:
    """The number of devices, without their streams and other lanes."""
    devices = profile.devices
    rows = np.flatnonzero(devices.is_placement).tolist()
    # A name with a job is that of the same device in every recording; `cuda:0` is not.
    return len(
        {
            (
                -1 if (name := devices.name[row]).startswith("/job:") else devices.recording[row],
                name,
            )
            for row in rows
        }
    )


def cards(measured: Measured) -> list[dict[str, Any]]:
    """The numbers that describe the model as a whole; those that are unknown are left out."""
    return [
        *_parameters(measured),
        *_float_ops(measured),
        *_step_time(measured),
        *_peak_memory(measured),
    ]


def _card(
    label: str, text: str, details: Iterator[str], value: int, command: str
) -> dict[str, Any]:
    detail = " · ".join(details)
    return {"label": label, "text": text, "detail": detail, "value": value, "command": command}


def _command(name: str, words: str, options: str = "") -> str:
    """The command that prints a number; empty if the files are unknown."""
    return f"tfprof {name} {words} {options}".rstrip() if words else ""


def _in_full(value: int) -> str:
    return f"{value:,}" if value < _LONGEST_COUNT else formatted(value, "count")


def _parameters(measured: Measured) -> Iterator[dict[str, Any]]:
    numbers = per_op(measured.profile, EVERYTHING)
    trainable, every, slots = (
        int(numbers[key].sum()) for key in ("trainable_params", "params", "slots")
    )
    if not every:
        return

    def details() -> Iterator[str]:
        if trainable:
            others = every - trainable
            yield f"{_in_full(others)} not trainable" if others else "all trainable"
        if slots:
            yield f"{_in_full(slots)} optimizer values"

    label, value = ("Trainable parameters", trainable) if trainable else ("Parameters", every)
    select = "trainable_params,other_params,slots" if trainable else "params"
    command = _command("layers", measured.words, f"-select {select} -max_depth 1")
    yield _card(label, _in_full(value), details(), value, command)


def _float_ops(measured: Measured) -> Iterator[dict[str, Any]]:
    ledger, has_runs = measured.ledger, len(measured.profile.steps) > 0
    value, missing = ledger.float_ops, sum(kind.ops for kind in ledger.uncounted)
    if not value:
        return

    def details() -> Iterator[str]:
        macs = sum(entry.macs for entry in ledger.entries)
        yield _in_full(value)
        if macs:
            yield f"{formatted(macs, 'count')} MACs"
        if missing:
            yield f"{counted(missing, 'op')} not counted"

    label = f"Float operations per {'step' if has_runs else 'run'}"
    command = _command("flops", measured.words)
    text = formatted(value, "count")
    yield _card(label, f"≥ {text}" if missing else text, details(), value, command)


def _step_time(measured: Measured) -> Iterator[dict[str, Any]]:
    if measured.steps is None:
        return
    summary, step = _slowest(measured.steps)

    def details() -> Iterator[str]:
        if summary.steps > 1:
            yield f"median of {counted(summary.steps, 'step')}"
            yield f"p10 {formatted(summary.p10_ns, 'nanos')}"
            yield f"p90 {formatted(summary.p90_ns, 'nanos')}"
        if len(measured.steps.summaries if measured.steps else ()) > 1:
            yield f"slowest recording: {summary.recording}"
        yield f"ops {formatted(step.op_time_ns, 'nanos')}"

    text = formatted(summary.median_ns, "nanos")
    command = _command("steps", measured.words)
    yield _card("Step time", text, details(), summary.median_ns, command)


def _slowest(times: StepTimes) -> tuple[StepSummary, StepTime]:
    """The recording with the longest median step, and that step."""
    summary = max(times.summaries, key=lambda one: one.median_ns)
    return summary, times.median_step(summary)


def _peak_memory(measured: Measured) -> Iterator[dict[str, Any]]:
    if measured.memory is None:
        return
    highest = measured.memory.allocators[0]
    value = highest.peak_bytes
    if not value:
        return
    command = _command("memory", measured.words)
    yield _card("Peak memory", formatted(value, "bytes"), _where(highest), value, command)


def _where(highest: AllocatorMemory) -> Iterator[str]:
    yield highest.allocator or "unknown allocator"
    yield f"step {highest.step}"
    if len(highest.levels.bytes):
        yield f"allocator's own count {formatted(highest.levels.peak_bytes, 'bytes')}"


def bar(measured: Measured) -> dict[str, Any] | None:
    """Where the time of the median step goes, or without runs the float operations."""
    if measured.steps is not None:
        return _step_bar(measured.steps, measured.words)
    return _counted_bar(measured.ledger, measured.words) if measured.ledger.float_ops else None


def _step_bar(times: StepTimes, words: str) -> dict[str, Any]:
    summary, step = _slowest(times)
    which = f"the median step (step {step.step})" if summary.steps > 1 else f"step {step.step}"
    where = f" of {summary.recording}" if len(times.summaries) > 1 else ""
    return {
        "title": f"Where the time of {which}{where} goes",
        "unit": "nanos",
        "whole": step.step_ns,
        "parts": [
            {"key": key, "label": _STEP_PARTS[key], "value": value}
            for key, value in step.phases.items()
            if value
        ],
        "command": _command("steps", words),
    }


def _counted_bar(ledger: Ledger, words: str) -> dict[str, Any]:
    values = {key: int(getattr(ledger, key)) for key in _COUNTED_PARTS}
    return {
        "title": "Where the float operations go",
        "unit": "count",
        "whole": ledger.float_ops,
        "parts": [
            {"key": key, "label": _STEP_PARTS[key], "value": value}
            for key, value in values.items()
            if value
        ],
        "command": _command("flops", words),
    }
