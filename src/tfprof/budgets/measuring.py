"""Measures the numbers that have budgets.

A number that the files lack is never taken for 0: `MissingNumberError` says what to do.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from tfprof.api import Profile
from tfprof.budgets.budget import Place
from tfprof.budgets.changes import Times
from tfprof.budgets.metrics import BudgetMetric, Source
from tfprof.budgets.parts import Part, Parts
from tfprof.columns import Bools, Ints, ints
from tfprof.measures.memory import allocator_traces, peaks_by_row
from tfprof.measures.numbers import float_ops_per_run, macs_per_run, seen_running
from tfprof.measures.parts import PARTS
from tfprof.measures.repetitions import runs_of_recordings
from tfprof.measures.run_sums import sums_per_step
from tfprof.measures.step_bounds import timed_steps
from tfprof.measures.step_sums import step_totals
from tfprof.measures.warm_up import warm_up_steps
from tfprof.metrics import BY_KEY, Need
from tfprof.model.notes import Subject, concerning, narrowest, subject_of
from tfprof.model.ops import UNKNOWN_REPEATS
from tfprof.model.profile import ProfileColumns
from tfprof.units import counted

_WHOLE = Place()
_VARIABLE = "Variable"  # the kind of op that stands for a variable in files without a graph
_VARIABLES = ("Variable", "VarHandleOp")  # the beginnings of the kinds of variables
_RECORD = "record a run with `tfprof run` or tfprof.capture, and give its folder"


class MissingNumberError(Exception):
    """The files do not contain a number; the message says what to do."""


class Measured:
    """A profile whose numbers are measured; `parts` finds what they are measured of."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.columns = profile.columns
        self.parts = Parts(profile)

    def amount(self, metric: BudgetMetric, part: Part, *, permits_zero: bool) -> Fraction:
        """The number of a part; unless `permits_zero`, the whole model must not have 0.

        A model without any parameters, memory or time is one whose files do not contain them.
        """
        self._require(metric)
        if _subject(metric) is Subject.PARAMS:
            _require_shapes(self.columns, part)
        whole = self.parts.find(_WHOLE)
        if not permits_zero and not _AMOUNTS[metric.source](self, metric, whole):
            raise MissingNumberError(self._why_zero(metric))
        return Fraction(_AMOUNTS[metric.source](self, metric, part))

    def step_times(self, metric: BudgetMetric, part: Part) -> Times:
        """The time of a part in each recorded step."""
        self._require(metric)
        steps = _usual_steps(self.columns)
        if not len(steps):
            raise MissingNumberError(f"no step with times was recorded; {_RECORD}.")
        if not metric.number:
            totals = step_totals(self.columns)
            times = totals.wall_ns[np.isin(totals.step, steps)]
        else:
            flags, number = part.is_inside, metric.number
            if number in PARTS:
                number, is_counted = PARTS[number]
                flags = flags & is_counted(self.columns)
            times = sums_per_step(self.columns, number, flags, steps)
        if not times.any():
            raise MissingNumberError(self._why_zero(metric))
        recordings = self.columns.recordings
        workers = zip(recordings.host, recordings.rank.tolist(), strict=True)
        recording = self.columns.steps.recording[steps]
        run = runs_of_recordings(self.columns)[recording]
        return Times(times.astype(np.float64), recording, run, tuple(workers))

    def uncounted(self, part: Part, metric: BudgetMetric) -> Bools:
        """Which ops of the graph are in a part, but do not contribute to float ops or MACs."""
        profile = self.columns
        found = float_ops_per_run(profile)
        is_once = (profile.ops.repeats == UNKNOWN_REPEATS) & ~seen_running(profile)
        unknown = found.without_rule | found.without_shape
        if metric.key.endswith("macs"):
            unknown = unknown | macs_per_run(profile).is_missing
        computes = is_once & (found.per_run != 0)
        return np.asarray((unknown | computes) & profile.ops.is_defined & part.is_inside)

    def notes(self, metric: BudgetMetric) -> tuple[str, ...]:
        """Notes on the files that concern a metric."""
        return concerning(self.profile.file_notes, _subject(metric))

    def _require(self, metric: BudgetMetric) -> None:
        if not self.columns.has(metric.needs):
            files = self.columns.remedies[metric.needs]
            raise MissingNumberError(f"the files do not contain it; it requires {files}.")
        if (metric.counts_work or metric.source is Source.GRAPH) and not _has_ops(self.columns):
            raise MissingNumberError(self._why_zero(metric))
        if metric.source is Source.STEPS and not len(timed_steps(self.columns)):
            raise MissingNumberError(f"no step with times was recorded; {_RECORD}.")

    def _why_zero(self, metric: BudgetMetric) -> str:
        """Why a number is missing: a note on the files, or what to do."""
        if metric.key == "kernels":
            return (
                "no run on an accelerator was recorded; record the program on a machine with one, "
                "or limit `op_runs`."
            )
        if notes := self.notes(metric):
            return str(narrowest(notes))
        remedy = f"; {_RECORD}" if metric.needs is Need.RUNS else ""
        return f"the files contain none{remedy}. If there should be none, set the budget to 0."


def _has_ops(profile: ProfileColumns) -> bool:
    """Whether there is a graph: a checkpoint or a Keras file has only variables."""
    kinds = profile.ops.kind.take(np.flatnonzero(profile.ops.is_defined)).compact()
    return any(kind != _VARIABLE for kind in kinds.values)


def _require_shapes(profile: ProfileColumns, part: Part) -> None:
    """Refuse to count the parameters of a part with a variable of unknown shape."""
    ops, shape = profile.ops, profile.ops.shape
    is_open = [dims is None or min(dims, default=0) < 0 for dims in shape.values]
    is_variable = [kind.startswith(_VARIABLES) for kind in ops.kind.values]
    flags = (
        np.array([*is_open, False])[shape.codes] & np.array([*is_variable, False])[ops.kind.codes]
    )
    found = np.flatnonzero(flags & ops.is_defined & part.is_inside)
    if len(found):
        what = counted(len(found), "variable has", "variables have")
        raise MissingNumberError(
            f"{what} an unknown shape (`{ops.name[int(found[0])]}`), so the number is too small; "
            "give files that state the shape."
        )


def _subject(metric: BudgetMetric) -> Subject:
    if metric.source is Source.VIEW:
        return subject_of(BY_KEY[metric.key])
    return _SUBJECTS[metric.source]


_SUBJECTS = {
    Source.GRAPH: Subject.OPS | Subject.FLOAT_OPS,
    Source.STEPS: Subject.STEPS,
    Source.MEMORY: Subject.MEMORY,
}


def _of_view(_: Measured, metric: BudgetMetric, part: Part) -> int:
    return part.total(metric.number)


def _of_graph(measured: Measured, metric: BudgetMetric, part: Part) -> int:
    if metric.key == "uncounted_ops":
        return int(measured.uncounted(part, metric).sum())
    return int((measured.columns.ops.is_defined & part.is_inside).sum())


def _of_steps(measured: Measured, metric: BudgetMetric, part: Part) -> int:
    """The median over steps; the smaller of two."""
    profile = measured.columns
    steps = _usual_steps(profile)
    if not part.row:
        totals = step_totals(profile)
        per_step = (totals.ops if metric.number else totals.kernels)[np.isin(totals.step, steps)]
    elif metric.number:
        # The runs of iterators are not those of a step; `tfprof steps` leaves them out too.
        flags = part.is_inside & ~profile.ops.is_iterator()
        per_step = sums_per_step(profile, metric.number, flags, steps)
    else:
        per_step = _launches(profile, part.is_inside, steps)
    return int(np.percentile(per_step, 50, method="inverted_cdf"))


def _usual_steps(profile: ProfileColumns) -> Ints:
    """The steps with recorded times after warm-up."""
    return np.setdiff1d(timed_steps(profile), warm_up_steps(profile))


def _of_memory(measured: Measured, _: BudgetMetric, part: Part) -> int:
    profile = measured.columns
    if not part.row:
        return max((trace.peak_bytes for trace in allocator_traces(profile)), default=0)
    if profile.stored_runs is not None:
        raise MissingNumberError(
            "a store has only the memory peaks of whole devices; check a recording instead."
        )
    peaks = peaks_by_row(
        profile, timed_steps(profile), part.is_inside.astype(np.int64), ints([-1, 0])
    )
    if peaks[1] < 0:
        raise MissingNumberError("no allocation of its ops was recorded.")
    return int(peaks[1])


_AMOUNTS: dict[Source, Callable[[Measured, BudgetMetric, Part], int]] = {
    Source.VIEW: _of_view,
    Source.GRAPH: _of_graph,
    Source.STEPS: _of_steps,
    Source.MEMORY: _of_memory,
}


def _launches(profile: ProfileColumns, flags: Bools, steps: Ints) -> Ints:
    """How many kernels of the flagged ops ran on accelerators, in each of `steps`."""
    if profile.stored_runs is not None:
        raise MissingNumberError(
            "a store has only the kernels of whole steps; check a recording instead."
        )
    runs, records = profile.executions, profile.records
    lanes = np.append(profile.devices.is_accelerator_lane, False)[runs.device]
    rows = lanes & flags[records.op[runs.record]]
    counts = np.bincount(records.step[runs.record[rows]], minlength=len(profile.steps))
    return ints(counts[steps])
