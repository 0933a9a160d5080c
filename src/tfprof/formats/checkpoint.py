"""Find a checkpoint at a path, open it and read its tensors.

Every input path is checked for a checkpoint, so the readers are imported only if there is one.
"""

from __future__ import annotations

import enum
import glob
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from tfprof.errors import InputError
from tfprof.formats.file_spans import is_file
from tfprof.formats.table_footer import is_sorted_table
from tfprof.formats.wire import SPAN, WireError, fields

if TYPE_CHECKING:
    from tfprof.formats.tensor_types import Values
    from tfprof.formats.tensors import TensorEntry

__all__ = ["Checkpoint", "CheckpointKind", "find", "open_checkpoint", "read_renamed"]

INDEX_SUFFIX: Final = ".index"
V1_PATTERN: Final = re.compile(r"(.+)-\?{5}-of-([0-9?]{5})", re.DOTALL)
V1_SHARD: Final = re.compile(r"(.+)-[0-9]{5}-of-([0-9]{5})", re.DOTALL)
V2_SHARD: Final = re.compile(r"(.+)\.data-[0-9]{5}-of-[0-9]{5}", re.DOTALL)


class CheckpointKind(enum.Enum):
    """The two generations of checkpoints that TensorFlow has written."""

    V1 = "V1"
    V2 = "V2"


class Checkpoint(Protocol):
    """A checkpoint of either generation; only `read` loads values."""

    @property
    def tensors(self) -> tuple[TensorEntry, ...]:
        """Every tensor, sorted by name."""

    def read(self, name: str) -> Values:
        """The values of one tensor, checked against their checksums.

        bfloat16 is returned as float32, strings as an object array of `bytes`.
        """


def read_renamed(saved: Checkpoint, keys: Mapping[str, str], name: str) -> Values:
    """The values of the tensor `name`; `keys` has its name in the checkpoint."""
    return saved.read(keys[name])


def find(path: str) -> CheckpointKind | None:
    """The kind of checkpoint at `path`, or None.

    `path` is a prefix as TensorFlow prints it (`model.ckpt-1000`) or a single file: a V2 index or
    a V1 checkpoint. Only the end of the file is checked here, so opening it may still fail.
    """
    if is_sorted_table(path + INDEX_SUFFIX):
        return CheckpointKind.V2
    # Searching the folder for shards takes long if it contains many files.
    for file in (path,) if is_file(path) else v1_shards(path):
        if is_sorted_table(file):
            return kind_of_table(file)
    return None


def open_checkpoint(path: str) -> Checkpoint:
    """Open the checkpoint at `path` (see `find`), reading only its index."""
    kind = find(path)
    if kind is CheckpointKind.V1:
        from tfprof.formats.checkpoint_v1 import open_v1

        return open_v1([path] if is_file(path) else complete_shards(path))
    if kind is CheckpointKind.V2:
        from tfprof.formats.tensor_bundle import open_bundle

        index = path + INDEX_SUFFIX
        if is_sorted_table(index):
            return open_bundle(index, path)
        return open_bundle(path, path.removesuffix(INDEX_SUFFIX))
    raise nothing_found(path)


def kind_of_table(path: str) -> CheckpointKind | None:
    """The kind of checkpoint stored in the sorted table at `path`, or None.

    Field 1 of the value under the empty key is a number in V2 and a message in V1.
    """
    from tfprof.formats.sorted_table import open_table

    try:
        first = open_table(path).get(b"")
        if first is None:
            return None
        is_v1 = any(kind == SPAN for number, kind, _, _ in fields(first) if number == 1)
    except (InputError, WireError):
        is_v1 = not path.endswith(INDEX_SUFFIX)
    return CheckpointKind.V1 if is_v1 else CheckpointKind.V2


def v1_shards(path: str) -> list[str]:
    """The files of a V1 checkpoint saved in several; `path` is their prefix or a pattern."""
    pattern = V1_PATTERN.fullmatch(path)
    prefix, count = pattern.groups() if pattern else (path, "?????")
    digits = f"-{'?' * 5}-of-{count}".replace("?", "[0-9]")
    try:
        found = Path(prefix).parent.glob(glob.escape(Path(prefix).name) + digits)
        return sorted(str(file) for file in found)
    except (OSError, ValueError):  # not a valid path on this system
        return []


def complete_shards(path: str) -> list[str]:
    """All files of the V1 checkpoint at `path`; raises `InputError` if one is missing."""
    present = v1_shards(path)
    sets = {match.groups() for match in map(V1_SHARD.fullmatch, present) if match}
    if len(sets) > 1:
        counts = " and ".join(sorted(f"-of-{count}" for _, count in sets))
        raise InputError(path, f"has files from several saves ({counts}); delete the older ones")
    prefix, count = sets.pop()
    needed = [f"{prefix}-{at:05}-of-{count}" for at in range(int(count))]
    for file in needed:
        if not is_file(file):
            raise InputError(file, f"is missing; the checkpoint needs all {int(count)} files")
    return needed


def nothing_found(path: str) -> InputError:
    """The error that explains why there is no checkpoint at `path`."""
    shard = V2_SHARD.fullmatch(path)
    if shard:
        return InputError(path, f"contains only a checkpoint's values; pass its prefix, {shard[1]}")
    for file in (path + INDEX_SUFFIX, path):
        if is_file(file):
            return InputError(file, "is not a checkpoint, or is cut short; was it copied fully?")
    return InputError(path, "no checkpoint has this prefix; pass one like folder/model.ckpt-1000")
