"""Registry of the output formats of comparisons."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from tfprof.errors import OptionError, nearest
from tfprof.options import OutputSpec
from tfprof.views.registry import VIEWS, Trait

if TYPE_CHECKING:
    from tfprof.comparison.compared import Compared


class DiffOutput(NamedTuple):
    """An output format: the module with its `encode`, its help, and how to open its files."""

    module: str
    help: str
    hint: str = ""
    needs: Trait = Trait(0)  # supports only views with these traits

    def encode(self, compared: Compared) -> Iterable[bytes]:
        """The bytes of the file, in pieces."""
        write: Callable[[Compared], Iterable[bytes]] = import_module(self.module).encode
        return write(compared)


DIFF_OUTPUTS: dict[str, DiffOutput] = {
    "file": DiffOutput("tfprof.outputs.diff_text", "the comparison, as text"),
    "json": DiffOutput("tfprof.outputs.diff_json", "all changed rows, for scripts"),
    "csv": DiffOutput("tfprof.outputs.diff_csv", "one line per changed row, for spreadsheets"),
    "markdown": DiffOutput("tfprof.outputs.diff_markdown", "tables for a pull request"),
    "html": DiffOutput(
        "tfprof.page.diff_report",
        "a page with all views, numbers and timelines",
        "open it in a browser",
    ),
    "pprof": DiffOutput(
        "tfprof.outputs.diff_pprof",
        "stacks of both sides, for pprof (not op)",
        "view it with pprof -http=: FILE",
        Trait.NESTED,
    ),
    "speedscope": DiffOutput(
        "tfprof.outputs.diff_speedscope",
        "flame graphs of what grew and what shrank (not op)",
        "open it in https://www.speedscope.app",
        Trait.NESTED,
    ),
}

# Outputs without a file.
_PLAIN = ("stdout", "none")


def require(spec: OutputSpec, view: str) -> None:
    """Raise `OptionError` unless `spec` is complete and its format supports `view`."""
    if spec.kind in _PLAIN and not spec.settings:
        return
    if spec.kind not in DIFF_OUTPUTS:
        kinds = [*_PLAIN, *DIFF_OUTPUTS]
        raise OptionError(f"A comparison has no output `{spec.kind}`. {nearest(spec.kind, kinds)}")
    if [key for key, _ in spec.settings] != ["outfile"] or not spec.outfile:
        raise OptionError(f"Output `{spec.kind}` takes a file only: {spec.kind}:outfile=PATH.")
    if DIFF_OUTPUTS[spec.kind].needs not in VIEWS[view].traits:
        raise OptionError(f"Output `{spec.kind}` does not support the {view} view.")


def write(compared: Compared, spec: OutputSpec) -> list[str]:
    """Write the file that `spec` names; returns sentences for the user."""
    from tfprof import atomic_files  # noqa: PLC0415 -- help does not need it

    output = DIFF_OUTPUTS[spec.kind]
    atomic_files.write(spec.outfile, output.encode(compared))
    return [f"wrote {spec.outfile}", *filter(None, [output.hint])]
