"""The process groups of collectives, and how they are called."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from tfprof.columns import Bools, Ints
from tfprof.formats.kineto.columns import Trace
from tfprof.kernels import nesting
from tfprof.sources.kineto.host import Host


def group_of_rows(trace: Trace, host: Host, communicates: Bools) -> Ints:
    """For each event of the host the group that it communicates in, or -1.

    It is a code of `trace.collectives.group`. The ops around a collective belong to it too, as far
    as they are part of the communication.
    """
    found = np.full(len(host), -1)
    row_of = host.row_of_slice(trace.slices)[trace.collectives.slice]
    is_known = (row_of >= 0) & (trace.collectives.group.codes >= 0)
    rows, group = row_of[is_known], trace.collectives.group.codes[is_known]
    while len(rows):
        found[rows] = group
        above = host.in_op[rows]
        is_open = (above >= 0) & communicates[above] & (found[above] < 0)
        rows, group = above[is_open], group[is_open]
    return nesting.inherited(host.in_op, found)


def group_titles(trace: Trace) -> list[str]:
    """What each group is called: its description if that is known and unique, or its name."""
    names = list(trace.collectives.group.values)
    info = trace.header.get("distributedInfo")
    config = info.get("pg_config") if isinstance(info, dict) else None
    rows = [one for one in config if isinstance(one, dict)] if isinstance(config, list) else []
    described = {_text(one.get("pg_name")): _text(one.get("pg_desc")) for one in rows}
    counts = Counter(described.values())
    return [
        text if (text := described.get(name, "")) and counts[text] == 1 else name for name in names
    ]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
