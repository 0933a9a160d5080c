"""GraphDebugInfo: the lines of code that created the ops of a SavedModel."""

from __future__ import annotations

from collections.abc import Iterator

from tfprof.errors import InputError
from tfprof.formats import messages
from tfprof.formats.content import read_file
from tfprof.formats.messages import Message

Line = tuple[str, int, str, str]  # file, line, function, text of the line


class DebugInfo:
    """Call stacks by op, keyed `node@function`; `function` is empty for the graph itself."""

    def __init__(self, path: str) -> None:
        try:
            self._info: Message = messages.decode("tensorflow.GraphDebugInfo", read_file(path))
        except messages.DecodeError:
            raise InputError(path, "is damaged; the code view does not use it.") from None
        self._traces = self._info.traces
        self._numbers = self._info.name_to_trace_id
        self._by_number = self._info.traces_by_id

    def stack_of(self, node: str, function: str) -> int | str | None:
        """The key of an op's call stack, to pass to `lines`; None if it has no stack."""
        key = f"{node}@{function}"
        if key in self._numbers:
            number = int(self._numbers[key])
            return number if number in self._by_number else None
        return key if key in self._traces else None

    def lines(self, stack: int | str) -> Iterator[Line]:
        """The calls of a stack, outermost first."""
        trace = self._traces[stack] if isinstance(stack, str) else self._by_number[stack]
        frames = self._info.frames_by_id
        known = [frames[number] for number in trace.frame_id if number in frames]
        for line in (*trace.file_line_cols, *known):
            files = self._info.files
            file = files[line.file_index] if 0 <= line.file_index < len(files) else "unknown"
            yield file, line.line, line.func, line.code
