"""What each parameter server holds and does.

A parameter server is a task of a job with `ps` in its name. Its parameters are the elements of the
variables that ran there.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from tfprof.columns import Ints
from tfprof.measures.numbers import EVERYTHING, per_op
from tfprof.memo import remembered
from tfprof.model.profile import ProfileColumns

_SERVER = re.compile(r"/job:(?=[^/]*ps)[^/]*/(replica:\d+/)?task:\d+", re.ASCII)
_VARIABLES = ("Variable", "VarHandleOp")  # the beginnings of their kinds


class ParameterServer(NamedTuple):
    """A parameter server: its variables and their parameters, and its work per step."""

    task: str
    variables: int
    params: int
    bytes: int  # that its ops request in a step
    nanos: int  # that its ops take in a step


@remembered
def servers(profile: ProfileColumns) -> tuple[ParameterServer, ...]:
    """The parameter servers, by name."""
    tasks, server = _placed(profile)
    if not tasks:
        return ()
    numbers = per_op(profile, EVERYTHING)
    kinds = profile.ops.kind
    is_variable = np.array([kind.startswith(_VARIABLES) for kind in kinds.values])[kinds.codes]

    def sums(column: Ints) -> list[int]:
        found = np.zeros(len(tasks), np.int64)
        np.add.at(found, server[server >= 0], column[server >= 0])
        return found.tolist()

    columns = (
        is_variable.astype(np.int64),
        np.where(is_variable, numbers["params"], 0),
        numbers["bytes"],
        numbers["nanos"],
    )
    return tuple(ParameterServer(*row) for row in zip(tasks, *map(sums, columns), strict=True))


def _placed(profile: ProfileColumns) -> tuple[list[str], Ints]:
    """The parameter servers, and the index of each op's server, -1 for none."""
    matches = [_SERVER.match(name) for name in profile.devices.name]
    tasks = sorted({match[0] for match in matches if match})
    index = {task: place for place, task in enumerate(tasks)}
    # The last is for ops without a device.
    of_device = np.array([*(index[match[0]] if match else -1 for match in matches), -1])
    placed = profile.op_devices
    first = np.full(len(profile.ops), -1)
    first[placed.lengths > 0] = placed.values[placed.offsets[:-1][placed.lengths > 0]]
    return tasks, of_device[first]
