"""The values beside the events of a trace, and the tables that are made from all events."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tfprof.columns import Coded
from tfprof.formats.kineto.columns import Threads, Trace
from tfprof.formats.kineto.fields import LATEST_NS

# Texts, which stay as they are, and constants of C++, which JSON does not have.
_CONSTANT = re.compile(r'"(?:[^"\\]|\\.)*"|-?\b(?:nan\b(?:\(ind\))?|inf\b)', re.DOTALL)
_MOST_DIGITS = 40

DECODER = json.JSONDecoder(
    parse_int=lambda text: int(text) if len(text) < _MOST_DIGITS else None,
    parse_constant=lambda _: None,
    strict=False,
)


class Found(NamedTuple):
    """What was read of a file."""

    trace: Trace
    read: int  # bytes, of `size`
    size: int
    is_whole: bool
    is_followed: bool = False  # by something else in the same file


def standardised(text: str) -> str:
    """JSON whose constants are those of Python, at the same places."""
    return _CONSTANT.sub(_standard, text)


def _standard(match: re.Match[str]) -> str:
    found = match[0]
    return found if found.startswith('"') else "NaN".rjust(len(found))


def base_of(header: Mapping[str, Any]) -> int:
    """The time that has to be added to those of events."""
    found = header.get("baseTimeNanoseconds")
    return found if isinstance(found, int) and 0 <= found <= LATEST_NS else 0


def threads_of(places: Sequence[tuple[str, str]], names: Mapping[tuple[str, ...], str]) -> Threads:
    """The table of threads at these processes and threads."""
    return Threads(
        process=Coded.of([process for process, _ in places]),
        thread=Coded.of([thread for _, thread in places]),
        name=Coded.of([names.get(("thread_name", *place), "") for place in places]),
        process_name=Coded.of([names.get(("process_name", place[0]), "") for place in places]),
        process_labels=Coded.of([names.get(("process_labels", place[0]), "") for place in places]),
    )
