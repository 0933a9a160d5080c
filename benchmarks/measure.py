"""Measures tfprof and TensorFlow's own profiler in fresh processes, one at a time, in turns."""

from __future__ import annotations

import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from generate import Files
from phases import Job, Measure, reported
from processes import FailedError, run
from tables import byte_difference, difference
from tasks import LOAD_TEXT, RUNS, TASKS, Command, Question, Session

OURS, ORIGINAL = "ours", "original"
_HERE = Path(__file__).resolve().parent
_HAS_TENSORFLOW = "import importlib.util, sys; sys.exit(not importlib.util.find_spec('tensorflow'))"
_ORIGINAL_BYTES_PER_OP = 13_000  # an upper bound


@dataclass(frozen=True)
class Row:
    """The medians of one task at one size; those of the original may be unknown.

    The original's memory does not include what importing TensorFlow takes.
    """

    ops: int
    task: str
    ours: Measure
    original: Measure | None = None
    is_same_table: bool | None = None


@dataclass(frozen=True)
class Figures:
    """All figures of one size; `notes` say what was left out, `faults` what went wrong."""

    rows: Sequence[Row]
    original_import: Measure | None = None
    faults: Sequence[str] = ()
    notes: Sequence[str] = ()


class Samples:
    """The measures of one profiler, by task."""

    def __init__(self) -> None:
        self._taken: dict[str, list[Measure]] = defaultdict(list)

    def add(self, measures: dict[str, Measure]) -> None:
        for task, measure in measures.items():
            self._taken[task].append(measure)

    def median(self, task: str) -> Measure | None:
        taken = self._taken[task]
        if not taken:
            return None
        return Measure(
            median(measure.seconds for measure in taken),
            median(measure.peak_mb for measure in taken),
        )


def turns(ours: int, original: int) -> Iterator[str]:
    """The profiler to run next, alternating until each has had its number of runs."""
    for turn in range(max(ours, original)):
        if turn < ours:
            yield OURS
        if turn < original:
            yield ORIGINAL


class Bench:
    """Measures one model."""

    def __init__(self, files: Files, ops: int, python: str | None) -> None:
        self._files = files
        self._ops = ops
        self._pythons = {OURS: sys.executable, ORIGINAL: python}
        self._samples = {OURS: Samples(), ORIGINAL: Samples()}
        self._differences: dict[str, str | None] = {}
        self._faults: list[str] = []

    def measure(
        self, ours: int, original: int, runs: Sequence[Command | Session] = RUNS
    ) -> Figures:
        """Run each task `ours` and `original` times; an original that fails is not run again."""
        for process in runs:
            for profiler in turns(ours, original if self._pythons[ORIGINAL] else 0):
                if self._pythons[profiler] is not None:
                    self._take(profiler, process)
            self._compare(process.questions)
        return self._figures()

    def _take(self, profiler: str, process: Command | Session) -> None:
        try:
            self._samples[profiler].add(self._run(profiler, process))
        except FailedError as error:
            if profiler == OURS:
                raise
            self._pythons[ORIGINAL] = None
            print(error, file=sys.stderr)
            self._faults.append(f"The original failed on {self._ops:,} ops and was not run again.")

    def _run(self, profiler: str, process: Command | Session) -> dict[str, Measure]:
        printed = self._files.folder / f"{profiler} printed"
        if isinstance(process, Command):
            task = process.question.task
            if profiler == OURS:
                printed = self._answer(profiler, task)
            return {task: run(self._command(profiler, process), output=printed)}
        run(self._session(profiler, process), output=printed)
        return reported(printed.read_text())

    def _command(self, profiler: str, process: Command) -> list[str]:
        if profiler == ORIGINAL:
            return self._session(profiler, Session(process.questions))
        files, question = self._files, process.question
        paths = [str(path) for path in (files.graph, files.run_meta, files.op_log)]
        depth = ["-max_depth", str(question.options["max_depth"])]
        return [sys.executable, "-m", "tfprof", question.view, *paths, *depth]

    def _session(self, profiler: str, process: Session) -> list[str]:
        files = self._files
        script = (
            f"{profiler}_text.py" if process.is_text and profiler == ORIGINAL else f"{profiler}.py"
        )
        job = Job(
            process.load,
            str(files.graph_text if process.is_text else files.graph),
            str(files.run_meta),
            str(files.op_log),
            [
                question.as_dict(self._answer(profiler, question.task))
                for question in process.questions
            ],
        )
        return [str(self._pythons[profiler]), str(_HERE / script), job.argument()]

    def _answer(self, profiler: str, task: str) -> Path:
        return self._files.folder / f"{profiler} {task}"

    def _compare(self, questions: Sequence[Question]) -> None:
        for question in questions:
            answers = [
                question.answer_file(self._answer(profiler, question.task))
                for profiler in (OURS, ORIGINAL)
            ]
            if self._pythons[ORIGINAL] is not None:
                compare = difference if question.output == "file" else byte_difference
                found = self._differences[question.task] = compare(*answers)
                if found:
                    self._faults.append(
                        f"DIFFERENT ANSWERS at {self._ops:,} ops, {question.task}: {found}"
                    )
            for answer in answers:
                answer.unlink(missing_ok=True)

    def _figures(self) -> Figures:
        rows = [
            Row(self._ops, task.name, ours, self._original(task.name), self._is_same(task.name))
            for task in TASKS
            if (ours := self._samples[OURS].median(task.name))
        ]
        return Figures(rows, self._samples[ORIGINAL].median("import"), self._faults)

    def _original(self, task: str) -> Measure | None:
        samples = self._samples[ORIGINAL]
        taken, imported = samples.median(task), samples.median("import")
        if task == LOAD_TEXT and taken is not None:
            # The measure covers only parsing; the rest is the same as for a binary graph.
            load = samples.median("load")
            taken = None if load is None else _both(taken, load)
        if taken is None or imported is None:
            return None
        return Measure(taken.seconds, max(taken.peak_mb - imported.peak_mb, 0.0))

    def _is_same(self, task: str) -> bool | None:
        return self._differences[task] is None if task in self._differences else None


def _both(one: Measure, other: Measure) -> Measure:
    return Measure(one.seconds + other.seconds, max(one.peak_mb, other.peak_mb))


def has_tensorflow(python: str) -> bool:
    """Whether this interpreter can import TensorFlow."""
    return subprocess.run([python, "-c", _HAS_TENSORFLOW], check=False).returncode == 0


def lack_of_memory(ops: int) -> str | None:
    """Why the original cannot handle this many ops here, or None if it can."""
    needed, free = ops * _ORIGINAL_BYTES_PER_OP, _available_bytes()
    if free is None or needed <= free:
        return None
    return (
        f"The original was not measured with {ops:,} ops: it needs about {needed / 1e9:.0f} GB "
        f"of memory, and {free / 1e9:.0f} GB are free."
    )


def _available_bytes() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    values = dict(line.split(":") for line in lines)
    return int(values["MemAvailable"].split()[0]) * 1024 if "MemAvailable" in values else None
