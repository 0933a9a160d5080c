"""Finds the ops that call functions, and the scopes of the functions' ops below the call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tfprof.columns import Coded, Ints
from tfprof.formats.function_def import Library
from tfprof.formats.messages import Message
from tfprof.formats.records import Records

CONDITION = "cond/"

# By kind of call: the attributes with functions, and the scope between the names of call and op.
_PLAIN = {
    "PartitionedCall": {"f": ""},
    "StatefulPartitionedCall": {"f": ""},
    "TPUPartitionedCall": {"f": ""},
}
_LOOPS = {
    "While": {"cond": CONDITION, "body": "body/"},
    "StatelessWhile": {"cond": CONDITION, "body": "body/"},
}
_CONDITIONALS = {
    "If": {"then_branch": "then/", "else_branch": "else/"},
    "StatelessIf": {"then_branch": "then/", "else_branch": "else/"},
    "Case": {"branches": "branch_"},
    "StatelessCase": {"branches": "branch_"},
}
_CALLS = _PLAIN | _LOOPS | _CONDITIONALS


class Call(NamedTuple):
    """A node that calls functions: its row, its kind, and each function with its scope."""

    row: int
    kind: str
    functions: tuple[tuple[str, str], ...]

    @property
    def first_argument(self) -> int:
        """The first input that is an argument; that of a conditional selects the branch."""
        return 1 if is_conditional(self.kind) else 0


def is_plain(kind: str) -> bool:
    """Whether a call of this kind runs one function once; the kind may be a function's name."""
    return kind not in _LOOPS and kind not in _CONDITIONALS


def is_loop(kind: str) -> bool:
    return kind in _LOOPS


def is_conditional(kind: str) -> bool:
    return kind in _CONDITIONALS


def calls(
    records: Records, kinds: Coded, start: Ints, end: Ints, library: Library
) -> tuple[Call, ...]:
    """The calls among the nodes whose messages are at `start` to `end`."""
    names = list(kinds.values)
    codes = [code for code, kind in enumerate(names) if kind in _CALLS or kind in library]
    found = []
    for row in np.flatnonzero(np.isin(kinds.codes, codes)).tolist():
        kind = names[kinds.codes[row]]
        if kind in library:  # in TensorFlow 1, the kind of a call is the name of the function
            functions = [(kind, "")]
        else:
            node = records.parse("tensorflow.NodeDef", int(start[row]), int(end[row]))
            functions = list(_functions(node, _CALLS[kind]))
        found.append(Call(row, kind, tuple(functions)))
    return tuple(found)


def _functions(node: Message, attributes: dict[str, str]) -> Iterator[tuple[str, str]]:
    for attribute, below in attributes.items():
        if attribute not in node.attr:
            continue
        value = node.attr[attribute]
        if value.WhichOneof("value") == "func":
            yield value.func.name, below
        for number, function in enumerate(value.list.func):
            yield function.name, f"{below}{number}/"
