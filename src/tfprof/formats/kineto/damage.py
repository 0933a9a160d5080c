"""Damaged traces: where reading can go on, and errors."""

from __future__ import annotations

import re

_SPACE = r"[ \t\n\r]*"
# The start of an event in a list. Arguments of events, which may be objects too, follow a colon.
_EVENT = rf'[,\[]{_SPACE}(?=\{{{_SPACE}"(?:ph|name|cat|pid|tid|ts)"{_SPACE}:)'
# The end of the list, before other members of the object around it or the end of the file.
_LIST_END = rf'\}}{_SPACE}(?=\]{_SPACE},{_SPACE}")'
_FILE_END = rf"\}}{_SPACE}(?=\]{_SPACE}\}}?{_SPACE}\Z)"

_NEXT = f"{_EVENT}|{_LIST_END}"
_IN_BYTES = re.compile(_NEXT.encode())
_IN_LAST_BYTES = re.compile(f"{_NEXT}|{_FILE_END}".encode())
_IN_TEXT = re.compile(f"{_NEXT}|{_FILE_END}")


class DamagedError(Exception):
    """A file is not a trace; the message says why."""


class StoppedError(Exception):
    """The file ends early, or the rest of it is damaged."""


def next_event(text: str, at: int) -> int:
    """Where the first event after `at` starts, or its list ends; -1 if nowhere."""
    found = _IN_TEXT.search(text, at)
    return -1 if found is None else found.end()


def next_event_in(data: memoryview, at: int, *, is_last: bool) -> int:
    """`next_event` in a part of a file, which may be the last part."""
    found = (_IN_LAST_BYTES if is_last else _IN_BYTES).search(data, at)
    return -1 if found is None else found.end()
