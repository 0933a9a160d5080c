"""The lines of code that created the ops, as a tree of calls."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tfprof.columns import Coded, Ints, ints

_FRAME_BITS = 32  # a file has fewer frames and calls


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
        self._frames: dict[Frame, int] = {}
        self._rows: dict[int, int] = {}  # by caller and frame

    def add(self, stack: Iterable[Frame]) -> int:
        """The row of the innermost frame of `stack`, or -1 for an empty stack."""
        row = -1
        for frame in stack:
            row = self.add_call(row, frame)
        return row

    def add_call(self, caller: int, frame: Frame) -> int:
        """The row of a call, added if new; `caller` is the row of its caller, or -1."""
        number = self._frames.setdefault(frame, len(self._frames))
        return self._rows.setdefault((caller + 1) << _FRAME_BITS | number, len(self._rows))

    def build(self) -> CodeTree:
        keys = np.fromiter(self._rows, np.int64, len(self._rows))
        frame = keys & ((1 << _FRAME_BITS) - 1)
        return CodeTree(
            caller=(keys >> _FRAME_BITS) - 1,
            file=self._texts("file", frame),
            line=self._numbers("line")[frame],
            function=self._texts("function", frame),
            text=self._texts("text", frame),
            function_line=self._numbers("function_line")[frame],
        )

    def _texts(self, part: str, frame: Ints) -> Coded:
        return Coded.of([getattr(one, part) for one in self._frames]).take(frame)

    def _numbers(self, part: str) -> Ints:
        return ints([getattr(one, part) for one in self._frames])
