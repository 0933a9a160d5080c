"""From paths to a profile: what each file is, and in which order they are merged."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from tfprof.errors import InputError, UnknownFormatError
from tfprof.formats import checkpoint, compressed, graph_def, op_log, profile_proto, run_metadata
from tfprof.formats.recognise import FileKind, recognise
from tfprof.formats.records import Records
from tfprof.model.builder import ProfileBuilder
from tfprof.sources import saved_profile, tf_checkpoint, tf_graph, tf_op_log, tf_run_metadata

_MESSAGES = {
    FileKind.GRAPH: graph_def.GRAPH,
    FileKind.RUN_META: run_metadata.RUN_METADATA,
    FileKind.OP_LOG: op_log.OP_LOG,
    FileKind.PROFILE: profile_proto.PROFILE,
}

# Ops must be known before types and code lines can be given to them.
MERGE_ORDER = (
    FileKind.PROFILE,
    FileKind.GRAPH,
    FileKind.RUN_META,
    FileKind.OP_LOG,
    FileKind.CHECKPOINT,
)


@dataclass(frozen=True, slots=True)
class InputFile:
    """One file of a profile: what it is, and for run metadata which step."""

    path: str
    kind: FileKind
    step: int | None = None


def detect(path: str) -> FileKind:
    """What the file at `path` is, by its content."""
    if checkpoint.find(path) is not None:
        return FileKind.CHECKPOINT
    with compressed.opened(path) as content:
        kind, _ = recognise(content)
    if kind is None:
        known = ", ".join(kind.value for kind in FileKind)
        raise UnknownFormatError(path, f"is none of the files tfprof reads: {known}.")
    return kind


def numbered(files: Iterable[InputFile]) -> list[InputFile]:
    """The files with a step for each run metadata; those without one count up from 0."""
    result: list[InputFile] = []
    next_step = 0
    for file in files:
        if file.kind is FileKind.RUN_META and file.step is None:
            file = InputFile(file.path, file.kind, next_step)  # noqa: PLW2901 the same file, numbered
        if file.kind is FileKind.RUN_META:
            next_step = (file.step or 0) + 1
        result.append(file)
    return result


def merge(
    files: Iterable[InputFile],
    builder: ProfileBuilder,
    progress: Callable[[str], None] = lambda _: None,
) -> None:
    """Add all files to `builder`, in the order that makes sense of them."""
    for file in sorted(numbered(files), key=lambda file: MERGE_ORDER.index(file.kind)):
        progress(file.path)
        if file.kind is FileKind.CHECKPOINT:
            tf_checkpoint.add(open_checkpoint(file), builder)
            continue
        records = read_records(file)
        if file.kind is FileKind.RUN_META:
            tf_run_metadata.add(records, builder, file.step or 0)
        else:
            _ADD[file.kind](records, builder)


_ADD: dict[FileKind, Callable[[Records, ProfileBuilder], None]] = {
    FileKind.PROFILE: saved_profile.add,
    FileKind.GRAPH: tf_graph.add,
    FileKind.OP_LOG: tf_op_log.add,
}


def read_records(file: InputFile) -> Records:
    """The records of a file that was said, or found, to be of its kind."""
    data = compressed.read(file.path)
    found, written_as_text = recognise(data)
    if found is not file.kind:
        is_checkpoint = found is None and checkpoint.find(file.path) is not None
        raise _refusal(file, FileKind.CHECKPOINT if is_checkpoint else found)
    if written_as_text:
        return Records.from_text(file.path, data, _MESSAGES[file.kind])
    return Records(file.path, data)


def open_checkpoint(file: InputFile) -> checkpoint.Checkpoint:
    """The checkpoint at a path that was said, or found, to be one."""
    try:
        return checkpoint.open_checkpoint(file.path)
    except InputError as error:
        raise _other_kind(file) or error from None


def _other_kind(file: InputFile) -> UnknownFormatError | None:
    """The refusal of a file that is of another kind than was said, if it is."""
    try:
        found = detect(file.path)
    except InputError:
        return None
    return None if found is file.kind else _refusal(file, found)


def _refusal(file: InputFile, found: FileKind | None) -> UnknownFormatError:
    if found is None:
        return UnknownFormatError(file.path, f"is not {file.kind}, nor anything tfprof reads.")
    return UnknownFormatError(
        file.path, f"is {found}, not {file.kind}; check which option it is for."
    )
