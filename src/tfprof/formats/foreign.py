"""Formats that tfprof does not read: what a file is, and what to give instead."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tfprof.formats import crc32c, wire
from tfprof.formats.checkpoint import V2_SHARD
from tfprof.formats.file_spans import is_file
from tfprof.formats.recognise import SAVED_MODEL_FILES
from tfprof.formats.wire import SPAN, VARINT, WireError


class Foreign(NamedTuple):
    """A format that tfprof does not read."""

    title: str
    advice: str
    looks_like: Callable[[str, bytes], bool]  # of a path and its first bytes


def trouble(path: str, head: bytes) -> str | None:
    """What the file at `path` is and what to do, or None if its format is unknown."""
    if (shard := V2_SHARD.fullmatch(path)) is not None:
        return f"contains only a checkpoint's values; give its prefix, {shard[1]}."
    if (owner := _saved_model_of(path)) is not None:
        return f"is a part of the SavedModel {owner}; give that folder."
    found = next((one for one in FORMATS if one.looks_like(path, head)), None)
    return None if found is None else f"is {found.title}; {found.advice}."


def _saved_model_of(path: str) -> str | None:
    """The folder of the SavedModel that contains this file, if any."""
    file = Path(path)
    folders = () if file.name in SAVED_MODEL_FILES else (file.parent, file.parent.parent)
    models = (
        str(folder)
        for folder in folders
        if any(is_file(folder / name) for name in SAVED_MODEL_FILES)
    )
    return next(models, None)


def _starts(*starts: bytes) -> Callable[[str, bytes], bool]:
    return lambda _, head: head.startswith(starts)


def _matches(pattern: bytes) -> Callable[[str, bytes], bool]:
    expression = re.compile(pattern, re.DOTALL)
    return lambda _, head: expression.match(head) is not None


def _is_zip_of(pattern: bytes) -> Callable[[str, bytes], bool]:
    """Whether the first file of a zip archive has such a name."""
    expression = re.compile(pattern, re.DOTALL)

    def looks_like(_: str, head: bytes) -> bool:
        length = int.from_bytes(head[26:28], "little")
        is_zip = head.startswith(b"PK\x03\x04")
        return is_zip and expression.fullmatch(head[30 : 30 + length]) is not None

    return looks_like


def _is_flat_buffer(path: str, head: bytes) -> bool:
    return head[4:8] == b"TFL3" or (path.endswith(".tflite") and head[4:6] == b"TF")


def _is_onnx(path: str, head: bytes) -> bool:
    """Whether this is a `ModelProto`: a version, then texts and numbers, then the graph."""
    kinds = _fields(head)
    is_model = kinds.get(1) == VARINT and kinds.items() <= _ONNX.items()
    return is_model and (7 in kinds or path.endswith(".onnx"))


_ONNX = {1: VARINT, **dict.fromkeys((2, 3, 4, 6, 7, 8, 14, 20, 25, 26), SPAN), 5: VARINT}


def _is_hlo(_: str, head: bytes) -> bool:
    """Whether this is HLO: text, an `HloModuleProto`, or an `HloProto` with one."""
    return head.startswith(b"HloModule ") or _is_hlo_module(head) or _is_hlo_module(_text(head, 1))


def _is_hlo_module(data: bytes) -> bool:
    """Whether this is a message with two names and computations, which have names too."""
    names = [_text(data, 1), _text(data, 2), _text(_text(data, 3), 1)]
    return all(re.fullmatch(rb"[\x20-\x7e]+", name) for name in names)


def _is_meta_graph(path: str, head: bytes) -> bool:
    kinds = _fields(head)
    return path.endswith(".meta") and kinds.get(1) == SPAN and kinds.get(2, SPAN) == SPAN


def _fields(head: bytes) -> dict[int, int]:
    """The wire types of the fields at the start of a message, by number."""
    found: dict[int, int] = {}
    at = 0
    try:
        for number, kind, _, end in wire.fields(head):
            found.setdefault(number, kind)
            at = end
    except WireError:
        found |= _cut_off(head, at)
    return found


def _cut_off(head: bytes, at: int) -> dict[int, int]:
    """The field at `at`, if the first bytes of a file end inside it."""
    try:
        tag, after = wire.varint(head, at)
        length, after = wire.varint(head, after)
    except WireError:
        return {}
    return {tag >> 3: SPAN} if tag & 7 == SPAN and length > len(head) - after else {}


def _text(data: bytes, wanted: int) -> bytes:
    """The first occurrence of a field, empty if there is none."""
    try:
        for number, kind, start, end in wire.fields(data):
            if (number, kind) == (wanted, SPAN):
                return data[start:end]
    except WireError:
        pass
    return b""


def _is_record_file(_: str, head: bytes) -> bool:
    """Whether this is a TFRecord file: a length and the checksum of its bytes."""
    if len(head) < 12:
        return False
    stored = int.from_bytes(head[8:12], "little")
    return stored == crc32c.masked(crc32c.checksum(head[:8]))


def _is_event_file(path: str, head: bytes) -> bool:
    return _is_record_file(path, head) and b"brain.Event:" in head[12:40]


def _is_tar(_: str, head: bytes) -> bool:
    return head[257:262] == b"ustar"


_EXPORT = "export the original model with model.export(FOLDER) and give the folder"
_UNPACK = "unpack it and give the files in it"
_RECORD = "give the graph and RunMetadata of the program, or a folder recorded with `tfprof run`"

FORMATS: tuple[Foreign, ...] = (
    Foreign("a TensorFlow Lite model", _EXPORT, _is_flat_buffer),
    Foreign(
        "the list of a folder's checkpoints",
        "give the folder, or one checkpoint by its prefix",
        _matches(rb"\s*(?:all_)?model_checkpoint_path\s*:"),
    ),
    Foreign(
        "a TensorBoard event file",
        "give the log folder if it has recordings (plugins/profile); otherwise "
        + _RECORD.removeprefix("give "),
        _is_event_file,
    ),
    Foreign("a TFRecord file, which contains data and no model", _RECORD, _is_record_file),
    Foreign(
        "a MetaGraphDef",
        "load it with tf.compat.v1.train.import_meta_graph, write the graph with "
        "tf.io.write_graph and give that file",
        _is_meta_graph,
    ),
    Foreign(
        "a part of a distributed checkpoint",
        "give its folder, which also contains the file .metadata",
        lambda path, head: path.endswith(".distcp") and head.startswith(b"PK"),
    ),
    Foreign(
        "a PyTorch file that is cut short or damaged",
        "save it again or fetch it again",
        _is_zip_of(rb"[^/]+/(?:data\.pkl|\.format_version|\.data/.*|data/.*|byteorder|version)"),
    ),
    Foreign(
        "a pickle",
        "tfprof reads only those of PyTorch: what torch.save writes, and memory snapshots",
        _matches(rb"\x80[\x02-\x05][\x8a\x95\x7d\x5d\x63\x4b\x4d\x4a\x58\x8c\x47\x28\x29\x71\x43]"),
    ),
    Foreign("a numpy array", _RECORD, _starts(b"\x93NUMPY")),
    Foreign("an archive of numpy arrays", _RECORD, _is_zip_of(rb".+\.npy")),
    Foreign("a zip archive", _UNPACK, _starts(b"PK\x03\x04")),
    Foreign(
        "a file of PyTorch before 0.1.10",
        "read it with torch.load and write it with torch.save, and give the new file",
        lambda path, head: _is_tar(path, head) and head.startswith((b"sys_info\0", b"storages\0")),
    ),
    Foreign("a tar archive", _UNPACK, _is_tar),
    Foreign(
        "a compressed file",
        f"{_UNPACK} (tfprof unpacks only gzip)",
        _starts(
            b"\xfd7zXZ\x00", b"BZh", b"\x28\xb5\x2f\xfd", b"7z\xbc\xaf\x27\x1c", b"\x04\x22M\x18"
        ),
    ),
    Foreign(
        "an image",
        _RECORD,
        _starts(b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF8", b"II*\x00", b"MM\x00*"),
    ),
    Foreign("a PDF document", _RECORD, _starts(b"%PDF-")),
    Foreign("a Parquet file", "give the saved profile (.tfprof) as a whole", _starts(b"PAR1")),
    Foreign("a program", "record it with `tfprof run` and give the folder", _starts(b"\x7fELF")),
    Foreign(
        "a trace for trace viewers",
        "give the files from which it was written: RunMetadata, or the folder of a recording",
        _matches(
            rb'\s*(?:\{\s*"(?:displayTimeUnit|traceEvents|metadata)"|\[\s*\{\s*"(?:ph|name|pid)")'
        ),
    ),
    Foreign(
        "an XLA program (HLO)",
        "give the SavedModel or the recording of the program from which it was compiled",
        _is_hlo,
    ),
    Foreign(
        "an ONNX model",
        "convert it to a SavedModel, for example with onnx2tf, and give that folder",
        _is_onnx,
    ),
)
