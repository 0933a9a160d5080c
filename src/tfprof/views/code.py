"""The code view: ops arranged by the lines of code that created them."""

from __future__ import annotations

import re
from array import array
from typing import NamedTuple

import numpy as np

from tfprof.columns import Bools, Ints, Ragged, Strings, ints, offsets_of
from tfprof.kernels import trees
from tfprof.kernels.rows import grouped
from tfprof.memo import remembered
from tfprof.metrics import Need
from tfprof.model.code import CodeTree, Frame
from tfprof.model.ops import NOT_A_GRADIENT
from tfprof.model.profile import ProfileColumns
from tfprof.options import Options
from tfprof.views.accounting import account_gathered
from tfprof.views.select import Arrangement, select
from tfprof.views.tree import Tree
from tfprof.views.view import ROOT_NAME, View

# Function names and source lines of at least this many bytes are truncated.
_LONG_NAME = 20
_LONG_NAME_SHOWN = 17

_UNKNOWN = -2  # the row of a call that has none yet
_NAME_BITS = 32  # a file has fewer names and rows

GRADIENT_SUFFIX = " (gradient)"

# The folders of the standard library and of installed packages; `re` compiles it on first use.
_INSTALLED = r"[/\\]lib[/\\]python\d|[/\\](site|dist)-packages[/\\]"


def is_installed(file: str) -> bool:
    """Whether a file belongs to the standard library or to an installed package."""
    return re.search(_INSTALLED, file, re.IGNORECASE) is not None


def installed_calls(code: CodeTree) -> Bools:
    """Which calls are in installed packages."""
    flags = [is_installed(file) for file in code.file.values]
    return np.array(flags, np.bool_)[code.file.codes]


def folded_note(lines: int, ops: int) -> str:
    """The note on lines of installed packages that are left out, and on the ops they created."""
    left_out = "1 line is" if lines == 1 else f"{lines:,} lines are"
    shown = "1 op that they created is" if ops == 1 else f"{ops:,} ops that they created are"
    where = "shown at the lines of the program that called them"
    return f"{left_out} left out, in installed packages; {shown} {where}."


def build(profile: ProfileColumns, options: Options, only: Ints | None = None) -> View:
    """Arrange `profile` by call stacks, accounting and showing what `options` asks for."""
    profile.require(Need.CODE, "The code view requires the code lines that created the ops")
    policy = options.generation.policy("code")
    arrangement = arrange_for(profile, options).arrangement
    accounts = account_gathered(profile, options, arrangement)
    return select(
        "code",
        profile,
        options,
        arrangement=arrangement,
        accounts=accounts,
        policy=policy,
        only=only,
    )


class CodeArrangement(NamedTuple):
    """Ops by code line, and the number of gradients whose forward op has no code line.

    `call` is the call from which each row was created, -1 for the root; `is_gradient` marks the
    rows of gradients. `folded_lines` are lines of installed packages that are left out, and
    `folded_ops` the ops that these lines created.
    """

    arrangement: Arrangement
    gradients_left_out: int
    call: Ints
    is_gradient: Bools
    folded_lines: int = 0
    folded_ops: int = 0


def arrange_for(profile: ProfileColumns, options: Options) -> CodeArrangement:
    """Arrange the ops by code line, by the policy of the dialect in `options`."""
    policy = options.generation.policy("code")
    return arrange(
        profile,
        places_gradients=policy.places_gradients,
        quotes_source=policy.quotes_source,
        my_code=options.my_code,
    )


@remembered
def arrange(
    profile: ProfileColumns,
    *,
    places_gradients: bool = True,
    quotes_source: bool = False,
    my_code: bool = False,
) -> CodeArrangement:
    """Place every op under the calls that created it, and gradients beside their forward ops.

    Without `places_gradients`, gradients stay under the calls that created them. With `my_code`,
    calls in installed packages are left out.
    """
    placed, left_out = place_ops(profile) if places_gradients else (_at_own_calls(profile), 0)
    rows = _CodeRows(profile.code, quotes_source=quotes_source, my_code=my_code)
    key = 2 * profile.ops.code[placed.forward] + placed.is_gradient
    row_of_key = np.zeros(2 * len(profile.code), np.int64)
    for wanted in _in_order_of_use(key, placed).tolist():
        call, is_gradient = divmod(wanted, 2)
        row_of_key[wanted] = rows.row(call, bool(is_gradient))
    found = rows.arrangement(placed.op, row_of_key[key], left_out)
    if not my_code:
        return found
    lines, ops = rows.folded(profile.ops.code[placed.forward])
    return found._replace(folded_lines=lines, folded_ops=ops)


def _in_order_of_use(key: Ints, placed: Placed) -> Ints:
    """The distinct keys by the name of their first op, keys of forward ops before gradients."""
    never = np.iinfo(np.int64).max
    first = np.full(int(key.max(initial=-1)) + 1, never)
    np.minimum.at(first, key, placed.forward)
    order = np.lexsort((first, np.arange(len(first)) % 2))
    return order[first[order] < never]


def frame_name(frame: Frame, *, quotes_source: bool = False) -> str:
    """The name of a row: `model.py:12:build`, or with its source `model.py:12:build:x = 1`."""
    name = f"{frame.file.rpartition('/')[2]}:{frame.line}:{_shortened(frame.function)}"
    return f"{name}:{_shortened(frame.text.strip()) or 'none'}" if quotes_source else name


def _shortened(text: str) -> str:
    encoded = text.encode()
    if len(encoded) >= _LONG_NAME:
        encoded = encoded[:_LONG_NAME_SHOWN] + b"..."
    return encoded.decode("utf-8", "ignore")


class Placed(NamedTuple):
    """Ops and the ops at whose call they are placed: the op itself, or a gradient's forward op."""

    op: Ints
    forward: Ints
    is_gradient: Bools


def _at_own_calls(profile: ProfileColumns) -> Placed:
    """Place every op with a stack at its own call."""
    ops = np.flatnonzero(profile.ops.code >= 0)
    return Placed(ops, ops, np.zeros(len(ops), np.bool_))


def place_ops(profile: ProfileColumns) -> tuple[Placed, int]:
    """Place every op with a stack, and count the gradients that cannot be placed."""
    ops = np.flatnonzero(profile.ops.code >= 0)
    forward = profile.forward_of[ops]
    is_gradient = forward != NOT_A_GRADIENT
    at = np.where(is_gradient, forward, ops)
    is_placed = (at >= 0) & (profile.ops.code[np.maximum(at, 0)] >= 0)
    placed = Placed(ops[is_placed], at[is_placed], is_gradient[is_placed])
    return placed, len(ops) - len(placed.op)


class _CodeRows:
    """Builds the rows: one for each distinct line under its caller.

    The columns are arrays, since a stack of a hostile file may have millions of calls.
    """

    def __init__(self, code: CodeTree, *, quotes_source: bool, my_code: bool) -> None:
        self._code = code
        self._callers = array("q", code.caller.tobytes())
        self._my_code = my_code
        self._is_installed = installed_calls(code) if my_code else np.zeros(0, np.bool_)
        self._quotes_source = quotes_source
        self._names: dict[str, int] = {}
        self._rows: dict[int, int] = {}  # by parent and name
        # The parent, name, first call and kind of each row; the parent of an outermost call is -1.
        self._parent, self._name = array("q"), array("q")
        self._first_call, self._is_gradient = array("q"), array("b")
        # The row of each call, for forward ops and for gradients.
        unknown = array("q", [_UNKNOWN]) * len(code)
        self._row_of_call = unknown, unknown[:]
        self._folded: set[Frame] = set()
        self._folded_calls: set[int] = set()

    def row(self, call: int, is_gradient: bool) -> int:
        """The row of a call, created with the rows of its callers on first use."""
        if self._my_code:
            return self._row_of_own(call, is_gradient)
        known, path = self._row_of_call[is_gradient], array("q")
        while call >= 0 and known[call] == _UNKNOWN:
            path.append(call)
            call = self._callers[call]
        row = known[call] if call >= 0 else -1
        for call in reversed(path):
            row = known[call] = self._child(row, call, is_gradient)
        return row

    def _row_of_own(self, call: int, is_gradient: bool) -> int:
        """The row of a call without those in installed packages, unless all of them are."""
        path = []
        while call >= 0:
            path.append(call)
            call = self._callers[call]
        row = -1
        own = [one for one in path if not self._is_installed[one]]
        if own and len(own) < len(path):
            self._folded |= {self._code.frame(one) for one in path if self._is_installed[one]}
            if self._is_installed[path[0]]:
                self._folded_calls.add(path[0])
        for one in reversed(own or path):
            row = self._child(row, one, is_gradient)
        return row

    def _child(self, parent: int, call: int, is_gradient: bool) -> int:
        """The row of a call under `parent`; lines with the same shortened name share a row."""
        name = frame_name(self._code.frame(call), quotes_source=self._quotes_source)
        name += GRADIENT_SUFFIX if is_gradient else ""
        number = self._names.setdefault(name, len(self._names))
        row = self._rows.setdefault((parent + 1) << _NAME_BITS | number, len(self._rows))
        if row == len(self._parent):
            self._parent.append(parent)
            self._name.append(number)
            self._first_call.append(call)
            self._is_gradient.append(is_gradient)
        return row

    def folded(self, calls: Ints) -> tuple[int, int]:
        """The number of lines that were left out, and how many of `calls` are such lines."""
        return len(self._folded), int(np.isin(calls, list(self._folded_calls)).sum())

    def arrangement(self, members: Ints, row_of_member: Ints, left_out: int) -> CodeArrangement:
        """The rows in preorder, with their ops."""
        parents = ints(np.array(self._parent, np.int64))
        order, ends = trees.arranged(parents, np.arange(len(parents)))
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))  # the root, -1, comes last
        row_of = place[row_of_member]
        lengths = np.bincount(row_of, minlength=len(order))
        names = np.array([*self._name, len(self._names)], np.int64)[order]
        arrangement = Arrangement(
            tree=Tree(ends),
            name=Strings([*self._names, ROOT_NAME]).take(names),
            members=Ragged(offsets_of(lengths), members[grouped(row_of, len(order))]),
        )
        call = np.array([*self._first_call, -1], np.int64)[order]
        is_gradient = np.array([*self._is_gradient, 0], np.bool_)[order]
        return CodeArrangement(arrangement, left_out, ints(call), is_gradient)
