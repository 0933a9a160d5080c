import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from container_formats import CONTAINERS, OWN, rows_of
from container_tables import tables_of
from generate import generate
from saving import FORMATS

import tfprof

pytestmark = pytest.mark.dist

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
OPS = "300"


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    files = generate(tmp_path_factory.mktemp("model"), int(OPS))
    return tables_of(tfprof.load(files.graph, files.run_meta, files.op_log).columns)


def rows_of_all(tables):
    return {
        name: {key: rows_of(column) for key, column in table.items()}
        for name, table in tables.items()
    }


@pytest.mark.parametrize("name", CONTAINERS)
def test_a_container_keeps_every_value(name, tables, tmp_path):
    for module in CONTAINERS[name].packages.values():
        pytest.importorskip(module)

    CONTAINERS[name].write(tables, tmp_path / "saved")

    assert rows_of_all(CONTAINERS[name].read(tmp_path / "saved")) == rows_of_all(tables)


def printed(script, *options):
    command = [sys.executable, BENCHMARKS / script, "--ops", OPS, "--repeat", "1", *options]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_the_comparison_has_a_row_for_each_container():
    rows = printed("containers.py", "--only", "npz").splitlines()[2:]

    assert [row.split(" | ")[0] for row in rows] == [f"| {OWN}", "| npz, stored", "| npz, deflate"]
    assert rows[0].count(" s |") == 2
    assert all(row.count("x |") == 3 for row in rows[1:])


@pytest.mark.skipif(find_spec("nanoarrow") is not None, reason="nanoarrow is installed")
def test_a_container_without_its_package_is_skipped():
    assert "nanoarrow not installed" in printed("containers.py", "--only", "nanoarrow")


def test_saving_is_compared_with_loading_the_original_files():
    rows = printed("saving.py").splitlines()[2:]

    tasks = [f"{verb} {name}" for name in FORMATS for verb in ("save as", "load")]
    assert [row.split(" | ")[0] for row in rows] == [
        f"| {task}" for task in ["load the original files", *tasks]
    ]
