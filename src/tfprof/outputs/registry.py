"""Registry of output formats.

A format's module is imported on first use, so that help can list all formats without numpy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple

from tfprof.errors import OptionError, nearest
from tfprof.options import OutputSpec
from tfprof.views.registry import VIEWS, Trait

if TYPE_CHECKING:
    from tfprof.model.profile import ProfileColumns
    from tfprof.outputs.parts import Part, Written
    from tfprof.views.view import View


class Output(NamedTuple):
    """An output format: the module that encodes it, its one-line help, and the views it supports.

    A switch is a setting without a value; the module's functions take it as a keyword.
    """

    module: str
    help: str
    is_in_parts: bool = False  # the module has `parts`, for several files or for notes
    needs: Trait = Trait(0)  # supports only views with these traits
    prefers: Trait = Trait(0)  # suits views with these traits best
    hint: str = ""  # what to do with the file
    switches: tuple[str, ...] = ()

    def supports(self, view: str) -> bool:
        """Whether a view of that name can be written."""
        return not self.needs or self.needs in VIEWS[view].traits

    @property
    def views(self) -> list[str]:
        """The names of the supported views, best suited first."""
        supported = [name for name in VIEWS if self.supports(name)]
        return sorted(supported, key=lambda name: self.prefers not in VIEWS[name].traits)

    def usage(self, kind: str, file: str) -> str:
        """The value of `-output` that selects this format."""
        return f"{kind}:outfile={file}" + "".join(f"[,{switch}]" for switch in self.switches)

    def parts(self, view: View, **switches: bool) -> Iterable[Part]:
        """The files to write for a view."""
        if self.is_in_parts:
            write: Callable[..., Iterable[Part]] = import_module(self.module).parts
            return write(view, **switches)
        from tfprof.outputs.parts import Part  # noqa: PLC0415 -- help does not need it

        return (Part("", self.encode(view)),)

    def encode(self, view: View) -> Iterable[bytes]:
        """The bytes of a format with a single file, in pieces."""
        write: Callable[[View], Iterable[bytes]] = import_module(self.module).encode
        return write(view)


FILE_OUTPUTS: dict[str, Output] = {
    "file": Output("tfprof.outputs.text", "the report, as text"),
    "json": Output("tfprof.outputs.json", "all rows and numbers, for scripts"),
    "csv": Output("tfprof.outputs.csv", "one line per row, for spreadsheets"),
    "message": Output("tfprof.outputs.message", "the answer as a protobuf message"),
    "timeline": Output(
        "tfprof.outputs.timeline",
        "op timings as FILE_STEP, for a browser (not op)",
        is_in_parts=True,
        needs=Trait.NESTED,
        prefers=Trait.TIMED,
        hint="open it in https://ui.perfetto.dev or chrome://tracing",
    ),
    "pprof": Output(
        "tfprof.outputs.pprof",
        "stacks, for pprof and flame graphs (not op)",
        is_in_parts=True,
        needs=Trait.NESTED,
        prefers=Trait.CODE,
        hint="view it with pprof -http=: FILE",
        switches=("complete",),
    ),
    "speedscope": Output(
        "tfprof.outputs.speedscope",
        "flame graphs, for speedscope (not op)",
        is_in_parts=True,
        needs=Trait.NESTED,
        prefers=Trait.CODE,
        hint="open it in https://www.speedscope.app",
    ),
    "perfetto": Output(
        "tfprof.outputs.perfetto",
        "all steps with op details, for Perfetto (not op)",
        is_in_parts=True,
        needs=Trait.NESTED,
        prefers=Trait.TIMED,
        hint="open it in https://ui.perfetto.dev",
    ),
}


class SavedFormat(NamedTuple):
    """A format of saved profiles: the module that encodes it, and its one-line help."""

    module: str
    help: str

    def encode(self, profile: ProfileColumns, notes: Sequence[str]) -> Iterable[bytes]:
        """The file, piece by piece; `notes` are remarks on the files the profile came from."""
        write: Callable[[ProfileColumns, Sequence[str]], Iterable[bytes]]
        write = import_module(self.module).encode
        return write(profile, notes)

    def lacks(self, profile: ProfileColumns) -> Iterable[str]:
        """What a file of this format leaves out of a profile, in sentences."""
        found: Callable[[ProfileColumns], Iterable[str]] = import_module(self.module).lacks
        return found(profile)


# The first one is the default.
SAVED_FORMATS: dict[str, SavedFormat] = {
    "tfprof": SavedFormat(
        "tfprof.outputs.profile_file", "everything, as tables that DuckDB and pandas read too"
    ),
    "profile_proto": SavedFormat(
        "tfprof.outputs.profile_proto",
        "ProfileProto, for the original tool: one recording, whole microseconds",
    ),
}


def saved_format(name: str) -> SavedFormat:
    """The format of saved profiles of that name."""
    if name not in SAVED_FORMATS:
        raise OptionError(f"Unknown format `{name}`. {nearest(name, SAVED_FORMATS)}")
    return SAVED_FORMATS[name]


# Outputs without a file.
PLAIN_OUTPUTS: dict[str, str] = {
    "stdout": "the report, printed",
    "none": "nothing",
}


def require(spec: OutputSpec, view: str = "") -> None:
    """Raise `OptionError` unless `spec` is complete and its format supports `view`."""
    kinds = [*PLAIN_OUTPUTS, *FILE_OUTPUTS]
    if spec.kind not in kinds:
        raise OptionError(f"Unknown output `{spec.kind}`. {nearest(spec.kind, kinds)}")
    for key, _ in spec.settings:
        if spec.kind in PLAIN_OUTPUTS:
            raise OptionError(
                f"Output `{spec.kind}` takes no settings; use file:outfile=PATH to write a file."
            )
        known = ("outfile", *FILE_OUTPUTS[spec.kind].switches)
        if key not in known:
            names = " and ".join(f"`{name}`" for name in known)
            raise OptionError(f"Output `{spec.kind}` has no setting `{key}`, only {names}.")
    if spec.kind in FILE_OUTPUTS and not spec.outfile:
        raise OptionError(f"Output `{spec.kind}` needs a file: {spec.kind}:outfile=PATH.")
    if view and spec.kind in FILE_OUTPUTS and not FILE_OUTPUTS[spec.kind].supports(view):
        supported = " or ".join(FILE_OUTPUTS[spec.kind].views)
        raise OptionError(
            f"Output `{spec.kind}` does not support the {view} view: use {supported}."
        )


def write(view: View, spec: OutputSpec) -> list[Written]:
    """Write `view` to the file that `spec` names, or to several files with that prefix."""
    from tfprof import atomic_files  # noqa: PLC0415 -- help does not need it
    from tfprof.outputs.parts import Written  # noqa: PLC0415 -- the same

    written = []
    output = FILE_OUTPUTS[spec.kind]
    switches = {key: True for key, _ in spec.settings if key in output.switches}
    for part in output.parts(view, **switches):
        path = spec.outfile + part.suffix
        atomic_files.write(path, part.pieces)
        written.append(Written(path, tuple(part.notes)))
    return written


def sentences(spec: OutputSpec, written: Iterable[Written], *, hints: bool = True) -> list[str]:
    """Messages for the user: the written files, their notes, and how to open them."""
    found = [line for file in written for line in (f"wrote {file.path}", *file.notes)]
    if found and hints and (hint := FILE_OUTPUTS[spec.kind].hint):
        found.append(hint)
    return found
