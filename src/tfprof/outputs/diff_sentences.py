"""What changed between two profiles, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from tfprof.comparison.causes import DiffCause
from tfprof.comparison.numbers import Number
from tfprof.comparison.parts import is_steady
from tfprof.comparison.summary import DiffSummary, pace_explains
from tfprof.comparison.times import (
    LEAST_EFFECT,
    LEAST_STEPS,
    TimeChanges,
    uncertainty,
)
from tfprof.units import counted, format_nanos

_LARGE_FACTOR = 10


def sentences(summary: DiffSummary) -> list[str]:
    """The step, the part of the model that changed most, and what is equal."""
    return [
        *_step(summary),
        *_idle(summary),
        *_cause(summary),
        *_repeating(summary),
        *_totals(summary),
    ]


def amount(number: Number, value: float) -> str:
    """A number in the unit that people read."""
    sign = "-" if value < 0 else ""
    shown = format_nanos(round(abs(value))) if number.is_time else number.unit.format(abs(value))
    return sign + shown


def change(number: Number, value: float) -> str:
    """A change with its sign; `=` for none."""
    return "=" if not value else ("+" if value > 0 else "") + amount(number, value)


def percent(before: float, after: float) -> str:
    """A change as a share of what was before: `+12.0%`; `new` if there was nothing before.

    From ten times as much on it is a factor, such as `x12`.
    """
    if before == after:
        return "="
    if not before:
        return "new"
    if after >= _LARGE_FACTOR * before > 0:
        return f"x{after / before:,.0f}"
    return f"{100 * (after - before) / before:+.1f}%"


def _step(summary: DiffSummary) -> Iterator[str]:
    step = summary.step
    if step is None:
        return
    before, after = (_time(float(side[0])) for side in (step.before, step.after))
    steps = _steps(summary)
    moved = f"Step {before} → {after}"
    if not step.is_conclusive:
        least = counted(LEAST_STEPS, "step")
        yield (
            f"{moved} ({steps}): nothing can be concluded about times; record at least {least} "
            "on each side."
        )
    elif step.is_shown[0]:
        share = percent(float(step.before[0]), float(step.after[0]))
        yield f"{moved} ({share}, {steps}; 95% interval {_interval(step)})."
    elif summary.pace is not None and step.is_certain[0] and step.is_large[0]:
        yield f"{moved} ({steps}), but {_machine(summary.pace, step)}."
    else:
        interval = f"95% interval {_interval(step)}{_but(step)}"
        yield f"{moved}: no difference shown by {steps} ({interval})."


def _but(step: TimeChanges) -> str:
    """Why an interval in one direction does not show a difference."""
    if not step.excludes_zero[0]:
        return ""
    if not step.is_large[0]:
        return f"; less than {100 * LEAST_EFFECT:.0f}% is not claimed"
    return f", but p = {float(step.chance[0]):.2g}; at most {step.level:g} is required"


def _machine(pace: float, step: TimeChanges) -> str:
    """Why a change of the step says little about the program."""
    same = "ops that are the same on both sides take"
    if pace_explains(pace, step):
        slow = "slower or busier" if pace > 1 else "faster or less busy"
        return f"{same} {pace:.2f} times as long, as on a {slow} machine"
    taken = "as long as before" if is_steady(pace) else f"{pace:.2f} times as long"
    return f"{same} {taken}: the change is in several parts, or in the time between ops"


def _repeating(summary: DiffSummary) -> Iterator[str]:
    """What is unknown without repetitions, and what to do."""
    if summary.step is not None and summary.step.is_conclusive:
        yield from uncertainty(summary.recordings)


def _steps(summary: DiffSummary) -> str:
    before, after = summary.steps
    runs = summary.recordings
    if runs != (1, 1):
        old, new = runs
        each = f"{counted(old, 'recording')} each"
        recordings = each if old == new else f"{old:,} and {new:,} recordings"
        return f"{recordings}, {before:,} and {after:,} steps in all"
    if before != after:
        return f"{before:,} and {after:,} steps"
    return f"{counted(before, 'step')} each"


def _interval(step: TimeChanges) -> str:
    before = float(step.before[0])
    if not before:
        return f"{_time(float(step.low[0]))} to {_time(float(step.high[0]))}"
    low, high = (100 * float(side[0]) / before for side in (step.low, step.high))
    return f"{low:+.1f}% to {high:+.1f}%"


def _time(nanos: float) -> str:
    return format_nanos(round(nanos / 1_000) * 1_000)


def _idle(summary: DiffSummary) -> Iterator[str]:
    if summary.idle is None or summary.step is None or not summary.step.is_shown[0]:
        return
    is_input_wait, before, after = summary.idle
    what = "waiting for input" if is_input_wait else "in which no op runs, such as that of Python,"
    moved = f"{_time(before)} → {_time(after)} per step"
    share = 100 * (after - before) / float(summary.step.change[0])
    yield f"The time {what} changes most: {moved}, {share:.0f}% of the change of the step."


def _cause(summary: DiffSummary) -> Iterator[str]:
    cause = summary.cause
    if cause is None:
        if summary.step is not None and summary.step.is_shown[0] and summary.idle is None:
            yield "No single part of the model holds most of the change."
        return
    was = f" (was `{cause.old_name}`)" if cause.old_name not in ("", cause.name) else ""
    where = ", ".join(filter(None, [_phase(cause), cause.line]))
    yield f"`{cause.name}`{was} takes {_taken(summary, cause)}{f': {where}' if where else ''}."
    if cause.facts:
        facts = "; ".join(cause.facts)
        yield f"There, {facts}."


def _taken(summary: DiffSummary, cause: DiffCause) -> str:
    """How much more or less a part takes; without its share if the step is not comparable."""
    if summary.step is not None and summary.step.is_shown[0]:
        more, sum_ = ("more", "additional") if cause.change_ns > 0 else ("less", "saved")
        share = f"{100 * cause.share:.0f}% of the {sum_} time of all ops"
        return f"{_time(abs(cause.change_ns))} {more} per step, {share}"
    moved = f"{_time(cause.before_ns)} → {_time(cause.after_ns)} per step"
    if cause.ratio is None:
        return moved
    return f"{moved}, {cause.ratio:.2f} times as long compared with the rest of the model"


def _phase(cause: DiffCause) -> str:
    return f"{cause.phase} pass" if cause.phase in ("forward", "backward") else cause.phase


def _totals(summary: DiffSummary) -> Iterator[str]:
    """The totals that changed; if none did, all of them."""
    if not summary.totals:
        return
    changed = [
        f"{number.label} {amount(number, before)} → {amount(number, after)} "
        f"({percent(before, after)})"
        for number, before, after in summary.totals
        if before != after
    ]
    if changed:
        yield _sentence(f"{', '.join(changed)}.")
    else:
        names = [total.number.label for total in summary.totals]
        *others, last = names
        listed = f"{', '.join(others)} and {last}" if others else last
        yield _sentence(f"{listed} did not change.")


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]
