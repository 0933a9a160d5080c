"""Writes what report pages are compared with: the same data in the simplest form for a browser."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import NamedTuple

from recorded_steps import Recorded

import tfprof

_METRICS = ("micros", "float_ops", "params", "peak_bytes")
_BLANK = "<!DOCTYPE html><title>blank</title><p id='end'>Nothing to see.</p>"


class Peers(NamedTuple):
    """The paths of the pages to compare with; they are complete when `END` is shown."""

    blank: Path
    table: Path  # the rows of the view of scopes as an HTML table
    timeline: Path  # a step as JSON for trace viewers, in a page that parses it

    @property
    def megabytes(self) -> float:
        """The size of the pages that have data."""
        return sum(path.stat().st_size for path in (self.table, self.timeline)) / 1e6


END = "#end"

# Parses the timeline and returns the milliseconds that this takes.
PARSE = """() => {
    const text = document.getElementById("data").textContent;
    const start = performance.now();
    window.parsed = JSON.parse(text);
    return performance.now() - start;
}"""


def write_peers(folder: Path, model: Recorded) -> Peers:
    """Write the pages for the files of a model."""
    peers = Peers(folder / "blank.html", folder / "table.html", folder / "timeline.html")
    peers.blank.write_text(_BLANK)
    peers.table.write_text("".join(_table(tfprof.load(*model.paths))))
    trace = folder / "timeline.json"
    plain = ("--show_dataflow", "false", "--show_memory", "false")
    words = [sys.executable, "-m", "tfprof", "timeline", model.step, "-o", trace, *plain]
    subprocess.run(words, check=True, stderr=subprocess.DEVNULL)
    text = trace.read_text().replace("</", "<\\/")
    data = f"<script type='application/json' id='data'>{text}</script>"
    peers.timeline.write_text(f"<!DOCTYPE html><meta charset='utf-8'>{data}<p id='end'>Read.</p>")
    return peers


def _table(profile: tfprof.Profile) -> Iterator[str]:
    view = profile.scope(max_depth=1000).view
    columns = [view.total[metric].tolist() for metric in _METRICS]
    yield "<!DOCTYPE html><meta charset='utf-8'><title>table</title><table><tr><th>name"
    yield from (f"<th>{metric}" for metric in _METRICS)
    for name, *numbers in zip(view.name, *columns, strict=True):
        yield f"<tr><td>{escape(name)}" + "".join(f"<td>{number:,}" for number in numbers)
    yield "</table><p id='end'>These are all rows.</p>"
