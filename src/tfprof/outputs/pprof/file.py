"""Encode columns as the messages of a pprof file.

The fields are documented in https://github.com/google/pprof/blob/main/proto/profile.proto.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from tfprof.columns import Ints, Ragged, Strings
from tfprof.outputs.pieces import woven
from tfprof.outputs.proto import message, number, one_number, one_text, only_where, packed, text

# Rows encoded at a time.
_BLOCK_ROWS = 1 << 16

_GZIP = 16 + zlib.MAX_WBITS  # its header has no timestamp, so equal answers give equal files


def compressed(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The pieces, compressed into one gzip file."""
    packer = zlib.compressobj(wbits=_GZIP)
    for piece in pieces:
        if packed_piece := packer.compress(piece):
            yield packed_piece
    yield packer.flush()


def sample_types(names: Sequence[int], units: Sequence[int]) -> bytes:
    """The type and unit of each value of a sample, as string numbers."""
    return b"".join(
        one_text(1, one_number(1, name) + one_number(2, unit))
        for name, unit in zip(names, units, strict=True)
    )


def samples(stacks: Ragged, values: Sequence[Ints], label_key: int, labels: Ints) -> bytes:
    """Samples with their locations, innermost first; a label of 0 means none."""
    rows = len(stacks)
    table = Ragged(np.arange(rows + 1) * len(values), np.column_stack(values).ravel())
    label = message(3, [one_number(1, label_key), *number(2, labels)], rows)
    sample = [*packed(1, stacks), *packed(2, table), only_where(labels > 0, label)]
    return woven(message(2, sample, rows), rows).data


def locations(ids: Ints, functions: Ints, lines: Ints) -> Iterator[bytes]:
    """Locations, each a line of a function."""
    for some in _blocks(len(ids)):
        rows = len(ids[some])
        line = message(4, [*number(1, functions[some]), *number(2, lines[some])], rows)
        yield woven(message(4, [*number(1, ids[some]), *line], rows), rows).data


def functions(ids: Ints, names: Ints, files: Ints, start_lines: Ints) -> Iterator[bytes]:
    """Functions, with names and files as string numbers."""
    for some in _blocks(len(ids)):
        columns = (ids, names, files, start_lines)
        parts = zip((1, 2, 4, 5), columns, strict=True)
        function = [piece for field, column in parts for piece in number(field, column[some])]
        rows = len(ids[some])
        yield woven(message(5, function, rows), rows).data


def strings(column: Strings) -> Iterator[bytes]:
    """Entries of the string table; the first string of a file must be empty."""
    for some in _blocks(len(column)):
        part = column.take(np.arange(len(column))[some])
        yield woven(text(6, part), len(part)).data


def _blocks(rows: int) -> Iterator[slice]:
    return (slice(first, first + _BLOCK_ROWS) for first in range(0, rows, _BLOCK_ROWS))
