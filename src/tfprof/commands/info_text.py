"""The answer of `tfprof info`, as text and as JSON."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator

import numpy as np

from tfprof.api import Info
from tfprof.columns import Ints
from tfprof.errors import printable
from tfprof.model.profile import ProfileColumns
from tfprof.model.recordings import Recording
from tfprof.sources.source import FileSummary

_WIDTH = 80
_COLUMN = 11
_MOST_LISTED = 10  # consecutive steps


def as_json(info: Info) -> str:
    """The whole answer as JSON, for scripts."""
    return json.dumps(info.to_dict(), indent=1) + "\n"


def as_text(info: Info) -> str:
    """A line per file, then the totals, and the metrics and views that are available or missing."""
    return "\n".join(_lines(info)) + "\n"


def files_as_text(info: Info) -> str:
    """A line per file."""
    return "".join(f"{_file_line(file)}\n" for file in info.files)


def _lines(info: Info) -> Iterator[str]:
    for file in info.files:
        yield _file_line(file)
    columns = info.profile.columns
    yield ""
    ops, covered = _counted(len(columns.ops), "ops"), _counted(columns.covered_ops, "graph ops")
    yield _labelled("Total", f"{ops}; {covered} ran")
    for row, recording in enumerate(info.profile.recordings):
        yield _labelled("Recording", _recording_text(columns, row, recording))
        for device in sorted(columns.devices.name.take(_of(columns.devices.recording, row))):
            yield _labelled("Device", device)
    questions = info.profile.questions()
    yield _labelled("Available", ", ".join(q for q, can in questions.items() if can) or "none")
    if missing := [question for question, can in questions.items() if not can]:
        yield _labelled("Missing", ", ".join(missing))
    for note in info.profile.notes:
        yield _labelled("Note", note)


def _recording_text(columns: ProfileColumns, row: int, recording: Recording) -> str:
    """A recording and its steps: `worker:1 (rank 1): steps 0, 5`."""
    known = {"host": recording.host, "rank": recording.rank if recording.rank >= 0 else ""}
    facts = [
        f"{name} {value}" for name, value in known.items() if value not in ("", recording.label)
    ]
    numbers = columns.steps.number[_of(columns.steps.recording, row)]
    steps = f"{'step' if len(numbers) == 1 else 'steps'} {', '.join(_ranges(numbers))}"
    about = f" ({', '.join(facts)})" if facts else ""
    return f"{recording.label}{about}: {steps}"


def _ranges(numbers: Ints) -> Iterator[str]:
    """Ascending numbers; many that follow each other become one range."""
    for group in np.split(numbers, np.flatnonzero(np.diff(numbers) != 1) + 1):
        if len(group) > _MOST_LISTED:
            yield f"{group[0]} to {group[-1]}"
        else:
            yield from map(str, group.tolist())


def _of(owner: Ints, row: int) -> Ints:
    return np.flatnonzero(owner == row)


def _file_line(file: FileSummary) -> str:
    facts = [_counted(count, fact) for fact, count in file.facts.items()]
    devices = [_counted(len(file.devices), "devices")] if file.devices else []
    return f"{printable(file.path)}: {', '.join([file.title, *facts, *devices])}"


def _counted(count: int, things: str) -> str:
    """A count with its noun in singular or plural: `3 ops`, `1 op`, `1 entry`."""
    if count == 1:
        things = _ONE.get(things, things)
    return f"{count:,} {things}"


_ONE = {
    "ops": "op",
    "recordings": "recording",
    "graph ops": "graph op",
    "steps": "step",
    "runs": "run",
    "graphs": "graph",
    "lines": "line",
    "devices": "device",
    "entries": "entry",
    "tensors": "tensor",
    "values": "value",
}


def _labelled(label: str, text: str) -> str:
    """A labelled line, wrapped to the width of a terminal."""
    start = f"{label}:".ljust(_COLUMN)
    return textwrap.fill(
        printable(text),
        _WIDTH,
        initial_indent=start,
        subsequent_indent=" " * _COLUMN,
        break_long_words=False,
        break_on_hyphens=False,
    )
