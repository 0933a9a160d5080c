"""Answers of views, of memory over time and of the adviser: print, iterate, convert or write them.

Modules that only some methods need are imported on first use.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from tfprof import terminal
from tfprof.errors import nearest
from tfprof.model.profile import ProfileColumns
from tfprof.options import Options, OutputSpec
from tfprof.outputs import registry
from tfprof.views.view import Hidden, View, build

if TYPE_CHECKING:
    import pandas as pd

    from tfprof.advisor.finding import Finding
    from tfprof.advisor.registry import Reports
    from tfprof.formats.messages import Message
    from tfprof.outputs.parts import Written
    from tfprof.outputs.tabular import Row
    from tfprof.views.memory import AllocatorMemory, Memory


class Answer:
    """The answer to one question: rows to print, iterate, convert or write."""

    def __init__(self, view: View) -> None:
        self.view = view

    def __reduce__(self) -> tuple[Callable[[], Answer], tuple[()]]:
        # A view computes most of its numbers on demand, so a pickled answer is asked again.
        view = self.view
        return partial(_asked_again, view.kind, view.profile, view.options, view.notes), ()

    @property
    def table(self) -> str:
        """The table as text, starting with its legend."""
        from tfprof.outputs import text

        return text.table(self.view)

    @property
    def report(self) -> str:
        """The table as text, after sentences that explain its columns."""
        from tfprof.outputs import text

        return text.report(self.view)

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on what is missing from the answer; empty if nothing is."""
        return self.view.notes

    def without_zero_columns(self) -> Answer:
        """The same answer; its table omits numbers that are 0 in every row, but never all."""
        from tfprof.outputs import fields

        view = self.view
        numbers = [metric for metric in fields.columns(view) if metric.is_number]
        zeros = [metric for metric in numbers if not view.total[metric.key].any()]
        if zeros == numbers:
            zeros = zeros[1:]
        left_out = frozenset(metric.key for metric in zeros if not view.own[metric.key].any())
        if not left_out:
            return self
        names = " and ".join(sorted(left_out))
        note = f"{names}: 0 in every row, so not shown; a pipe or a file gets all columns."
        return Answer(replace(view, left_out=left_out, noted=lambda: (*view.notes, note)))

    def fitted(self, width: int) -> Answer:
        """The same answer; an aligned table omits columns if it is wider than `width` characters.

        Only the least important columns are omitted; the others may still be too wide.
        """
        from tfprof.outputs import aligned_rows
        from tfprof.views.registry import Trait

        view = self.view
        omitted = aligned_rows.too_wide(view, width) if Trait.ALIGNED in view.traits else []
        if not omitted:
            return self
        names = ",".join(metric.key for metric in omitted)
        note = f"columns that do not fit on the terminal: {names}; -select shows them."
        left_out = view.left_out | {metric.key for metric in omitted}
        return Answer(replace(view, left_out=left_out, noted=lambda: (*view.notes, note)))

    @property
    def hidden(self) -> Hidden:
        """What is accounted for but not shown."""
        return self.view.hidden

    @property
    def uncounted(self) -> dict[str, int]:
        """The number of ops of each kind that has no float-op rule."""
        from tfprof.measures.numbers import float_ops_per_run

        profile = self.view.profile
        # The kind of an op that is only known from runs is its name.
        return dict(float_ops_per_run(profile).uncounted_kinds(profile.ops.is_defined))

    def __iter__(self) -> Iterator[Row]:
        from tfprof.outputs import tabular

        return tabular.rows(self.view)

    def __len__(self) -> int:
        return len(self.view)

    def __getitem__(self, name: str) -> Row:
        """The first row of that name."""
        from tfprof.outputs import tabular

        rows = self.view.name
        place = rows.row_of(name)
        if place < 0:
            close = nearest(name, rows, alike=rows.alike(name), most=3)
            raise KeyError(f"no row {name!r} is shown. {close}")
        return tabular.row(self.view, place)

    def to_dict(self) -> dict[str, Any]:
        """The question, what is hidden, and all rows, as plain values."""
        from tfprof.outputs import json

        return json.as_dict(self.view)

    def to_json(self) -> str:
        """The same as JSON text."""
        from tfprof.outputs import json

        return b"".join(json.encode(self.view)).decode()

    def to_dataframe(self, *, root: bool = False) -> pd.DataFrame:
        """The rows as a pandas data frame: own number, total and share of each metric.

        The root is left out, so that columns can be summed, unless `root` is True.
        """
        from tfprof.outputs import frames

        return frames.of_view(self.view, root=root)

    def to_message(self) -> Message:
        """The rows as a protobuf message: GraphNodeProto, or MultiGraphNodeProto."""
        from tfprof.outputs import message

        return message.build(self.view)

    def write(
        self, output: str | None = None, show: Callable[[Iterator[str]], None] | None = None
    ) -> list[Written]:
        """Write to `output`: `file:outfile=F`, `json:outfile=F`, `stdout`, `none`.

        The default is the `output` option of the question. If `show` is given, it gets what would
        be printed, piece by piece. Returns the files that were written, with their `path` and
        `notes` on each.
        """
        spec = self.view.options.destination if output is None else OutputSpec.parse(output)
        registry.require(spec, self.view.kind)
        if spec.kind in registry.FILE_OUTPUTS:
            return registry.write(self.view, spec)
        if spec.kind == "stdout":
            from tfprof.outputs import text

            (show or terminal.write)(piece.decode() for piece in text.encode(self.view))
        return []

    def __str__(self) -> str:
        return self.table

    def __repr__(self) -> str:
        rows, hidden = len(self.view), self.hidden.ops
        return f"<tfprof {self.view.kind} view: {rows:,} rows, {hidden:,} ops hidden>"

    def _repr_html_(self) -> str:
        from tfprof.outputs import html
        from tfprof.page import inline

        return inline.of_view(self.view, html.of_view(self.view))


def _asked_again(
    kind: str, profile: ProfileColumns, options: Options, notes: tuple[str, ...]
) -> Answer:
    """Ask the question of a pickled answer again."""
    from tfprof.views.definitions import applied

    return Answer(replace(build(kind, applied(profile, options), options), noted=lambda: notes))


class MemoryAnswer:
    """Memory over time: an `AllocatorMemory` for each allocator, the highest peak first.

    Its `curve`, `levels` and breakdowns (`by_scope`, `by_kind`, `by_line`) are columns.
    """

    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    @property
    def allocators(self) -> tuple[AllocatorMemory, ...]:
        """The memory of each allocator."""
        return self.memory.allocators

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on what is missing from the answer; empty if nothing is."""
        return self.memory.notes

    @property
    def report(self) -> str:
        """Peaks, curves and what holds the memory, as text."""
        return self.draw()

    def draw(self, width: int = 80, encoding: str = "utf-8") -> str:
        """The report with curves `width` columns wide, in characters that `encoding` has."""
        from tfprof.outputs import chart, memory_text

        return memory_text.report(self.memory, width=width, pen=chart.pen_for(encoding))

    def show(self, show: Callable[[Iterable[str]], None] | None = None) -> None:
        """Print the report in the width and the characters of the terminal.

        If `show` is given, it gets the text instead.
        """
        from shutil import get_terminal_size

        stream = sys.stdout
        if stream is None:  # the program was started without one; print would do nothing
            return
        width = get_terminal_size().columns if stream.isatty() else 80
        report = self.draw(width, stream.encoding or "ascii")
        if show is None:
            terminal.write([report])
        else:
            show([report])

    def to_dict(self) -> dict[str, Any]:
        """The question and the memory of each allocator, as plain values."""
        from tfprof.outputs import memory_json

        return memory_json.as_dict(self.memory)

    def to_json(self) -> str:
        """The same as JSON text."""
        from tfprof.outputs import memory_json

        return b"".join(memory_json.encode(self.memory)).decode()

    def to_dataframe(self) -> pd.DataFrame:
        """What held memory at the peak: one row per allocator, breakdown and scope, kind or line.

        `share` is the share of the peak. Rows of scopes include those below them.
        """
        from tfprof.outputs import frames, memory_json

        return frames.data_frame(memory_json.held_rows(self.memory), memory_json.HELD_COLUMNS)

    def _repr_html_(self) -> str:
        from tfprof.outputs import html_memory

        return html_memory.of_memory(self.memory)

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
    """The findings of the checkers: print, iterate or convert them.

    `notes` has remarks on the files, and on checkers that are incomplete.
    """

    def __init__(self, reports: Reports, notes_: Sequence[str] = ()) -> None:
        self.reports = reports
        self.notes = (*notes_, *reports.notes)

    @property
    def report(self) -> str:
        """The findings as text."""
        return self.text()

    def text(self, *, colour: bool = False) -> str:
        """The findings by checker.

        For files of the original, its checkers use its wording; otherwise only checkers with
        findings appear, the largest gain first.
        """
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
            raise KeyError(f"{checker!r} was not run. {self._instead(checker, list(found))}")
        return found[checker]

    @staticmethod
    def _instead(checker: str, ran: list[str]) -> str:
        """A sentence on a checker that did not run: the likely name, or what did run."""
        from tfprof.advisor.registry import names

        known = names()
        if checker in known:
            return f"These were: {', '.join(ran) or 'none'}."
        return nearest(checker, known)

    def to_dict(self) -> dict[str, Any]:
        """All findings by checker, and the notes, as plain values."""
        from tfprof.outputs import schemas

        return {
            "schema": schemas.name_of("advice"),
            "checkers": {
                report.checker: [finding.to_dict() for finding in report.findings]
                for report in self.reports.reports
            },
            "notes": list(self.notes),
        }

    def to_json(self) -> str:
        """The same as JSON text."""
        import json

        return json.dumps(self.to_dict(), indent=1) + "\n"

    def to_dataframe(self) -> pd.DataFrame:
        """One row per finding, with its gain as numbers."""
        from tfprof.outputs import frames

        columns = ("checker", "sentence", "gain", "of", "unit", "share", "ops", "command")
        rows = (
            dict(zip(columns, _finding_row(report.checker, finding), strict=True))
            for report in self.reports.reports
            for finding in report.findings
        )
        return frames.data_frame(rows, columns)

    def _repr_html_(self) -> str:
        from tfprof.outputs import html_advice

        return html_advice.of_advice(self.reports, self.notes)

    def to_message(self) -> Message:
        """The findings as an AdviceProto."""
        from tfprof.outputs import advice_message

        return advice_message.build(self.reports)

    def __str__(self) -> str:
        return self.report

    def __repr__(self) -> str:
        return f"<tfprof advice: {len(self):,} findings>"


def _finding_row(checker: str, finding: Finding) -> tuple[Any, ...]:
    gain = finding.gain
    amounts: tuple[Any, ...] = (None,) * 4
    if gain is not None:
        amounts = (gain.amount, gain.of, gain.unit.name.lower(), gain.share)
    return checker, finding.sentence, *amounts, list(finding.ops), " ".join(finding.command)
