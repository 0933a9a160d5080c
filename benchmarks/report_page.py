"""Measures report pages in Chromium: their size, and how fast they open, show views and move.

    python benchmarks/report_page.py [--ops 5e3,1e5] [--repeat 3] [--write docs/benchmarks.md]

Prints a table per size, each figure with that of a simpler page or command of the same run. With
`--write` the tables also replace a section of the manual. Requires Chromium and Playwright.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory

from bytecode import compile_sources
from chromium import Chromium, chromium, version
from generate import generate, op_count
from page_section import REPORT, replaced
from recorded_steps import Recorded, recorded
from report_figures import VIEWS, Taken, report_table
from report_peers import END, PARSE, Peers, write_peers
from report_served import served
from report_tasks import question, rows, write
from results import busy_note

_INTRODUCTION = Path(__file__).with_name("report_template.md")
_OVERVIEW = ".overview-lists .list-row"  # appears last on the first screen
_STAGE = ".timeline-overlay"
_TURNS = 40  # of the wheel, and as many back
_MOVES = {
    "zoom": [{"deltaY": side * 150, "ctrlKey": True} for side in (-1, 1) for _ in range(_TURNS)],
    "pan": [{"deltaY": side * 60, "shiftKey": True} for side in (1, -1) for _ in range(_TURNS)],
}


def main() -> None:
    args = _arguments()
    compile_sources()
    written = [_introduction(args.repeat)]
    for ops in args.ops:
        with TemporaryDirectory(prefix="tfprof-report-") as folder:
            model = recorded(generate(Path(folder), ops))
            taken = measured(Path(folder), model, args.repeat)
        written.append(f"### {ops:,} ops, {model.runs:,} runs of ops\n\n{report_table(taken)}\n")
        print(written[-1], flush=True)
    if args.write:
        page = args.write.read_text("utf-8")
        args.write.write_text(replaced(page, REPORT, "\n".join(written)), encoding="utf-8")


def _introduction(repeat: int) -> str:
    text = _INTRODUCTION.read_text("utf-8")
    today = datetime.now(UTC).date().isoformat()
    text = text.format(date=today, version=version(), repeat=repeat)
    return "\n".join([text, *(f"{note}\n" for note in busy_note())])


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ops", type=_sizes, default="5e3,1e5", help="numbers of ops (5e3,1e5)")
    parser.add_argument("--repeat", type=int, default=3, help="runs; the median counts (3)")
    parser.add_argument("--write", type=Path, metavar="FILE", help="page with the section")
    return parser.parse_args()


def _sizes(text: str) -> list[int]:
    return [op_count(size) for size in text.split(",")]


def measured(folder: Path, model: Recorded, repeat: int) -> Taken:
    """The medians of all figures; report and peers take turns."""
    peers = write_peers(folder, model)
    taken: defaultdict[str, list[float]] = defaultdict(list)
    for _ in range(repeat):
        for name, figure in _once(folder / "report.html", model, peers):
            taken[name].append(figure)
    return {name: median(figures) for name, figures in taken.items()}


def _once(report: Path, model: Recorded, peers: Peers) -> Iterator[tuple[str, float]]:
    yield "report write", write(model.paths, report)
    yield "command rows", rows(model.paths)
    yield "command question", question(model.paths)
    yield "report size", report.stat().st_size / 1e6
    yield "both size", peers.megabytes
    with chromium() as browser:
        yield from _named("report", browser.open(report.as_uri(), _OVERVIEW)._asdict())
        yield "report heap", browser.heap()
        for view in VIEWS:
            yield f"report {view}", browser.show(view)
        yield from _moved(browser)
        yield "report heap at last", browser.heap()
    with chromium() as browser:
        yield from _named("blank", browser.open(peers.blank.as_uri(), END)._asdict())
        yield from _frames("blank", browser, "body", "zoom")
    with chromium() as browser:
        yield from _named("table", browser.open(peers.table.as_uri(), END)._asdict())
    with chromium() as browser:
        browser.open(peers.timeline.as_uri(), END)
        yield "json parse", browser.page.evaluate(PARSE)
        yield "json heap", browser.heap()
    yield from _named("ui", served(model.paths)._asdict())


def _moved(browser: Chromium) -> Iterator[tuple[str, float]]:
    """Zoom and pan the timeline of all steps."""
    browser.show("timeline")
    browser.page.keyboard.press("0")
    browser.page.wait_for_timeout(500)
    for way in _MOVES:
        yield from _frames("report", browser, _STAGE, way)


def _frames(
    subject: str, browser: Chromium, selector: str, way: str
) -> Iterator[tuple[str, float]]:
    frames = browser.turn_wheel(selector, _MOVES[way])
    yield f"{subject} {way} median", median(frames.times)
    yield f"{subject} {way} late", quantiles(frames.times, n=20)[-1]
    yield f"{subject} {way} work", frames.main_thread


def _named(subject: str, figures: Mapping[str, float]) -> Iterator[tuple[str, float]]:
    for name, figure in figures.items():
        yield f"{subject} {name}", figure


if __name__ == "__main__":
    main()
