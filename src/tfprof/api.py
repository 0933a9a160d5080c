"""The one door for every front: load files, ask for views, write answers.

What only some questions need is loaded when it is asked for: a first answer should not wait for
what it has no use of.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tfprof.errors import OptionError, UnknownFormatError, nearest
from tfprof.formats.recognise import FileKind
from tfprof.metrics import METRICS
from tfprof.model.builder import ProfileBuilder
from tfprof.model.profile import Profile
from tfprof.options import (
    CHECKERS_OPTION,
    INPUT_OPTIONS,
    Inputs,
    MemoryOptions,
    Options,
    OutputSpec,
    find,
)
from tfprof.outputs import registry
from tfprof.outputs.op_log import OpLog as OpLog  # noqa: PLC0414 -- one of the names given out
from tfprof.sources import registry as sources
from tfprof.sources.registry import InputFile
from tfprof.views.definitions import applied
from tfprof.views.notes import available_inputs, notes
from tfprof.views.view import Hidden, View

if TYPE_CHECKING:
    import os

    import pandas as pd

    from tfprof.advisor.finding import Finding
    from tfprof.advisor.registry import Reports
    from tfprof.formats.messages import Message
    from tfprof.outputs.parts import Written
    from tfprof.outputs.tabular import Row
    from tfprof.sources.summary import FileSummary
    from tfprof.views.memory import AllocatorMemory, Memory

    Path = str | os.PathLike[str]

# The views, and the module of each.
VIEWS: dict[str, str] = {
    "scope": "tfprof.views.scope",
    "graph": "tfprof.views.graph",
    "code": "tfprof.views.code",
    "op": "tfprof.views.op",
}

_PATH_KINDS = {
    "graph_path": FileKind.GRAPH,
    "op_log_path": FileKind.OP_LOG,
    "checkpoint_path": FileKind.CHECKPOINT,
    "profile_path": FileKind.PROFILE,
}


def load(
    *paths: Path, progress: Callable[[str], None] = lambda _: None, **inputs: Any
) -> LoadedProfile:
    """A profile from the files a program left behind.

    Each of `paths` is recognised by its content; keywords (`graph_path`, `run_meta_path`,
    `op_log_path`, `checkpoint_path`, `profile_path`) say what a file is. `run_meta_path` may be
    one path, several, or a mapping of step to path. `count_float_ops=False` takes float ops from
    the op log alone. `progress` is called with each path before it is read.
    """
    given = {name: find(name, INPUT_OPTIONS).check(value) for name, value in inputs.items()}
    return load_inputs([path_text(path) for path in paths], Inputs(**given), progress)


def load_inputs(
    paths: Sequence[str], inputs: Inputs, progress: Callable[[str], None] = lambda _: None
) -> LoadedProfile:
    """`load`, with the keywords already checked."""
    files = input_files(paths, inputs)
    _require_whole_or_parts(files)
    builder = ProfileBuilder(counts_float_ops=inputs.count_float_ops)
    with _collector_paused():
        sources.merge(files, builder, progress)
        return LoadedProfile(builder.build(), builder.notes)


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Keep Python from looking for garbage: all of the many small objects of loading are in use."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def step_timeline(
    run_meta_path: Path, outfile: Path, *, show_dataflow: bool = True, show_memory: bool = True
) -> tuple[str, ...]:
    """Write when each op of one traced step ran, as JSON for trace viewers.

    `show_dataflow` draws arrows between ops, `show_memory` shows tensors and what each allocator
    has in use. What the timeline lacks is given back in sentences.
    """
    from tfprof.formats import step_stats
    from tfprof.outputs import step_timeline as timeline

    path = path_text(run_meta_path)
    kind = sources.detect(path)
    if kind is not FileKind.RUN_META:
        raise UnknownFormatError(path, f"is {kind}; a timeline is made of {FileKind.RUN_META}.")
    with _collector_paused():
        step = step_stats.decode(sources.read_records(InputFile(path, kind)))
    pieces = timeline.encode(step, show_dataflow=show_dataflow, show_memory=show_memory)
    registry.write_file(path_text(outfile), pieces)
    if len(step.name):
        return ()
    advice = "record it with RunOptions(trace_level=FULL_TRACE)"
    return (f"{path} says of no op that it ran; {advice}.",)


def _require_whole_or_parts(files: Sequence[InputFile]) -> None:
    """Refuse a saved profile beside files whose content it has within."""
    saved = [file.path for file in files if file.kind is FileKind.PROFILE]
    parts = [file.path for file in files if file.kind in (FileKind.GRAPH, FileKind.RUN_META)]
    if saved and parts:
        raise OptionError(
            f"{saved[0]} is a saved profile, which has its graph and runs within: "
            f"leave out {' and '.join(parts)}."
        )


def path_text(path: Path) -> str:
    """A path as text."""
    return INPUT_OPTIONS["graph_path"].check(path)  # type: ignore[no-any-return]


def input_files(paths: Sequence[str], inputs: Inputs) -> list[InputFile]:
    """Every file that was named, with what it is."""
    files = [InputFile(path, sources.detect(path)) for path in paths]
    for name, kind in _PATH_KINDS.items():
        if path := getattr(inputs, name):
            files.append(InputFile(path, kind))
    files += [InputFile(path, FileKind.RUN_META, step) for step, path in inputs.run_meta_path]
    return sources.numbered(files)


def build_view(kind: str, profile: Profile, options: Options) -> View:
    """The view of that kind, with nothing said yet of what it lacks."""
    build: Callable[[Profile, Options], View] = import_module(VIEWS[kind]).build
    return build(applied(profile, options), options)


class LoadedProfile:
    """A profile that can be asked: `profile.scope(max_depth=3, select=["params"])`.

    `columns` holds its arrays, `notes` what was odd about the files.
    """

    def __init__(self, columns: Profile, notes_: Sequence[str] = ()) -> None:
        self.columns = columns
        self.notes = tuple(notes_)

    def view(self, kind: str, options: Options) -> Answer:
        """The answer of one view; an unknown view is answered with the nearest one."""
        if kind not in VIEWS:
            raise OptionError(f"No view `{kind}`. {nearest(kind, VIEWS)}")
        registry.require(options.destination, kind)
        view = build_view(kind, self.columns, options)
        return Answer(replace(view, notes=self.notes + notes(kind, view.profile, options)))

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

    def memory(self, **options: Any) -> MemoryAnswer:
        """Who held which memory when; options as in `tfprof memory --help`."""
        return self.memory_over_time(MemoryOptions.of(**options))

    def memory_over_time(self, options: MemoryOptions) -> MemoryAnswer:
        """`memory`, with the options already checked."""
        from tfprof.views import memory

        found = memory.build(self.columns, options)
        return MemoryAnswer(replace(found, notes=self.notes + found.notes))

    def advise(self, checkers: str | Sequence[str] | None = None) -> Advice:
        """What could be better: the findings of all checkers, or of those that are named."""
        from tfprof.advisor import registry as advisor

        chosen = CHECKERS_OPTION.check(checkers) if checkers is not None else None
        return Advice(advisor.advise(self.columns, chosen), self.notes)

    def save(self, path: Path) -> None:
        """Write the whole profile to one file, which loads to the same answers."""
        from tfprof.outputs import saved_profile

        registry.write_file(path_text(path), saved_profile.encode(self.columns))

    @property
    def unsaved(self) -> tuple[str, ...]:
        """What `save` leaves out, in sentences."""
        columns, told = self.columns, []
        if len(columns.tensors):
            told.append("values stay in the checkpoint: name it again beside the saved profile.")
        if len(columns.allocator_events) > len(columns.allocations.record):
            told.append(
                "allocations on the host, which `tfprof memory` tells of, have no room in a saved "
                "profile."
            )
        return tuple(told)

    @property
    def steps(self) -> list[int]:
        """The numbers of the recorded steps."""
        return [int(step) for step in self.columns.steps]

    def questions(self) -> dict[str, bool]:
        """Which metrics and views this profile has an answer to."""
        has = available_inputs(self.columns)
        metrics = {m.key: has[m.needs] for m in METRICS if not m.is_of_answer}
        views = {
            "code view": self.columns.has_code,
            "memory over time": len(self.columns.allocator_events) > 0,
        }
        return metrics | views

    def __repr__(self) -> str:
        profile = self.columns
        return (
            f"<tfprof profile: {len(profile.ops):,} ops, {len(profile.steps):,} steps, "
            f"{len(profile.devices):,} devices, {len(profile.tensors):,} checkpoint tensors>"
        )


class Answer:
    """The answer to one question: rows to print, iterate, convert or write."""

    def __init__(self, view: View) -> None:
        self.view = view

    @property
    def table(self) -> str:
        """The table as text, from its legend on."""
        from tfprof.outputs import text

        return text.table(self.view)

    @property
    def report(self) -> str:
        """The table behind sentences that say what its columns mean."""
        from tfprof.outputs import text

        return text.report(self.view)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the answer lacks, in sentences; empty when it lacks nothing."""
        return self.view.notes

    @property
    def hidden(self) -> Hidden:
        """What was accounted for but is not shown."""
        return self.view.hidden

    @property
    def uncounted(self) -> dict[str, int]:
        """The op kinds that no float-op rule covers, and how many such ops there are."""
        from tfprof.measures.numbers import float_ops_per_run

        profile = self.view.profile
        # An op that no graph defines has no kind but its name.
        is_defined = profile.ops.attributes.reader >= 0
        return dict(float_ops_per_run(profile).uncounted_kinds(is_defined))

    def __iter__(self) -> Iterator[Row]:
        from tfprof.outputs import tabular

        return tabular.rows(self.view)

    def __len__(self) -> int:
        return len(self.view)

    def __getitem__(self, name: str) -> Row:
        """The first row of that name."""
        from tfprof.outputs import tabular

        if name not in self.view.name:
            raise KeyError(f"no row {name!r} is shown. {nearest(name, self.view.name)}")
        return tabular.row(self.view, self.view.name.index(name))

    def to_dict(self) -> dict[str, Any]:
        """The question, what was left out, and all rows, as plain values."""
        from tfprof.outputs import json

        return json.as_dict(self.view)

    def to_dataframe(self) -> pd.DataFrame:
        """The rows as a pandas data frame."""
        try:
            import pandas as pd
        except ImportError:
            raise OptionError("A data frame needs pandas: pip install pandas.") from None
        return pd.DataFrame(list(self))

    def to_message(self) -> Message:
        """The rows as a protobuf message: GraphNodeProto, or MultiGraphNodeProto."""
        from tfprof.outputs import message

        return message.build(self.view)

    def write(
        self, output: str | None = None, show: Callable[[Iterator[str]], None] | None = None
    ) -> list[Written]:
        """Write to where `output` says: `file:outfile=F`, `json:outfile=F`, `stdout`, `none`.

        Without a word it goes where the question's own options say. What would be printed is handed
        to `show` instead, piece by piece, where that is given. You get the files that were written:
        the `path` of each, and `notes` on it.
        """
        spec = self.view.options.destination if output is None else OutputSpec.parse(output)
        registry.require(spec, self.view.kind)
        if spec.kind in registry.FILE_OUTPUTS:
            return registry.write(self.view, spec)
        if spec.kind == "stdout" and show is not None:
            from tfprof.outputs import text

            show(piece.decode() for piece in text.encode(self.view))
        elif spec.kind == "stdout":
            print(self.report, end="")
        return []

    def __str__(self) -> str:
        return self.table

    def __repr__(self) -> str:
        rows, hidden = len(self.view), self.hidden.ops
        return f"<tfprof {self.view.kind} view: {rows:,} rows, {hidden:,} ops hidden>"

    def _repr_html_(self) -> str:
        from tfprof.outputs import html

        return html.table(self.view)


class MemoryAnswer:
    """Memory over time: an `AllocatorMemory` for each allocator, the highest peak first.

    Its `curve`, `levels` and breakdowns (`by_scope`, `by_kind`, `by_line`) are columns.
    """

    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    @property
    def allocators(self) -> tuple[AllocatorMemory, ...]:
        """What was found of each allocator."""
        return self.memory.allocators

    @property
    def notes(self) -> tuple[str, ...]:
        """What the answer lacks, in sentences; empty when it lacks nothing."""
        return self.memory.notes

    @property
    def report(self) -> str:
        """Peaks, curves and who held what, as text."""
        return self.draw()

    def draw(self, width: int = 80, encoding: str = "utf-8") -> str:
        """The report, with curves so many characters wide, in such as `encoding` has."""
        from tfprof.outputs import chart, memory_text

        return memory_text.report(self.memory, width=width, pen=chart.pen_for(encoding))

    def show(self, show: Callable[[Iterable[str]], None] | None = None) -> None:
        """Print the report, as wide as the terminal and in such characters as it has.

        What would be printed is handed to `show` instead, where that is given.
        """
        from shutil import get_terminal_size

        stream = sys.stdout
        if stream is None:  # the program was started without one, and print would not mind
            return
        width = get_terminal_size().columns if stream.isatty() else 80
        report = self.draw(width, stream.encoding or "ascii")
        if show is None:
            print(report, end="")
        else:
            show([report])

    def to_dict(self) -> dict[str, Any]:
        """The question and all that was found, as plain values."""
        from tfprof.outputs import memory_json

        return memory_json.as_dict(self.memory)

    def to_json(self) -> str:
        """The same as JSON text."""
        from tfprof.outputs import memory_json

        return b"".join(memory_json.encode(self.memory)).decode()

    def __iter__(self) -> Iterator[AllocatorMemory]:
        return iter(self.allocators)

    def __len__(self) -> int:
        return len(self.allocators)

    def __str__(self) -> str:
        return self.report

    def __repr__(self) -> str:
        peaks = ", ".join(f"{one.allocator}: {one.peak_bytes:,} bytes" for one in self)
        return f"<tfprof memory, peaks of {peaks}>"


class Advice:
    """What checkers found: findings to print, iterate, convert.

    `notes` says what was odd about the files, and which checkers could not say all.
    """

    def __init__(self, reports: Reports, notes_: Sequence[str] = ()) -> None:
        self.reports = reports
        self.notes = (*notes_, *reports.notes)

    def text(self, *, colour: bool = False) -> str:
        """The findings under the names of their checkers; those of the original in its words."""
        from tfprof.outputs import advice

        return advice.text(self.reports, colour=colour)

    def __iter__(self) -> Iterator[Finding]:
        return (finding for report in self.reports.reports for finding in report.findings)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __getitem__(self, checker: str) -> tuple[Finding, ...]:
        """The findings of one checker."""
        found = {report.checker: report.findings for report in self.reports.reports}
        if checker not in found:
            raise KeyError(f"{checker!r} was not asked. {nearest(checker, found)}")
        return found[checker]

    def to_dict(self) -> dict[str, Any]:
        """All findings by checker, and the notes, as plain values."""
        return {
            "checkers": {
                report.checker: [finding.to_dict() for finding in report.findings]
                for report in self.reports.reports
            },
            "notes": list(self.notes),
        }

    def to_message(self) -> Message:
        """The findings as an AdviceProto."""
        from tfprof.outputs import advice_message

        return advice_message.build(self.reports)

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"<tfprof advice: {len(self):,} findings>"


@dataclass(frozen=True, slots=True)
class Info:
    """What some files are, one by one and together."""

    files: tuple[FileSummary, ...]
    profile: LoadedProfile

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values."""
        return {
            "files": [
                {
                    "path": file.path,
                    "kind": file.kind.name.lower(),
                    **{fact.replace(" ", "_"): count for fact, count in file.facts.items()},
                    "devices": list(file.devices),
                }
                for file in self.files
            ],
            "ops": len(self.profile.columns.ops),
            "ops_seen_running": self.profile.columns.covered_ops,
            "steps": self.profile.steps,
            "devices": list(self.profile.columns.devices.name),
            "can_answer": self.profile.questions(),
            "notes": list(self.profile.notes),
        }


def info(*paths: Path, **inputs: Any) -> Info:
    """What each file is and holds, and which questions can be asked of them together."""
    given = {name: find(name, INPUT_OPTIONS).check(value) for name, value in inputs.items()}
    return describe([path_text(path) for path in paths], Inputs(**given))


def describe(
    paths: Sequence[str], inputs: Inputs, progress: Callable[[str], None] = lambda _: None
) -> Info:
    """`info`, with the keywords already checked."""
    from tfprof.sources.summary import summarise

    profile = load_inputs(paths, inputs, progress)
    return Info(tuple(summarise(file) for file in input_files(paths, inputs)), profile)
