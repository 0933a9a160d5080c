"""What the tests of the diff page share: pairs of profiles, and their pages."""

from __future__ import annotations

from contextlib import chdir
from functools import cache
from pathlib import Path

import tfprof
from build import op, profile, run
from report_pages import ROOT, settled
from tfprof.comparison.compared import Compared
from tfprof.comparison.diff import build_diff
from tfprof.comparison.pair import Pair
from tfprof.comparison.summary import build_summary
from tfprof.options import Options
from tfprof.page.diff_report import DiffReport

STEPS = 12
LINES = ("main.py:1:main", "net.py:7:call")

# The words of a command that load each side, in the root folder of the project.
FILES = {
    "attention": (["examples/compare/float32.tfprof"], ["examples/compare/float64.tfprof"]),
    "classifier": (["examples/compare/classifier"], ["examples/compare/classifier_attention"]),
    "resnet32": (
        ["examples/compare/resnet32_inference.pbtxt.gz"],
        ["examples/resnet32/graph.pbtxt.gz", "examples/resnet32/run_meta.gz"],
    ),
}


def model(*others, slow=1.0, renamed="net/old", steps=STEPS):
    """A model of two layers and other ops; `slow` is how much longer one of them takes."""
    facts = [
        op("net/mul/w", "VariableV2", shape=(3, 4), code=LINES),
        op("net/mul/MatMul", "MatMul", inputs=["net/mul/w"], float_ops=240, code=LINES),
        op(f"{renamed}/w", "VariableV2", shape=(5, 7), code=LINES),
        op(f"{renamed}/Add", "Add", inputs=["net/mul/MatMul", f"{renamed}/w"], code=LINES),
        *others,
    ]
    for step in range(steps):
        start = 1000 + 500 * step
        # A little noise, so that intervals have a width.
        facts.append(run("net/mul/MatMul", slow * (100 + step % 3), step, start))
        facts.append(run(f"{renamed}/Add", 50 + step % 2, step, start + 250))
        facts += [run(fact.name, 30, step, start + 320) for fact in others]
    return profile(*facts)


@cache
def changed() -> Pair:
    """A layer is slower, one has another name, one op is new and one is gone."""
    base = model(op("net/gone", "Relu", code=LINES))
    new = model(op("net/added", "Tanh", code=LINES), slow=1.8, renamed="net/young")
    return Pair(base, new)


def compared_of(pair: Pair, **options) -> Compared:
    view = build_diff(pair, "scope", Options.of(**options))
    return Compared(view, build_summary(pair), ("runs/a b",), ("runs/c",))


@cache
def loaded(name: str) -> Compared:
    """An example pair of files, or the built one."""
    if name == "changed":
        return compared_of(changed())
    with chdir(ROOT):
        return tfprof.diff(*FILES[name]).scope().compared


def write_page(compared: Compared, path: Path) -> Path:
    DiffReport(compared).save(path)
    return path


def rows_of(page) -> list[dict]:
    """The rows of the table: the name, its mark, and before, after and change with their texts."""
    settled(page)
    return page.eval_on_selector_all(
        ".table-body .table-row",
        """rows => rows.map((row) => ({
            row: Number(row.dataset.row),
            level: Number(row.getAttribute("aria-level")),
            title: row.querySelector(".table-name").title,
            mark: row.querySelector(".diff-mark")?.textContent ?? "",
            numbers: [...row.querySelectorAll("[data-value]")].map(
                (one) => Number(one.dataset.value)),
            texts: [...row.children].map((cell) => cell.textContent),
            isSelected: row.getAttribute("aria-selected") === "true",
        }))""",
    )
