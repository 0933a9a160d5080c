"""The one table of ways out, and the writing of files that appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from tfprof.errors import OptionError, OutputError, nearest
from tfprof.options import OutputSpec
from tfprof.outputs import csv, json, message, text
from tfprof.views.view import View


@dataclass(frozen=True, slots=True)
class Output:
    """One way out: what it writes of a view, and what it is good for."""

    encode: Callable[[View], Iterable[bytes]]
    help: str


def _report(view: View) -> Iterable[bytes]:
    yield text.report(view).encode()


def _message(view: View) -> Iterable[bytes]:
    yield message.encode(view).SerializeToString(deterministic=True)


FILE_OUTPUTS: dict[str, Output] = {
    "file": Output(_report, "the report, as text"),
    "json": Output(json.encode, "all rows and numbers, for scripts"),
    "csv": Output(csv.encode, "a line a row, for spreadsheets"),
    "message": Output(_message, "the protobuf message"),
}

# These need no file.
PLAIN_OUTPUTS: dict[str, str] = {
    "stdout": "the report, printed",
    "none": "nothing at all",
}


def check(text_of_spec: str) -> OutputSpec:
    """An output as the user wrote it, taken apart; refused if there is no such."""
    spec = OutputSpec.parse(text_of_spec)
    known = [*PLAIN_OUTPUTS, *FILE_OUTPUTS]
    if spec.kind not in known:
        raise OptionError(f"No output `{spec.kind}`. {nearest(spec.kind, known)}")
    for key, _ in spec.settings:
        if key != "outfile" or spec.kind in PLAIN_OUTPUTS:
            raise OptionError(f"Output `{spec.kind}` has no setting `{key}`.")
    if spec.kind in FILE_OUTPUTS and not spec.outfile:
        raise OptionError(f"Output `{spec.kind}` needs a file: {spec.kind}:outfile=PATH.")
    return spec


def write(view: View, spec: OutputSpec) -> None:
    """Write `view` to the file that `spec` names."""
    write_file(spec.outfile, FILE_OUTPUTS[spec.kind].encode(view))


def write_file(path: str, pieces: Iterable[bytes]) -> None:
    """Put `pieces` into the file at `path`; until the last one is there, it stays as it was."""
    target = Path(path)
    partial: Path | None = None
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        partial = Path(name)
        with os.fdopen(handle, "wb") as file:
            for piece in pieces:
                file.write(piece)
        partial.chmod(0o666 & ~_umask())  # a temporary file is its owner's alone
        partial.replace(target)
        partial = None
    except OSError as error:
        reason = error.strerror or str(error)
        raise OutputError(f"{path}: cannot be written: {reason}; check the folder.") from None
    finally:
        if partial is not None:
            partial.unlink(missing_ok=True)


def _umask() -> int:
    """What the user keeps from others; it can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
