"""From paths to a profile: what each file is, and in which order they are merged."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfprof.errors import InputError, UnknownFormatError
from tfprof.formats import checkpoint, compressed, saved_model
from tfprof.formats.recognise import FileKind, recognise
from tfprof.formats.records import Records
from tfprof.model.builder import ProfileBuilder
from tfprof.sources.ahead import Ahead
from tfprof.sources.reading import Reading

if TYPE_CHECKING:
    from tfprof.formats.checkpoint import Checkpoint

# What each kind of message means is said by a module, which is loaded with the first such file. It
# has the name of the message, `decode` from records to columns, and `add` from them to a builder.
_SOURCES = {
    FileKind.PROFILE: "tfprof.sources.saved_profile",
    FileKind.GRAPH: "tfprof.sources.tf_graph",
    FileKind.SAVED_MODEL: "tfprof.sources.saved_model",
    FileKind.RUN_META: "tfprof.sources.tf_run_metadata",
    FileKind.OP_LOG: "tfprof.sources.tf_op_log",
    FileKind.XSPACE: "tfprof.sources.tf_xplane",
}

# More bytes than this are read one file after the other: two at a time take memory.
_MOST_AHEAD = 3 << 28

# Ops must be known before types and code lines can be given to them.
MERGE_ORDER = (
    FileKind.PROFILE,
    FileKind.GRAPH,
    FileKind.SAVED_MODEL,
    FileKind.RUN_META,
    FileKind.XSPACE,
    FileKind.OP_LOG,
    FileKind.CHECKPOINT,
)


@dataclass(frozen=True, slots=True)
class InputFile:
    """One file of a profile: what it is, and what the caller knows of the runs in it."""

    path: str
    kind: FileKind
    step: int | None = None  # its number, for run metadata
    recording: str = ""  # the label of the recording it belongs to


def detect(path: str) -> FileKind:
    """What the file at `path` is, by its content."""
    if checkpoint.find(path) is not None:
        return FileKind.CHECKPOINT
    with compressed.opened(saved_model.file_of(path)) as content:
        kind, _ = recognise(content)
    if kind is None:
        known = ", ".join(kind.value for kind in FileKind)
        raise UnknownFormatError(path, f"is none of the files tfprof reads: {known}.")
    return kind


def merge(
    files: Iterable[InputFile],
    builder: ProfileBuilder,
    progress: Callable[[str], None] = lambda _: None,
    reading: Reading = Reading(),  # noqa: B008 -- a value
) -> None:
    """Add all files to `builder`, in the order that makes sense of them."""
    ordered = sorted(files, key=lambda file: MERGE_ORDER.index(file.kind))
    for file, ahead in zip(ordered, _read_ahead(ordered), strict=True):
        progress(file.path)
        add(file, ahead.result(), builder, reading)


def _read_ahead(files: Sequence[InputFile]) -> Iterator[Ahead[Any]]:
    """The reading of each file; while one is added the next is read, unless they are large."""
    is_much = sum(_size(file.path) for file in files) > _MOST_AHEAD
    started: deque[Ahead[Any]] = deque()
    for file in files:
        started.append(Ahead(_read, file))
        if is_much or len(started) > 1:
            yield started.popleft()
    yield from started


def _size(path: str) -> int:
    try:
        return Path(path).stat().st_size
    except (OSError, ValueError):  # whoever reads it says what is wrong
        return 0


def _read(file: InputFile) -> Any:
    """What there is in a file, as columns; of a checkpoint its index."""
    if file.kind is FileKind.CHECKPOINT:
        return open_checkpoint(file)
    return _decode(file, read_records(file))


def read_bytes(file: InputFile, data: bytes) -> Any:
    """What there is in a message that is in memory, for `add`; `file` says what to call it."""
    return _decode(file, Records(file.path, data))


def _decode(file: InputFile, records: Records) -> Any:
    return records, import_module(_SOURCES[file.kind]).decode(records)


def add(file: InputFile, found: Any, builder: ProfileBuilder, reading: Reading) -> None:
    """Add what was read of one file to `builder`."""
    if file.kind is FileKind.CHECKPOINT:
        import_module("tfprof.sources.tf_checkpoint").add(found, builder)
    elif file.kind in (FileKind.GRAPH, FileKind.SAVED_MODEL):
        import_module(_SOURCES[file.kind]).add(*found, builder, reading)
    elif file.kind is FileKind.RUN_META:
        import_module(_SOURCES[file.kind]).add(*found, builder, file.step, file.recording)
    else:
        import_module(_SOURCES[file.kind]).add(*found, builder)


def read_records(file: InputFile) -> Records:
    """The records of a file that was said, or found, to be of its kind."""
    path = saved_model.file_of(file.path) if file.kind is FileKind.SAVED_MODEL else file.path
    data, stored = compressed.load(path)
    found, written_as_text = recognise(data)
    if found is not file.kind:
        is_checkpoint = found is None and checkpoint.find(file.path) is not None
        raise _refusal(file, FileKind.CHECKPOINT if is_checkpoint else found)
    if written_as_text:
        from tfprof.formats.text_records import to_binary  # noqa: PLC0415 -- few files are text

        binary = to_binary(path, data, import_module(_SOURCES[file.kind]).MESSAGE)
        del data  # before there are two of the other: a text is large
        return Records(path, bytes(binary))
    return Records(path, data, stored)


def open_checkpoint(file: InputFile) -> Checkpoint:
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
