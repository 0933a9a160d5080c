"""Comparing two profiles from Python: `tfprof.diff("runs/a", "runs/b").scope(max_depth=3)`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from tfprof import comparison_outputs, terminal
from tfprof.api import Profile, load
from tfprof.comparison.compared import Compared
from tfprof.comparison.diff import build_diff
from tfprof.comparison.numbers import one_sided
from tfprof.comparison.pair import Pair
from tfprof.comparison.summary import DiffSummary, build_summary
from tfprof.errors import OptionError, nearest
from tfprof.metrics import AUTO
from tfprof.options import Options, OutputSpec
from tfprof.outputs import (
    diff_csv,
    diff_json,
    diff_rows,
    diff_text,
    frames,
    html_diff,
)
from tfprof.outputs.diff_sentences import sentences
from tfprof.views.notes import notes, subjects
from tfprof.views.registry import VIEWS
from tfprof.views.view import chosen_by

if TYPE_CHECKING:
    import pandas as pd

    from tfprof.page.diff_report import DiffReport

Path: TypeAlias = str | os.PathLike[str]
Side: TypeAlias = Profile | Path | Sequence[Path]


def diff(base: Side, new: Side, **inputs: Any) -> Diff:
    """Compare two profiles: what got slower, larger or heavier, and where.

    Each side is a profile, a path, or several paths that belong together; `inputs` are the keywords
    of `tfprof.load`, for paths.
    """
    return Diff(_loaded(base, inputs), _loaded(new, inputs))


def _loaded(side: Side, inputs: dict[str, Any]) -> Profile:
    if isinstance(side, Profile):
        if inputs:
            raise OptionError(f"`{next(iter(inputs))}` applies to paths, not to a loaded profile.")
        return side
    paths = [side] if isinstance(side, str | os.PathLike) else [*side]
    return load(*paths, **inputs)


def _of_both(base: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """The notes on both sides; those that are equal are given once."""
    yield from (note for note in base if note in new)
    yield from (f"base: {note}" for note in base if note not in new)
    yield from (f"new: {note}" for note in new if note not in base)


class Diff:
    """Two profiles to compare; `base` is the one before the change, `new` the one after it."""

    def __init__(self, base: Profile, new: Profile) -> None:
        self.base, self.new = base, new
        self._pair = Pair(base.columns, new.columns)

    @property
    def summary(self) -> DiffSummary:
        """The time of a step, the part of the model that changed most, and totals."""
        return build_summary(self._pair)

    @property
    def sentences(self) -> list[str]:
        """The summary in sentences."""
        return sentences(self.summary)

    def view(self, kind: str, options: Options, *, unchanged: bool = False) -> DiffAnswer:
        """Compare one view; the error for an unknown view suggests the nearest name."""
        if kind not in VIEWS:
            raise OptionError(f"Unknown view `{kind}`. {nearest(kind, VIEWS)}")
        comparison_outputs.require(options.destination, kind)
        view = build_diff(self._pair, kind, options)
        found = [*one_sided(self.base.columns, self.new.columns)] if AUTO in options.select else []
        sides = ((self.base, view.base), (self.new, view.new))
        found += _of_both(*(side.notes_on(subjects(one)) + notes(one) for side, one in sides))
        words = self.base.words, self.new.words
        summary = build_summary(self._pair, chosen_by(options))
        return DiffAnswer(Compared(view, summary, *words, unchanged, tuple(found)))

    def scope(self, *, unchanged: bool = False, **options: Any) -> DiffAnswer:
        """Compare ops by name scope; options as in `tfprof diff --help`."""
        return self.view("scope", Options.of(**options), unchanged=unchanged)

    def graph(self, *, unchanged: bool = False, **options: Any) -> DiffAnswer:
        """Compare ops by what feeds them; options as in `tfprof diff --help`."""
        return self.view("graph", Options.of(**options), unchanged=unchanged)

    def code(self, *, unchanged: bool = False, **options: Any) -> DiffAnswer:
        """Compare ops by the line of code that made them; options as in `tfprof diff --help`."""
        return self.view("code", Options.of(**options), unchanged=unchanged)

    def op(self, *, unchanged: bool = False, **options: Any) -> DiffAnswer:
        """Compare ops by kind; options as in `tfprof diff --help`."""
        return self.view("op", Options.of(**options), unchanged=unchanged)

    def layers(self, *, unchanged: bool = False, **options: Any) -> DiffAnswer:
        """Compare ops by layer of the model; options as in `tfprof diff --help`."""
        return self.view("layers", Options.of(**options), unchanged=unchanged)

    def report(self) -> DiffReport:
        """The comparison as a page for a browser: `diff.report().save("diff.html")`.

        In a notebook it is shown inline.
        """
        from tfprof.page.diff_report import DiffReport  # noqa: PLC0415 -- most answers need no page

        return DiffReport(self.scope().compared)

    def __str__(self) -> str:
        return "\n".join(self.sentences)

    def __repr__(self) -> str:
        return f"<tfprof diff of {self.base!r} and {self.new!r}>"


class DiffAnswer:
    """One view of two profiles: rows to print, iterate, convert or write.

    `compared` has the columns: `compared.view.before("params")` and so on.
    """

    def __init__(self, compared: Compared) -> None:
        self.compared = compared

    @property
    def report(self) -> str:
        """The summary, totals and a table for each number, as text."""
        return diff_text.report(self.compared)

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on what is missing from the answer; empty if nothing is."""
        return self.compared.notes

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return diff_rows.rows(self.compared)

    def to_dict(self) -> dict[str, Any]:
        """The comparison as plain values."""
        return diff_json.as_dict(self.compared)

    def to_json(self) -> str:
        """The same as JSON text."""
        return self._encoded("json")

    def to_markdown(self) -> str:
        """The summary and the largest changes as Markdown, for a pull request."""
        return self._encoded("markdown")

    def _encoded(self, kind: str) -> str:
        return b"".join(comparison_outputs.DIFF_OUTPUTS[kind].encode(self.compared)).decode()

    def to_dataframe(self) -> pd.DataFrame:
        """One row per changed row, with columns such as `params_before` and `params_change`."""
        rows = list(diff_csv.flat_rows(self.compared))
        return frames.data_frame(rows, list(rows[0]))

    def write(
        self, output: str | None = None, show: Callable[[Iterator[str]], None] | None = None
    ) -> list[str]:
        """Write to `output`: `file:outfile=F`, `markdown:outfile=F`, `stdout` and so on.

        The default is the `output` option of the question. If `show` is given, it gets what would
        be printed. Returns sentences that name the file.
        """
        options = self.compared.view.options
        spec = options.destination if output is None else OutputSpec.parse(output)
        comparison_outputs.require(spec, self.compared.view.kind)
        if spec.kind in comparison_outputs.DIFF_OUTPUTS:
            return comparison_outputs.write(self.compared, spec)
        if spec.kind == "stdout":
            (show or terminal.write)(iter([self.report]))
        return []

    def _repr_html_(self) -> str:
        return html_diff.of_diff(self.compared)

    def __str__(self) -> str:
        return self.report

    def __repr__(self) -> str:
        return f"<tfprof diff, {self.compared.view.kind} view: {len(self.compared.view):,} rows>"
