"""What the tests of the report page share: example models, answers to commands, and waits."""

from __future__ import annotations

import contextlib
import io
import json
import shlex
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import parse_qsl

from tfprof.cli import main
from tfprof.views.view import ROOT_NAME

ROOT = Path(__file__).parent.parent

# The words of a command that load each example model, in the root folder of the project.
MODELS = {
    "resnet32": [
        f"examples/resnet32/{name}.gz" for name in ("graph.pbtxt", "run_meta", "tfprof_log")
    ],
    "transformer": ["examples/transformer/transformer.tfprof"],
    "keras_cnn": ["examples/keras_cnn"],
}
WIDTHS = (1440, 800)
THEMES = ("light", "dark")
SECONDS = 60  # no test waits longer for anything


def write_report(words: list[str], path: Path) -> Path:
    """Write the report of a model, if it does not exist yet, and return its path.

    Several test processes may do so at once: each writes a file of its own and renames it, so that
    none reads an unfinished one.
    """
    if not path.exists():
        with TemporaryDirectory(dir=path.parent) as folder:
            draft = Path(folder) / path.name
            with contextlib.chdir(ROOT), contextlib.redirect_stderr(io.StringIO()) as messages:
                code = main(["report", *words, "-o", str(draft)])
            assert code == 0, messages.getvalue()
            draft.replace(path)
    return path


def answer(command: str) -> dict:
    """The answer to a command that the page offers, from the command line with `--json`."""
    program, *words = shlex.split(command)
    assert program == "tfprof"
    with contextlib.chdir(ROOT), contextlib.redirect_stdout(io.StringIO()) as printed:
        assert main([*words, "--json"]) == 0
    return json.loads(printed.getvalue())


def totals(found: dict, column: str) -> dict[str, float]:
    """A column of an answer by the name of its rows."""
    return {row["name"]: row[column] for row in found["rows"]}


# Two frames: what the first one measures may change what the second one draws.
FRAMES = """async (seconds) => {
    const late = new Promise((_, reject) => {
        setTimeout(() => reject(new Error(`no two frames in ${seconds} s`)), 1000 * seconds);
    });
    const frames = async () => {
        for (let frame = 0; frame < 2; frame += 1) {
            await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
        }
    };
    await Promise.race([frames(), late]);
}"""


def painted(page):
    """Wait until the page has painted two frames, and return it."""
    page.evaluate(FRAMES, SECONDS)
    return page


def settled(page):
    """Wait until the page has shown what it was asked for, and return it.

    Not for answers of a server: wait for what they show.
    """
    page.wait_for_selector("[role=tablist]")
    return painted(page)


def wait_for(page, what: str, function: str, argument: object = None) -> None:
    """Wait until a function of the page returns something true; `what` is awaited."""
    # The policy of a report forbids to evaluate an expression several times.
    assert "=>" in function
    # Playwright is imported by tests with a browser only.
    from playwright.sync_api import TimeoutError as TooLate  # noqa: PLC0415

    try:
        page.wait_for_function(function, arg=argument)
    except TooLate:
        raise AssertionError(
            f"waited {SECONDS} s for {what}; {page.url} shows:\n{page.inner_text('body')[:2000]}"
        ) from None


def wait_until(page, what: str, condition: Callable[[], bool]) -> None:
    """Wait until a condition is true, looking again after each two frames of the page."""
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end, f"waited {SECONDS} s for {what}"
        painted(page)


def wait_for_text(page, selector: str, text: str) -> None:
    """Wait until the first element that matches has exactly this text."""
    wait_for(
        page,
        f"the text {text!r} in {selector}",
        "([selector, text]) => document.querySelector(selector)?.textContent === text",
        [selector, text],
    )


def note_texts(page, selector: str) -> None:
    """Note all later texts of the first element that matches: some are shown for a moment only."""
    page.evaluate(
        """selector => {
            const element = document.querySelector(selector);
            window.notedTexts = [];
            const note = () => window.notedTexts.push(element.textContent);
            new MutationObserver(note).observe(element, { childList: true });
        }""",
        selector,
    )


def wait_for_noted_text(page, text: str) -> None:
    """Wait until the element of `note_texts` had this text."""
    wait_for(page, f"the text {text!r}", "text => window.notedTexts.includes(text)", text)


def address(page) -> dict[str, str]:
    """The words after the `#` of the address; those of the page itself, which are never late."""
    return dict(parse_qsl(page.evaluate("location.hash.slice(1)"), keep_blank_values=True))


def tabs(page) -> list[str]:
    """The views of a page, in the order of their tabs."""
    settled(page)
    return page.eval_on_selector_all("[role=tab]", "tabs => tabs.map(tab => tab.dataset.view)")


def show(page, view: str) -> None:
    """Choose a view with the mouse."""
    page.click(f"#tab-{view}")
    settled(page)


class Calls:
    """Counts the calls of the functions of a page, for limits that hold on any machine.

    with Calls(page) as calls:
        page.click("#tab-graph")
    assert calls.count < 1000
    """

    def __init__(self, page):
        self.page = page
        self.count = 0

    def __enter__(self):
        self.session = self.page.context.new_cdp_session(self.page)
        self.session.send("Profiler.enable")
        counts = {"callCount": True, "detailed": False}
        self.session.send("Profiler.startPreciseCoverage", counts)
        return self

    def __exit__(self, *_):
        own = self.page.url.partition("#")[0]
        for script in self.session.send("Profiler.takePreciseCoverage")["result"]:
            if script["url"].partition("#")[0] == own:  # the others are those of Playwright
                self.count += sum(one["ranges"][0]["count"] for one in script["functions"])
        self.session.detach()


def pixels(page, canvas: str, y: int) -> list[list[int]]:
    """The red, green and blue of a line of pixels of a canvas."""
    return page.locator(canvas).evaluate(
        """(canvas, y) => {
            const { data } = canvas.getContext("2d").getImageData(0, y, canvas.width, 1);
            const pixel = (_, x) => [...data.slice(4 * x, 4 * x + 3)];
            return Array.from({ length: canvas.width }, pixel);
        }""",
        y,
    )


def overflow(page) -> int:
    """By how many pixels the page is wider than the window."""
    return page.evaluate("document.documentElement.scrollWidth - innerWidth")


def table_rows(page) -> list[dict]:
    """The rows of a table that are in the page: row of the data, name, and the texts and numbers.

    `numbers` has the exact number of each cell by the heading of its column, `texts` what is shown.
    """
    page.wait_for_selector(".table-body .table-row")
    settled(page)
    found = page.evaluate("""() => {
        const text = (cell) => cell.textContent.replace(/[▾▴]/g, "");
        const headings = [...document.querySelectorAll(".table-headings > span")].map(text);
        const rows = [...document.querySelectorAll(".table-body .table-row")];
        return rows.map((row) => ({
            row: Number(row.dataset.row),
            name: row.querySelector(".table-name").title,
            numbers: [...row.children].map((cell, place) => [
                headings[place], cell.querySelector("[data-value]")?.dataset.value ?? null,
            ]),
            texts: [...row.children].map((cell, place) => [headings[place], text(cell)]),
        }));
    }""")
    for row in found:
        row["name"] = ROOT_NAME if row["row"] == 0 else row["name"]
        row["numbers"] = [
            (heading, None if value is None else float(value)) for heading, value in row["numbers"]
        ]
    return found
