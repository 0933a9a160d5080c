"""The command `profile`: write reports on a training run from its folder."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

from tfprof import model_dir
from tfprof.commands.command import Place
from tfprof.commands.progress import Progress
from tfprof.errors import OptionError, printable
from tfprof.model_dir import PLACES, REPORTS, Reported
from tfprof.outputs import schemas

if TYPE_CHECKING:
    from tfprof.commands.command import Call


def profile(call: Call) -> None:
    """Write the reports, and list the files found and written."""
    folders = [*filter(None, [call.value("model_dir")]), *call.words]
    if len(folders) != 1:
        usage = call.command.usage(Place.COMMAND_LINE)
        raise OptionError(f"`profile` requires one folder: {usage}.")
    with Progress(sys.stderr) as progress:
        found = model_dir.report(folders[0], call.value("output_dir"), progress=progress.reading)
    call.show([_as_json(found) if call.value("json") else _as_text(found)])
    call.say(*found.notes)


def _as_json(reported: Reported) -> str:
    answer = {"schema": schemas.name_of("reports")} | asdict(reported)
    return json.dumps(answer, indent=1) + "\n"


def _as_text(reported: Reported) -> str:
    """A line per input and per report."""
    return "".join(f"{printable(line)}\n" for line in _lines(reported))


def _lines(reported: Reported) -> Iterator[str]:
    for path in reported.found.values():
        yield f"Found {path}"
    for name, path in reported.missing.items():
        yield f"Missing {path}, which shows {PLACES[name].provides}"
    for path in reported.written:
        yield f"Wrote {path}"
    for name in reported.not_written:
        yield f"Did not write {name}, which requires {PLACES[REPORTS[name].needs].path}"
