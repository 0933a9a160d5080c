"""Variables of a model that its program does not read: parameters without an op in the program."""

from __future__ import annotations

from collections.abc import Container, Iterable

from tfprof.columns import Shape
from tfprof.model.builder import OpColumns, ProfileBuilder
from tfprof.sources.tf_names import TENSORFLOW_NAMES

_KIND = "VarHandleOp"


def define(variables: Iterable[tuple[str, Shape]], builder: ProfileBuilder) -> list[str]:
    """Define an op for each of these variables, and return the names of the ops.

    A number is appended to names that the program uses for other ops.
    """
    wanted = list(variables)
    taken: dict[str, None] = {}  # in order
    for name, _ in wanted:
        taken[_free_name(name, taken, builder)] = None
    names = list(taken)
    shapes = [shape for _, shape in wanted]
    builder.add_ops(OpColumns.variables(names, _KIND, shapes, TENSORFLOW_NAMES))
    return names


def _free_name(name: str, taken: Container[str], builder: ProfileBuilder) -> str:
    number, free = 0, name
    while free in taken or builder.ids([free])[0] >= 0:
        number += 1
        free = f"{name}_{number}"
    return free
