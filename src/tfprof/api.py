"""The interface that all front ends use: load files, ask for views, write answers.

Modules that only some questions need are imported on first use, so that the first answer is quick.
"""

from __future__ import annotations

import copyreg
import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any

from tfprof import atomic_files
from tfprof.answers import Advice, Answer, MemoryAnswer
from tfprof.errors import OptionError, UnknownFormatError, nearest
from tfprof.measures import warm_up
from tfprof.model.builder import ProfileBuilder
from tfprof.model.notes import Note, Subject, concerning, merged
from tfprof.model.profile import ProfileColumns
from tfprof.model.recordings import Recording
from tfprof.model.stored_runs import SqlTables
from tfprof.model.tensors import Tensors
from tfprof.options import (
    CHECKERS_OPTION,
    INPUT_OPTIONS,
    Inputs,
    KernelOptions,
    MemoryOptions,
    Options,
    RankOptions,
    StepOptions,
    find,
)
from tfprof.outputs import registry
from tfprof.sources import registry as sources
from tfprof.sources.given import files_of
from tfprof.sources.source import FileSummary, InputFile, Reading, Stage
from tfprof.views.defaults import resolved
from tfprof.views.definitions import applied
from tfprof.views.notes import notes, subjects
from tfprof.views.registry import VIEWS
from tfprof.views.view import View, build, require_printable

if TYPE_CHECKING:
    import os

    from tfprof.measures.flop_rules.registry import Rule
    from tfprof.outputs.kernels import KernelTable
    from tfprof.outputs.ledger import FloatOpsLedger
    from tfprof.outputs.ranks import RankTable
    from tfprof.outputs.steps import StepTable
    from tfprof.page.report import Report

    Path = str | os.PathLike[str]


DEFAULT_FORMAT = next(iter(registry.SAVED_FORMATS))

_READING = tuple(part.name for part in fields(Reading))
_LARGEST_BATCH = 2**31 - 1


def load(*paths: Path, progress: Callable[[str], None] = lambda _: None, **inputs: Any) -> Profile:
    """Load a profile from files.

    Each of `paths` is a file, which is recognised by its content, or the folder of a recording or a
    training run, from which the files that belong together are read. The keywords `graph_path`,
    `run_meta_path`, `op_log_path`, `checkpoint_path` and `profile_path` name files of a known kind;
    `run_meta_path` takes one path, several, or a mapping from step to path. With
    `count_float_ops=False`, float operations come only from the op log. `progress` is called with
    each path before the file is read.
    """
    given = {name: find(name, INPUT_OPTIONS).check(value) for name, value in inputs.items()}
    return load_inputs([path_text(path) for path in paths], Inputs(**given), progress)


def load_inputs(
    paths: Sequence[str],
    inputs: Inputs,
    progress: Callable[[str], None] = lambda _: None,
    program: Callable[[ProfileBuilder], None] | None = None,
) -> Profile:
    """Do what `load` does with checked keywords; `program` adds ops before the files do."""
    files = input_files(paths, inputs)
    _require_whole_or_parts(files)
    if program is None:
        given = [name for name in _READING if getattr(inputs, name) != INPUT_OPTIONS[name].default]
        sources.require_use(files, given)
    with _collector_paused():
        if program is None and (saved := sources.finished(files, progress)) is not None:
            (columns, notes_), summary = saved
            counts = inputs.count_float_ops and columns.counts_float_ops
            return Profile(
                replace(columns, counts_float_ops=counts), notes_, [summary], _words(paths, inputs)
            )
        builder = ProfileBuilder(counts_float_ops=inputs.count_float_ops)
        if program is not None:
            program(builder)
        summaries = sources.merge(files, builder, progress)
        return Profile(builder.build(), merged(builder.notes), summaries, _words(paths, inputs))


def _words(paths: Sequence[str], inputs: Inputs) -> tuple[str, ...]:
    """The words of a command that load these files."""
    given = {
        option: getattr(inputs, name)
        for name, option in INPUT_OPTIONS.items()
        if getattr(inputs, name) != option.default
    }
    return (*paths, *(word for option, value in given.items() for word in option.words(value)))


def _coverage(profile: ProfileColumns) -> Iterator[str]:
    """How many of the recorded ops are known, for recordings made without a graph."""
    if not profile.counts_whole_micros:
        from tfprof.measures.coverage import coverage

        found = coverage(profile)
        if found.nanos:  # a recording of memory alone has no times
            yield Note(found.sentence(), Subject.TIME | Subject.CODE | Subject.FLOAT_OPS)


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Pause the garbage collector: loading creates many small objects, and all stay in use."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def register_flops(kind: str, rule: Rule) -> None:
    """Count the float operations of ops of `kind` with `rule`, instead of the rule it had.

    `rule` gets an op with `input(0)`, `output(0)` (shapes as tuples), `input_count`, `kind` and
    `attr("name")`, and returns the operations of one run: a whole number, or a `FlopCount`, which
    also has the multiply-accumulates; otherwise these are unknown. If it asks for a shape that is
    unknown, it is stopped and the op is reported as not counted. It is called once for all ops that
    give it the same answers, so it must not depend on anything else. A profile keeps its counts:
    register rules before you ask for them.
    """
    from tfprof.measures.flop_rules import registry as rules

    if not isinstance(kind, str) or not kind:
        raise OptionError(f"the kind of an op must be a string such as MatMul, not {kind!r}.")
    if not callable(rule):
        raise OptionError(f"the rule of `{kind}` must be a function of an op, not {rule!r}.")
    rules.register(kind, rule, always_states_macs=False)


def step_timeline(
    run_meta_path: Path,
    outfile: Path,
    *,
    show_dataflow: bool = True,
    show_memory: bool = True,
    partial: bool = False,
) -> tuple[str, ...]:
    """Write a timeline of one traced step, as JSON for trace viewers.

    `show_dataflow` draws arrows between ops; `show_memory` shows tensors, and the memory in use per
    allocator. With `partial`, what is intact of a damaged file is drawn. Returns notes on what is
    missing from the timeline.
    """
    from tfprof.formats import step_stats
    from tfprof.formats.run_metadata import RUN_METADATA
    from tfprof.outputs import step_timeline as timeline

    path = path_text(run_meta_path)
    file = sources.open_file(path, reading=Reading(partial=partial))
    if file.source.name != "run_meta":
        found = sources.a_file(file.source.title)
        raise UnknownFormatError(path, f"is {found}; a timeline requires RunMetadata.")
    with _collector_paused():
        step = sources.read_with_advice(
            file, lambda: step_stats.decode(file.content.records(RUN_METADATA))
        )
    pieces = timeline.encode(step, show_dataflow=show_dataflow, show_memory=show_memory)
    atomic_files.write(path_text(outfile), pieces)
    notes_ = []
    if (gap := file.content.gap) is not None:
        notes_.append(gap.sentence(path, {"runs": len(step.name)}))
    if not len(step.name):
        advice = "record it with RunOptions(trace_level=FULL_TRACE)"
        notes_.append(f"{path} has no timed ops; {advice}.")
    return tuple(notes_)


def _require_whole_or_parts(files: Sequence[InputFile]) -> None:
    """Refuse a saved profile together with files whose content it already contains."""
    saved = [file for file in files if sources.is_saved(file.source)]
    others = [file for file in files if not sources.is_saved(file.source)]
    parts = [file.path for file in others if file.source.stage in (Stage.DEFINITIONS, Stage.RUNS)]
    if saved and parts:
        what = "store" if saved[0].source.name == "store" else "saved profile"
        raise OptionError(
            f"{saved[0].path} is a {what}, which contains its graph and runs: "
            f"leave out {' and '.join(parts)}."
        )


def path_text(path: Path) -> str:
    """A path as a string."""
    return INPUT_OPTIONS["graph_path"].check(path)  # type: ignore[no-any-return]


def input_files(paths: Sequence[str], inputs: Inputs) -> list[InputFile]:
    """All input files; each is recognised once."""
    if not 0 <= inputs.batch_size <= _LARGEST_BATCH:
        raise OptionError(
            f"`batch_size` takes a number from 1 to {_LARGEST_BATCH}, not {inputs.batch_size}."
        )
    reading = Reading(inputs.functions, inputs.signature, inputs.batch_size, inputs.partial)
    found = [path for given in paths for path in files_of(given)]
    files = [sources.open_file(path, reading=reading) for path in found]
    for option, names in sources.of_options().items():
        given = getattr(inputs, option) or ()
        # Runs are given with their steps.
        named = [(None, given)] if isinstance(given, str) else given
        files += [sources.open_as(names, path, step=step, reading=reading) for step, path in named]
    return files


def named_files(paths: Sequence[str], inputs: Inputs) -> list[FileSummary]:
    """All input files, described without reading them; runs are numbered if no step is given."""
    found, step = [], -1
    for file in input_files(paths, inputs):
        is_run = file.source.stage is Stage.RUNS
        if is_run:
            step = step + 1 if file.step is None else file.step
        source = file.source
        found.append(FileSummary(file.path, source.name, source.title, step if is_run else None))
    return found


def build_view(kind: str, profile: ProfileColumns, options: Options) -> View:
    """The view of that kind, without notes."""
    columns = applied(profile, options)
    view = build(kind, columns, resolved(kind, columns, options))
    require_printable(view)
    return view


def _pickled(columns: ProfileColumns) -> tuple[Callable[..., ProfileColumns], tuple[Any, ...]]:
    """Pickle columns as a saved profile, with the reader of checkpoint values."""
    from tfprof.outputs import profile_file

    return _unpickled, (profile_file.encoded(columns), columns.tensors)


def _unpickled(data: bytes, tensors: Tensors) -> ProfileColumns:
    from tfprof.sources.profile_file import loaded

    return replace(loaded("the pickled profile", data).profile, tensors=tensors).freeze()


copyreg.pickle(ProfileColumns, _pickled)


class Profile:
    """A loaded profile to ask questions about: `profile.scope(max_depth=3, select=["params"])`.

    `columns` has its arrays, `notes` remarks on the files (`file_notes` without their coverage),
    `files` a summary of each file, and `words` the words of a command that load the same files.
    """

    def __init__(
        self,
        columns: ProfileColumns,
        notes_: Sequence[str] = (),
        files: Sequence[FileSummary] = (),
        words: Sequence[str] = (),
    ) -> None:
        self.columns = columns
        self.words = tuple(words)
        self.notes = (*notes_, *_coverage(columns))
        self.files = tuple(files)
        self.file_notes = tuple(notes_)

    def notes_on(self, about: Subject) -> tuple[str, ...]:
        """The notes on the files that concern a question."""
        return concerning(self.notes, about)

    def view(self, kind: str, options: Options) -> Answer:
        """Ask for one view; the error for an unknown view suggests the nearest name."""
        if kind not in VIEWS:
            raise OptionError(f"Unknown view `{kind}`. {nearest(kind, VIEWS)}")
        registry.require(options.destination, kind)
        view = build_view(kind, self.columns, options)
        noted = cache(lambda: self.notes_on(subjects(view)) + notes(view))
        return Answer(replace(view, noted=noted))

    def scope(self, **options: Any) -> Answer:
        """Ops by name scope; options as in `tfprof scope --help`."""
        return self.view("scope", Options.of(**options))

    def graph(self, **options: Any) -> Answer:
        """Ops by what feeds them; options as in `tfprof graph --help`."""
        return self.view("graph", Options.of(**options))

    def code(self, **options: Any) -> Answer:
        """Ops by the line of code that made them; options as in `tfprof code --help`."""
        return self.view("code", Options.of(**options))

    def op(self, **options: Any) -> Answer:
        """Ops by kind; options as in `tfprof op --help`."""
        return self.view("op", Options.of(**options))

    def layers(self, **options: Any) -> Answer:
        """Ops by layer of the model; options as in `tfprof layers --help`."""
        return self.view("layers", Options.of(**options))

    def memory(self, **options: Any) -> MemoryAnswer:
        """Memory over time and what holds it; options as in `tfprof memory --help`."""
        return self.memory_over_time(MemoryOptions.of(**options))

    def memory_over_time(self, options: MemoryOptions) -> MemoryAnswer:
        """Do what `memory` does, with checked options."""
        from tfprof.views import memory

        found = memory.build(self.columns, options)
        return MemoryAnswer(replace(found, notes=self.notes_on(Subject.MEMORY) + found.notes))

    def flops(self) -> FloatOpsLedger:
        """Float operations by kind of op: how they were counted, their phase, what is missing."""
        from tfprof.outputs.ledger import FloatOpsLedger
        from tfprof.views import ledger

        noted = self.notes_on(Subject.FLOAT_OPS), warm_up.notes(self.columns)
        return FloatOpsLedger(ledger.build(self.columns), tuple(chain(*noted)))

    def step_times(self, **options: Any) -> StepTable:
        """Wall, busy and idle time of each step; options as in `tfprof steps --help`."""
        from tfprof.outputs.steps import StepTable
        from tfprof.views import steps

        found = steps.build(self.columns, StepOptions.of(**options))
        return StepTable(replace(found, notes=self.notes_on(Subject.STEPS) + found.notes))

    def ranks(self, **options: Any) -> RankTable:
        """Hosts side by side, and which of them are slow; options as in `tfprof ranks --help`."""
        from tfprof.outputs.ranks import RankTable
        from tfprof.views import ranks

        found = ranks.build(self.columns, RankOptions.of(**options))
        return RankTable(replace(found, notes=self.notes_on(Subject.STEPS) + found.notes))

    def kernels(self, **options: Any) -> KernelTable:
        """The kernels of accelerators; options as in `tfprof kernels --help`."""
        from tfprof.outputs.kernels import KernelTable
        from tfprof.views import kernels

        found = kernels.build(self.columns, KernelOptions.of(**options))
        return KernelTable(replace(found, notes=self.notes_on(Subject.TIME) + found.notes))

    def write_timeline(self, path: Path, **options: Any) -> None:
        """Write all runs in a timeline for trace viewers; options as in `tfprof steps --help`."""
        from tfprof.outputs import recording_timeline
        from tfprof.views import steps

        found = steps.build(self.columns, StepOptions.of(**options))
        if not found.steps:
            raise OptionError("The chosen steps have no times: there is nothing to draw.")
        atomic_files.write(path_text(path), recording_timeline.encode(self.columns, found))

    def advise(self, checkers: str | Sequence[str] | None = None) -> Advice:
        """The findings of all checkers, or of those in `checkers`."""
        from tfprof.advisor import registry as advisor

        chosen = CHECKERS_OPTION.check(checkers) if checkers is not None else None
        about = Subject.TIME | Subject.STEPS | Subject.MEMORY
        noted = self.notes_on(about), warm_up.notes(self.columns)
        return Advice(advisor.advise(self.columns, chosen), tuple(chain(*noted)))

    def report(self, title: str = "") -> Report:
        """The profile as a page for a browser: `profile.report().save("report.html")`.

        In a notebook it is shown inline. `title` defaults to the name of the first file.
        """
        from tfprof.page.report import Report
        from tfprof.page.subject import Subject as ReportSubject

        noted = (*self.notes, *warm_up.notes(self.columns))
        return Report(ReportSubject(self.columns, title, self.words, noted))

    def save(self, path: Path, format: str = DEFAULT_FORMAT) -> tuple[str, ...]:  # noqa: A002
        """Write the whole profile to one file, from which it can be loaded again.

        The default format keeps everything; `profile_proto` is that of the original tool. Returns
        notes on what the file lacks.
        """
        chosen = registry.saved_format(format)
        atomic_files.write(path_text(path), chosen.encode(self.columns, self.file_notes))
        return tuple(chosen.lacks(self.columns))

    def sql(self, query: str) -> Any:
        """The answer to a query of the tables of a store, as a DuckDB relation.

        `docs/reference/store.md` describes the tables. The query only reads: it is one SELECT,
        DESCRIBE, SHOW, SUMMARIZE or EXPLAIN.
        """
        return sql_tables(self).relation(query)

    @property
    def steps(self) -> list[int]:
        """The numbers of the recorded steps, each once."""
        return self.columns.steps.numbers()

    @property
    def recordings(self) -> list[Recording]:
        """The recordings: each is the trace of one host, or the traced runs of one worker."""
        return [self.columns.recordings[row] for row in range(len(self.columns.recordings))]

    def info(self) -> Info:
        """Describe the files of this profile and the questions they can answer."""
        return Info(self.files, self)

    def questions(self) -> dict[str, bool]:
        """Which metrics and views this profile can provide."""
        from tfprof.measures.questions import questions

        return questions(self.columns)

    def __repr__(self) -> str:
        profile = self.columns
        return (
            f"<tfprof profile: {len(profile.ops):,} ops, {len(profile.steps):,} steps, "
            f"{len(profile.devices):,} devices, {len(profile.tensors):,} checkpoint tensors>"
        )


def sql_tables(profile: Profile) -> SqlTables:
    """The tables of a store; raises `OptionError` if the profile was read from other files."""
    if (runs := profile.columns.stored_runs) is None:
        files = " ".join(profile.words) or "FILES"
        raise OptionError(
            f"SQL requires a store: collect the files with `tfprof collect {files} -o STORE`."
        )
    return runs.tables


@dataclass(frozen=True, slots=True)
class Info:
    """A description of files, one by one and together."""

    files: tuple[FileSummary, ...]
    profile: Profile

    def _recording(self, row: int) -> dict[str, Any]:
        columns, one = self.profile.columns, self.profile.recordings[row]
        return {
            "label": one.label,
            "host": one.host or None,
            "rank": one.rank if one.rank >= 0 else None,
            "framework": one.framework,
            "file": one.file,
            "steps": columns.steps.number[columns.steps.recording == row].tolist(),
            "devices": [
                name
                for name, owner in zip(columns.devices.name, columns.devices.recording, strict=True)
                if owner == row
            ],
        }

    def to_dict(self) -> dict[str, Any]:
        """The description as plain values."""
        from tfprof.outputs import schemas

        return {
            "schema": schemas.name_of("info"),
            "files": [
                {
                    "path": file.path,
                    "kind": file.kind,
                    **{fact.replace(" ", "_"): count for fact, count in file.facts.items()},
                    "devices": list(file.devices),
                }
                for file in self.files
            ],
            "ops": len(self.profile.columns.ops),
            "ops_seen_running": self.profile.columns.covered_ops,
            "steps": self.profile.steps,
            "recordings": [self._recording(row) for row in range(len(self.profile.recordings))],
            "devices": list(dict.fromkeys(self.profile.columns.devices.name)),
            "can_answer": self.profile.questions(),
            "notes": list(self.profile.notes),
        }


def info(*paths: Path, **inputs: Any) -> Info:
    """Describe each file, and list the questions that the files can answer together."""
    return load(*paths, **inputs).info()
