"""Builds index entries of V2 checkpoints for tests."""

from formats.table_builder import fixed32, message
from tfprof.formats import crc32c

LITTLE, BIG = 0, 1


def shape(*sizes: int) -> bytes:
    return message(*((2, message((1, size))) for size in sizes))


def entry(kind, sizes, data, *, shard=0, offset=0, size=None, slices=()):
    """A `BundleEntryProto` for `data`."""
    plain = message(
        (1, kind),
        (2, shape(*sizes)),
        (3, shard),
        (4, offset),
        (5, len(data) if size is None else size),
        *((7, piece) for piece in slices),
    )
    return plain + fixed32(6, crc32c.masked(crc32c.checksum(data)))


def header(shards=1, order=LITTLE, needs=0):
    return message((1, shards), (2, order), (3, message((1, 1), (2, needs))))
