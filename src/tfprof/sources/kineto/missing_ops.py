"""Finds gaps in the numbers of ops: how many ops a trace lacks, and when they ran."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tfprof.model.notes import Note, Subject
from tfprof.sources.kineto.host import Role
from tfprof.sources.kineto.interpreted import Interpreted
from tfprof.units import counted, format_nanos

# PyTorch gives each thread this many numbers at a time, so only the end of a block may be unused.
# Old versions have one counter for all threads.
_BLOCK = 512
_ABOUT = Subject.TIME | Subject.STEPS | Subject.MEMORY | Subject.FLOAT_OPS


def of_missing_ops(found: Interpreted) -> Iterator[Note]:
    """A note on ops and annotations that are not in the trace, although it has their neighbours."""
    host = found.host
    rows = np.flatnonzero((host.role == Role.OP) | (host.role == Role.ANNOTATION))
    number = host.taken(found.trace.slices.external_id)[rows]
    rows, number = rows[number > 0], number[number > 0]
    ordered = np.sort(number)
    before, after = ordered[:-1], ordered[1:]
    is_gap = (after - before > 1) & (after % _BLOCK != 1)
    if not is_gap.any():
        return
    before, after = before[is_gap], after[is_gap]
    # Between blocks, some numbers may belong to no op.
    is_within = (before - 1) // _BLOCK == (after - 1) // _BLOCK
    count = int(np.where(is_within, after - before - 1, (after - 1) % _BLOCK).sum())
    when = ""
    if len(before) == 1:
        starts = host.start_ns[rows[np.isin(number, (before[0], after[0]))]] - host.start_ns.min()
        when = f" between {format_nanos(int(starts.min()))} and {format_nanos(int(starts.max()))}"
    ops = counted(count, "op is", "ops are")
    yield Note(
        f"at least {ops} missing{when}, because their numbers are: the file was filtered, or a "
        "part of it was lost; times and counts are at least what is shown.",
        _ABOUT,
    )
