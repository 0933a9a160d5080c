"""What files are, as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator

from tfprof.api import Info
from tfprof.sources.summary import FileSummary


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
    yield f"Together: {len(columns.ops):,} ops, {columns.covered_ops:,} of them seen running."
    if info.profile.steps:
        yield f"Steps:    {', '.join(map(str, info.profile.steps))}"
    for device in sorted(columns.devices.name):
        yield f"Device:   {device}"
    questions = info.profile.questions()
    yield f"Can say:  {', '.join(name for name, can in questions.items() if can) or 'nothing'}"
    if missing := [name for name, can in questions.items() if not can]:
        yield f"Cannot:   {', '.join(missing)}"
    for note in info.profile.notes:
        yield f"Note:     {note}"


def _file_line(file: FileSummary) -> str:
    facts = ", ".join(f"{count:,} {fact}" for fact, count in file.facts.items())
    devices = f", {len(file.devices):,} devices" if file.devices else ""
    return f"{file.path}: {file.kind}, {facts}{devices}"
