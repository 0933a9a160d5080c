"""The examples for the tables of a saved profile give the results that the manual shows."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tfprof.cli import main

ROOT = Path(__file__).parents[2]
HOW_TO = (ROOT / "docs" / "how-to" / "save.md").read_text("utf-8")
REFERENCE = (ROOT / "docs" / "reference" / "saved-profile.md").read_text("utf-8")

# A query and, if the page shows it, its result as a Markdown table.
QUERY = re.compile(r"```sql\n((?:.*\n)+?)```\n(?:\n((?:\|.*\n)+))?")


@pytest.fixture
def _saved(tmp_path, monkeypatch):
    """A folder in which the first command of the page was run."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    line = re.search(r"^\$ tfprof (save .+)$", HOW_TO, re.MULTILINE)[1]
    assert main(shlex.split(line)) == 0


@pytest.fixture
def _tables(_saved, monkeypatch):
    """The folder with the tables, extracted as the page says."""
    words = shlex.split(re.search(r"^python (-m zipfile .+)$", HOW_TO, re.MULTILINE)[1])
    subprocess.run([sys.executable, *words], check=True)
    monkeypatch.chdir(words[-1])


def cells(table):
    """The rows of a Markdown table, without its headings."""
    return [[cell.strip() for cell in row.split("|")[1:-1]] for row in table.splitlines()[2:]]


@pytest.mark.usefixtures("_tables")
@pytest.mark.parametrize(("query", "shown"), QUERY.findall(HOW_TO))
def test_duckdb_answers_a_query_as_shown(query, shown):
    duckdb = pytest.importorskip("duckdb")

    found = duckdb.sql(query)

    assert re.findall(r"\w+", shown.splitlines()[0]) == found.columns
    assert [[str(cell) for cell in row] for row in found.fetchall()] == cells(shown)


@pytest.mark.usefixtures("_tables")
def test_the_query_of_the_reference_has_a_row_per_run():
    duckdb = pytest.importorskip("duckdb")
    (query, _), *others = QUERY.findall(REFERENCE)

    found = duckdb.sql(query)

    assert not others
    assert found.columns == ["name", "duration_ns"]
    assert found.shape == (2593, 2)


@pytest.mark.usefixtures("_saved")
def test_the_pandas_example_sums_bytes_by_op_kind():
    pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    code = re.search(r"```python\n(import zipfile\n.+?)```", HOW_TO, re.DOTALL)[1]
    names = {}

    exec(code, names)  # noqa: S102 -- code from our own manual

    assert names["requested"].to_dict() == {
        "Mul": 565_998_660,
        "Tile": 312_475_648,
        "SelectV2": 289_406_976,
    }


def test_the_python_example_saves_and_loads(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for name in ("graph.pbtxt", "run_meta", "tfprof_log"):
        shutil.copy(ROOT / "examples" / "resnet32" / f"{name}.gz", name)
    code = re.search(r"```python\n(import tfprof\n.+?)```", HOW_TO, re.DOTALL)[1]
    names = {}

    exec(code, names)  # noqa: S102 -- code from our own manual

    assert names["missing"] == ()
    assert names["again"].op().table == names["profile"].op().table
