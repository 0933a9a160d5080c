"""Measures the page that `tfprof ui` serves."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from chromium import chromium
from report_tasks import QUESTION

_TABLE = ".table-body [role=row]"
_PAGE_QUESTION = ("min_micros", "20")

# Set an option in the address, and wait until the last line of the table says other numbers.
_ASK = """async ([name, text]) => {
    const foot = document.querySelector(".table-foot");
    const before = foot.textContent;
    const start = performance.now();
    location.hash = new URLSearchParams({ view: "scope", [name]: text });
    while (foot.textContent === before) await new Promise(requestAnimationFrame);
    await new Promise((resolve) => setTimeout(resolve));
    return performance.now() - start;
}"""


class Served(NamedTuple):
    """Seconds until the table of scopes is shown, and milliseconds until other rows are."""

    start: float  # from the start of the process
    table: float  # from opening the address, as soon as it is known
    again: float  # when Python has computed the data before
    page: float  # a question that the page answers
    python: float  # a question that it asks Python


def served(paths: Sequence[Path]) -> Served:
    """Start a server, open its page as soon as the address is known, and ask questions."""
    with chromium() as browser, _server(paths) as (address, seconds):
        table = browser.open(f"{address}#view=scope", _TABLE).ready / 1000
        browser.page.reload()
        again = browser.page.evaluate("window.ready") / 1000
        page, python = (browser.page.evaluate(_ASK, one) for one in (_PAGE_QUESTION, QUESTION))
    return Served(seconds + table, table, again, page, python)


@contextmanager
def _server(paths: Sequence[Path]) -> Iterator[tuple[str, float]]:
    """The address of a server, and the seconds until it was known."""
    start = time.perf_counter()
    words = [sys.executable, "-m", "tfprof", "ui", "--no_browser", *paths]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        yield process.stdout.readline().strip(), time.perf_counter() - start
    finally:
        process.terminate()
        process.communicate()
