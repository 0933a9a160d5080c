"""The code view: ops arranged by the lines of code that made them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tfprof.columns import Ragged, ints
from tfprof.errors import MissingInputError
from tfprof.memo import remembered
from tfprof.model.code import Frame
from tfprof.model.profile import Profile
from tfprof.options import Options
from tfprof.views.accounting import account_gathered
from tfprof.views.select import Arrangement, Policy, select
from tfprof.views.tree import Tree
from tfprof.views.view import ROOT_NAME, View

_POLICY = Policy(trimmed_rows_vanish=True, is_gathered=True, recounts_shown=False)

# A function name from this length on is shown by its beginning.
_LONG_NAME = 20
_LONG_NAME_SHOWN = 17

_GRADIENT_SUFFIX = " (gradient)"


def build(profile: Profile, options: Options) -> View:
    """Arrange `profile` by call stacks, accounting and showing what `options` asks for."""
    if not profile.has_code:
        raise MissingInputError(
            "The code view needs to know which line made each op: give --op_log_path with a log "
            "that was written with code traces."
        )
    arrangement = arrange(profile).arrangement
    accounts = account_gathered(profile, options, arrangement)
    return select(
        "code", profile, options, arrangement=arrangement, accounts=accounts, policy=_POLICY
    )


class CodeArrangement(NamedTuple):
    """Where ops stand in the code, and how many forward ops gradients could not be put beside."""

    arrangement: Arrangement
    gradients_left_out: int


@remembered
def arrange(profile: Profile) -> CodeArrangement:
    """Every op under the calls that made it; a gradient under those of its forward op."""
    rows = _CodeRows(profile)
    left_out = rows.place_ops()
    return CodeArrangement(rows.arrangement(), left_out)


def frame_name(frame: Frame) -> str:
    """How a row names its line: `model.py:12:build`."""
    function = frame.function.encode()
    if len(function) >= _LONG_NAME:
        function = function[:_LONG_NAME_SHOWN] + b"..."
    return f"{frame.file.rpartition('/')[2]}:{frame.line}:{function.decode('utf-8', 'ignore')}"


def forward_name(name: str) -> str | None:
    """The op whose gradient the op `name` computes, or None where it is no gradient."""
    prefix, suffix = name.find("gradients/"), name.find("_grad/")
    start = prefix + len("gradients/")
    if prefix < 0 or suffix < 0 or suffix == start:
        return None
    return name[start:suffix] if suffix > start else name[start:]


class _CodeRows:
    """Rows in the making: a row for each distinct line under its caller, in order of first use."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self._names = [ROOT_NAME]
        self._children: list[dict[str, int]] = [{}]
        self._members: list[list[int]] = [[]]
        self._row_of_call: dict[tuple[int, str], int] = {}

    def place_ops(self) -> int:
        """Put every op that has a stack into its row; how many forward ops were not found."""
        ops = self.profile.ops
        gradients: dict[str, list[int]] = {}
        forward: dict[str, int] = {}
        for op in np.flatnonzero(ops.code >= 0).tolist():
            name = ops.name[op]
            source = forward_name(name)
            if source is not None:
                gradients.setdefault(source, []).append(op)
                continue
            forward[name] = op
            self._members[self._row(int(ops.code[op]), "")].append(op)
        for source in sorted(gradients.keys() & forward.keys()):
            row = self._row(int(ops.code[forward[source]]), _GRADIENT_SUFFIX)
            self._members[row].extend(gradients[source])
        return len(gradients.keys() - forward.keys())

    def _row(self, call: int, suffix: str) -> int:
        """The row of a call, made together with its callers' when it is first asked for."""
        path = []
        while call >= 0 and (call, suffix) not in self._row_of_call:
            path.append(call)
            call = int(self.profile.code.caller[call])
        row = self._row_of_call[call, suffix] if call >= 0 else 0
        for call in reversed(path):
            row = self._child(row, frame_name(self.profile.code.frame(call)) + suffix)
            self._row_of_call[call, suffix] = row
        return row

    def _child(self, parent: int, name: str) -> int:
        """The row of that name under `parent`; lines that shorten to one name share it."""
        children = self._children[parent]
        if name not in children:
            children[name] = len(self._names)
            self._names.append(name)
            self._children.append({})
            self._members.append([])
        return children[name]

    def arrangement(self) -> Arrangement:
        """The rows, each followed by those below it."""
        order: list[int] = []
        parents: list[int] = []
        stack = [(0, -1)]
        while stack:
            row, parent = stack.pop()
            parents.append(parent)
            stack.extend((child, len(order)) for child in reversed(self._children[row].values()))
            order.append(row)
        names = [self._names[row] for row in order]
        distinct = {name: rank for rank, name in enumerate(sorted(set(names)))}
        return Arrangement(
            tree=Tree.of_parents(parents),
            name=names,
            name_rank=ints([distinct[name] for name in names]),
            own_types={},
            members=Ragged.of([sorted(self._members[row]) for row in order]),
        )
