"""The lines of code that created the ops, as a tree of calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tfprof.columns import Coded, Ints, ints


class Frame(NamedTuple):
    """One frame of a call stack: its position in the code, and the text of the line."""

    file: str
    line: int
    function: str
    text: str
    function_line: int  # where the function begins, -1 if not recorded


@dataclass(frozen=True, slots=True, eq=False)
class CodeTree:
    """One row per call: the row of its caller (-1 for an outermost call) and its frame.

    Ops created by the same calls share the rows, so a whole stack is a single number.
    """

    caller: Ints
    file: Coded
    line: Ints
    function: Coded
    text: Coded
    function_line: Ints

    def __len__(self) -> int:
        return len(self.caller)

    def frame(self, row: int) -> Frame:
        return Frame(
            self.file[row],
            int(self.line[row]),
            self.function[row],
            self.text[row],
            int(self.function_line[row]),
        )

    def stack(self, row: int) -> list[Frame]:
        """The frames from the outermost call down to `row`."""
        frames = []
        while row >= 0:
            frames.append(self.frame(row))
            row = int(self.caller[row])
        return frames[::-1]


class CodeTreeBuilder:
    """Collects stacks and assigns a row to each."""

    def __init__(self) -> None:
        self._rows: dict[tuple[int, Frame], int] = {}

    def add(self, stack: Sequence[Frame]) -> int:
        """The row of the innermost frame of `stack`, or -1 for an empty stack."""
        row = -1
        for frame in stack:
            row = self.add_call(row, frame)
        return row

    def add_call(self, caller: int, frame: Frame) -> int:
        """The row of a call, added if new; `caller` is the row of its caller, or -1."""
        return self._rows.setdefault((caller, frame), len(self._rows))

    def build(self) -> CodeTree:
        callers = [caller for caller, _ in self._rows]
        frames = [frame for _, frame in self._rows]
        return CodeTree(
            caller=ints(callers),
            file=Coded.of([frame.file for frame in frames]),
            line=ints([frame.line for frame in frames]),
            function=Coded.of([frame.function for frame in frames]),
            text=Coded.of([frame.text for frame in frames]),
            function_line=ints([frame.function_line for frame in frames]),
        )
