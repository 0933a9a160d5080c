"""The figures of report pages as a table, each with the figure of a peer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

VIEWS = ("layers", "scope", "graph", "code", "op", "timeline", "memory", "advice")

Taken = Mapping[str, float]  # figures by the subject, and what was measured: `report size`

# What the figures of peers are about, by subject.
_PEERS = {
    "blank": "a page with one line of text",
    "table": "the rows of Scope as an HTML table",
    "json": "one of the two steps as JSON, parsed",
    "both": "that table and that JSON",
    "command": "`tfprof scope` with the same files",
}


class Row(NamedTuple):
    """A row of the table: its heading, the figure of the report and that of a peer, if any."""

    heading: str
    ours: str
    peer: str = ""

    def cells(self, taken: Taken) -> list[str]:
        """The texts of the row."""
        ours = taken[self.ours]
        if not self.peer:
            return [self.heading, _number(ours), "-", "-", ""]
        peer = taken[self.peer]
        ratio = _number(ours / peer) if peer else "-"
        about = _PEERS[self.peer.partition(" ")[0]]
        return [self.heading, _number(ours), _number(peer), ratio, about]


_ROWS = (
    Row("size, MB", "report size", "both size"),
    Row("write, s", "report write", "command rows"),
    Row("first paint, ms", "report first_paint", "blank first_paint"),
    Row("usable, ms", "report ready", "table ready"),
    Row("main thread until usable, ms", "report main_thread", "table main_thread"),
    Row("main thread blocked, ms", "report blocked", "table blocked"),
    Row("longest task, ms", "report longest_task", "table longest_task"),
    *(
        Row(f"show {view.title()}, ms", f"report {view}", *(["json parse"] * (view == "timeline")))
        for view in VIEWS
    ),
    *(
        Row(heading.format(way), f"report {way} {figure}", f"blank zoom {figure}")
        for way in ("zoom", "pan")
        for heading, figure in (
            ("{} the timeline: frame, median, ms", "median"),
            ("{} the timeline: frame, 95th percentile, ms", "late"),
            ("{} the timeline: main thread per frame, ms", "work"),
        )
    ),
    Row("heap when usable, MB", "report heap"),
    Row("heap with all views, MB", "report heap at last", "json heap"),
    Row("`tfprof ui`: open to table, s", "ui table"),
    Row("`tfprof ui`: start to table, s", "ui start", "command rows"),
    Row("`tfprof ui`: open again, s", "ui again"),
    Row("`tfprof ui`: question that the page answers, ms", "ui page"),
    Row("`tfprof ui`: question that Python answers, ms", "ui python", "command question"),
)


def report_table(taken: Taken) -> str:
    """The figures as a Markdown table."""
    lines = ["| | report | peer | ratio | what the peer is |", "|---|--:|--:|--:|---|"]
    lines += [f"| {' | '.join(row.cells(taken))} |" for row in _ROWS]
    return "\n".join(lines)


def _number(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"
