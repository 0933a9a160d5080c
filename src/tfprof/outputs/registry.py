"""Registry of output formats, and the writing of files that appear whole or not at all.

The module of a format is imported when it is first used, so help can list all formats without
numpy.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tfprof.errors import OptionError, OutputError, nearest
from tfprof.options import OutputSpec
from tfprof.views.registry import VIEWS, Trait

if TYPE_CHECKING:
    from tfprof.model.profile import ProfileColumns
    from tfprof.outputs.parts import Part, Written
    from tfprof.views.view import View


class Output(NamedTuple):
    """An output format: the module that encodes it, its one-line help, and which views it takes.

    A switch is a setting without a value, and a keyword of the functions of the module.
    """

    module: str
    help: str
    is_in_parts: bool = False  # the module has `parts`: several files, or notes on the only one
    needs: Trait = Trait(0)  # only views with these traits can be written
    prefers: Trait = Trait(0)  # of them, it is best for those with these
    hint: str = ""  # what to do with the file
    switches: tuple[str, ...] = ()

    @property
    def views(self) -> list[str]:
        """The names of the views that can be written, those it is best for first."""
        able = [name for name, kind in VIEWS.items() if self.needs in kind.traits]
        return sorted(able, key=lambda name: self.prefers not in VIEWS[name].traits)

    def usage(self, kind: str, file: str) -> str:
        """How an output of that kind is asked for."""
        return f"{kind}:outfile={file}" + "".join(f"[,{switch}]" for switch in self.switches)

    def parts(self, view: View, **switches: bool) -> Iterable[Part]:
        """The files that a view becomes."""
        if self.is_in_parts:
            write: Callable[..., Iterable[Part]] = import_module(self.module).parts
            return write(view, **switches)
        from tfprof.outputs.parts import Part  # noqa: PLC0415 -- help does without

        return (Part("", self.encode(view)),)

    def encode(self, view: View) -> Iterable[bytes]:
        """The bytes of the one file, piece by piece."""
        write: Callable[[View], Iterable[bytes]] = import_module(self.module).encode
        return write(view)


FILE_OUTPUTS: dict[str, Output] = {
    "file": Output("tfprof.outputs.text", "the report, as text"),
    "json": Output("tfprof.outputs.json", "all rows and numbers, for scripts"),
    "csv": Output("tfprof.outputs.csv", "a line a row, for spreadsheets"),
    "message": Output("tfprof.outputs.message", "the protobuf message"),
    "timeline": Output(
        "tfprof.outputs.timeline",
        "when ops ran, as FILE_STEP for a browser (not op)",
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
        hint="look at it with pprof -http=: FILE",
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
        "all steps, and facts of ops, for Perfetto (not op)",
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


# These need no file.
PLAIN_OUTPUTS: dict[str, str] = {
    "stdout": "the report, printed",
    "none": "nothing at all",
}


def require(spec: OutputSpec, view: str = "") -> None:
    """Refuse an unknown output, one without its file, and one that `view` cannot be written to."""
    kinds = [*PLAIN_OUTPUTS, *FILE_OUTPUTS]
    if spec.kind not in kinds:
        raise OptionError(f"No output `{spec.kind}`. {nearest(spec.kind, kinds)}")
    for key, _ in spec.settings:
        if spec.kind in PLAIN_OUTPUTS:
            raise OptionError(f"Output `{spec.kind}` has no settings; file:outfile=PATH has one.")
        known = ("outfile", *FILE_OUTPUTS[spec.kind].switches)
        if key not in known:
            names = " and ".join(f"`{name}`" for name in known)
            raise OptionError(f"Output `{spec.kind}` has no setting `{key}`, only {names}.")
    if spec.kind in FILE_OUTPUTS and not spec.outfile:
        raise OptionError(f"Output `{spec.kind}` needs a file: {spec.kind}:outfile=PATH.")
    if view and spec.kind in FILE_OUTPUTS and view not in FILE_OUTPUTS[spec.kind].views:
        others = " or ".join(FILE_OUTPUTS[spec.kind].views)
        raise OptionError(f"Output `{spec.kind}` is not for the {view} view: ask {others} for it.")


def write(view: View, spec: OutputSpec) -> list[Written]:
    """Write `view` to the file that `spec` names, or to several whose names begin so."""
    from tfprof.outputs.parts import Written  # noqa: PLC0415 -- help does without

    written = []
    output = FILE_OUTPUTS[spec.kind]
    switches = {key: True for key, _ in spec.settings if key in output.switches}
    for part in output.parts(view, **switches):
        path = spec.outfile + part.suffix
        write_file(path, part.pieces)
        written.append(Written(path, tuple(part.notes)))
    return written


def sentences(spec: OutputSpec, written: Iterable[Written], *, hints: bool = True) -> list[str]:
    """What to tell whoever asked for the files: which there are, and what to do with them."""
    found = [line for file in written for line in (f"wrote {file.path}", *file.notes)]
    if found and hints and (hint := FILE_OUTPUTS[spec.kind].hint):
        found.append(hint)
    return found


def write_file(path: str, pieces: Iterable[bytes]) -> None:
    """Put `pieces` into the file at `path`; until the last one is there, it stays as it was.

    What is no plain file, as `/dev/stdout` or a named pipe, is written to as it is.
    """
    try:
        if _is_special(path):
            with Path(path).open("wb") as file:
                file.writelines(pieces)
        else:
            _replace(Path(path).resolve(), pieces)  # through a link, which stays one
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {_why(path, error)}") from None


def _is_special(path: str) -> bool:
    try:
        mode = Path(path).stat().st_mode
    except FileNotFoundError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _replace(target: Path, pieces: Iterable[bytes]) -> None:
    """Fill a new file beside `target`, then let it take that name."""
    import tempfile  # noqa: PLC0415 -- for those alone who write to a file

    handle, name = tempfile.mkstemp(prefix=".tfprof-", dir=target.parent)
    partial = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.writelines(pieces)
        partial.chmod(0o666 & ~_umask())  # a temporary file is its owner's alone
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def _umask() -> int:
    """What the user keeps from others; it can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _why(path: str, error: OSError) -> str:
    """What kept a file from being written, and what to do."""
    folder = Path(path).parent
    if isinstance(error, IsADirectoryError):
        return "it is a folder; name a file in it."
    if isinstance(error, FileNotFoundError):
        return f"there is no folder {folder}; make it first."
    if isinstance(error, PermissionError):
        return f"you may not write to the folder {folder}; choose another."
    return f"{error.strerror or error}."
