"""What was found and written about a model directory, as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict

from tfprof.errors import one_line
from tfprof.model_dir import PLACES, REPORTS, Reported


def as_json(told: Reported) -> str:
    """All of it, for scripts."""
    return json.dumps(asdict(told), indent=1) + "\n"


def as_text(told: Reported) -> str:
    """A line for each input and each text."""
    return "".join(f"{one_line(line)}\n" for line in _lines(told))


def _lines(told: Reported) -> Iterator[str]:
    for path in told.found.values():
        yield f"Found {path}"
    for name, path in told.missing.items():
        yield f"Missing {path}, which tells {PLACES[name].tells}"
    for path in told.written:
        yield f"Wrote {path}"
    for name in told.not_written:
        yield f"Did not write {name}, which needs {PLACES[REPORTS[name].needs].path}"
