"""What files are, as text and as JSON."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator

from tfprof.api import Info
from tfprof.errors import one_line
from tfprof.sources.summary import FileSummary

_WIDTH = 80
_COLUMN = 10


def as_json(info: Info) -> str:
    """All of it, for scripts."""
    return json.dumps(info.to_dict(), indent=1) + "\n"


def as_text(info: Info) -> str:
    """File by file, then all together, then what can be asked."""
    return "\n".join(_lines(info)) + "\n"


def _lines(info: Info) -> Iterator[str]:
    for file in info.files:
        yield _file_line(file)
    columns = info.profile.columns
    yield ""
    yield _labelled(
        "Together", f"{_counted(len(columns.ops), 'ops')}, {columns.covered_ops:,} seen running"
    )
    if info.profile.steps:
        yield _labelled("Steps", ", ".join(map(str, info.profile.steps)))
    for device in sorted(columns.devices.name):
        yield _labelled("Device", device)
    questions = info.profile.questions()
    yield _labelled("Can say", ", ".join(q for q, can in questions.items() if can) or "nothing")
    if missing := [question for question, can in questions.items() if not can]:
        yield _labelled("Cannot", ", ".join(missing))
    for note in info.profile.notes:
        yield _labelled("Note", note)


def _file_line(file: FileSummary) -> str:
    facts = [_counted(count, fact) for fact, count in file.facts.items()]
    devices = [_counted(len(file.devices), "devices")] if file.devices else []
    return f"{one_line(file.path)}: {', '.join([file.kind, *facts, *devices])}"


def _counted(count: int, things: str) -> str:
    """`3 ops`, `1 op`, `1 entry`."""
    if count == 1:
        things = _ONE.get(things, things)
    return f"{count:,} {things}"


_ONE = {
    "ops": "op",
    "steps": "step",
    "runs": "run",
    "devices": "device",
    "entries": "entry",
    "tensors": "tensor",
    "values": "value",
}


def _labelled(label: str, text: str) -> str:
    """A line with its label, folded to the width of a terminal."""
    start = f"{label}:".ljust(_COLUMN)
    return textwrap.fill(
        one_line(text),
        _WIDTH,
        initial_indent=start,
        subsequent_indent=" " * _COLUMN,
        break_long_words=False,
        break_on_hyphens=False,
    )
