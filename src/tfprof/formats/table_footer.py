"""The footer of a sorted table, which identifies a checkpoint."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tfprof.errors import InputError
from tfprof.formats.file_spans import file_size, read_span

MAGIC: Final = (0xDB4775248B80FB57).to_bytes(8, "little")
FOOTER_BYTES: Final = 48


def is_sorted_table(path: str | Path) -> bool:
    """Whether the file at `path` exists and ends like a sorted table."""
    try:
        return footer(path)[-len(MAGIC) :] == MAGIC
    except InputError:
        return False


def footer(path: str | Path) -> bytes:
    """The last bytes of the table: the positions of two blocks and the magic number."""
    size = file_size(path)
    if size < FOOTER_BYTES:
        raise InputError(path, f"has {size:,} bytes, too few for a checkpoint's table")
    return bytes(read_span(path, size - FOOTER_BYTES, FOOTER_BYTES))
