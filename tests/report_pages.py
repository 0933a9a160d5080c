"""What the tests of the report page share: example models, and the answers to its commands."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shlex
from pathlib import Path

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


def write_report(words: list[str], path: Path) -> Path:
    """Write the report of a model, if it does not exist yet, and return its path."""
    if not path.exists():
        # Several test processes may write it at the same time.
        draft = path.with_name(f"{path.name}.{os.getpid()}")
        with contextlib.chdir(ROOT), contextlib.redirect_stderr(io.StringIO()) as messages:
            code = main(["report", *words, "-o", str(draft)])
        assert code == 0, messages.getvalue()
        draft.rename(path)
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


def painted(page):
    """Wait until the page has painted two frames, and return it."""
    page.evaluate("""async () => {
        for (let time = 0; time < 2; time += 1) {
            await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
        }
    }""")
    return page


def settled(page):
    """Wait until the page has shown what it was asked for, and return it."""
    page.wait_for_selector("[role=tablist]")
    page.evaluate("""async () => {
        for (let time = 0; time < 2; time += 1) {
            await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
            // Chromium sometimes forgets the callback if nothing else happens.
            await new Promise((resolve) => requestIdleCallback(resolve, { timeout: 300 }));
        }
    }""")
    return page


def tabs(page) -> list[str]:
    """The views of a page, in the order of their tabs."""
    settled(page)
    return page.eval_on_selector_all("[role=tab]", "tabs => tabs.map(tab => tab.dataset.view)")


def show(page, view: str) -> None:
    """Choose a view with the mouse."""
    page.click(f"#tab-{view}")
    settled(page)


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
