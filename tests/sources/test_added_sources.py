"""Sources of other packages: installed, recognised, read, and blamed for their own failures."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import tfprof
from tfprof.errors import InputError, UnknownFormatError

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "add-a-source.md"

TRACE = {
    "toy_trace": {
        "host": "toy-1",
        "rank": 3,
        "events": [
            {"op": "net/a", "step": 7, "start_ns": 1000, "duration_ns": 1400},
            {"op": "net/b", "step": 7, "start_ns": 3000, "duration_ns": 600},
            {"op": "net/a", "step": 8, "start_ns": 9000, "duration_ns": 2600},
        ],
    }
}


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The folder that pip installed the package of the manual into."""
    project = tmp_path_factory.mktemp("toy")
    page = PAGE.read_text("utf-8")
    (project / "toy_traces.py").write_text(re.search(r"```python\n(.*?)```", page, re.DOTALL)[1])
    points = re.search(r"```toml\n(.*?)```", page, re.DOTALL)[1]
    (project / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n'
        '[project]\nname = "toy-traces"\nversion = "1.0"\n'
        f'{points}\n[tool.setuptools]\npy-modules = ["toy_traces"]\n'
    )
    target = tmp_path_factory.mktemp("site")
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--disable-pip-version-check"]
    subprocess.run(
        [sys.executable, "-m", "pip", "install", *options, "--target", target, project], check=True
    )
    return target


@pytest.fixture
def trace(tmp_path):
    path = tmp_path / "run.json"
    path.write_text(json.dumps(TRACE))
    return path


def test_a_package_adds_a_source_that_the_command_line_reads(installed, trace):
    ran = subprocess.run(
        [sys.executable, "-m", "tfprof", "scope", trace, "-order_by", "micros", "--json"],
        env=os.environ | {"PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        check=True,
    )

    rows = {row["name"]: row for row in json.loads(ran.stdout)["rows"]}
    assert rows["net/a"]["micros"] == 2
    assert rows["net/b"]["micros"] == 0.6
    assert rows["net"]["total_micros"] == 2.6


def test_its_files_are_described_as_any_other(installed, trace, monkeypatch):
    monkeypatch.syspath_prepend(str(installed))

    found = tfprof.info(trace).to_dict()

    assert found["files"] == [
        {"path": str(trace), "kind": "toy_trace", "ops": 2, "runs": 3, "devices": ["cpu"]}
    ]
    (recording,) = found["recordings"]
    assert (recording["label"], recording["rank"], recording["steps"]) == ("toy-1", 3, [7, 8])
    assert recording["framework"] == "toy"


def test_hints_are_of_the_framework_of_the_file(installed, trace, monkeypatch):
    monkeypatch.syspath_prepend(str(installed))

    notes = tfprof.load(trace).scope(select=["params"]).notes

    assert not any("GraphDef" in note for note in notes)


def test_what_it_cannot_read_is_said_by_the_source(installed, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(installed))
    (tmp_path / "cut.json").write_text(json.dumps(TRACE)[:50])

    with pytest.raises(InputError, match="is not a complete Toy trace"):
        tfprof.load(tmp_path / "cut.json")


@pytest.fixture
def added(tmp_path, monkeypatch):
    """Makes a module of this code available as an installed source."""

    def install(code):
        (tmp_path / "somebodys_source.py").write_text(code)
        folder = tmp_path / "somebody-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: somebody\nVersion: 1.0\n")
        (folder / "entry_points.txt").write_text("[tfprof.sources]\nx = somebodys_source")
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.delitem(sys.modules, "somebodys_source", raising=False)

    return install


HEAD = """
from tfprof.metrics import Need
from tfprof.sources.source import Stage, summary
name, title, framework = "zipped", "zipped ops", "toy"
stage, brings = Stage.DEFINITIONS, frozenset({Need.DEFINITIONS})
def looks_like(content): return content.head.startswith(b"PK")
"""


def test_a_file_may_be_a_zip(added, tmp_path):
    added(
        HEAD
        + """
import zipfile
from tfprof.model.builder import OpColumns
def read(file):
    with zipfile.ZipFile(file.path) as archive:
        return archive.read("ops.txt").decode().split()
def add(names, builder, file):
    nothing = [()] * len(names)
    shapes = [(2, 3)] * len(names)
    builder.add_ops(OpColumns.of(names, names, nothing, shapes, nothing))
    return summary(file, ops=len(names))
"""
    )
    with zipfile.ZipFile(tmp_path / "ops.zip", "w") as archive:
        archive.writestr("ops.txt", "net/a net/b")

    profile = tfprof.load(tmp_path / "ops.zip")

    assert profile.scope(select="params")["net"]["total_params"] == 12


@pytest.mark.parametrize(
    ("code", "complaint"),
    [
        (
            HEAD + "def read(_): return {}['x']\ndef add(*_): ...",
            "the source `zipped` fails: Key",
        ),
        (HEAD + "def read(file): ...\ndef add(*_): 1 / 0", "the source `zipped` fails: ZeroDivi"),
    ],
)
def test_a_source_that_fails_is_named(added, code, complaint, tmp_path):
    added(code)
    (tmp_path / "file").write_bytes(b"PK and more")

    with pytest.raises(InputError, match=complaint):
        tfprof.load(tmp_path / "file")


@pytest.mark.parametrize(
    ("code", "complaint"),
    [
        ("import no_such_module", "somebodys_source cannot be loaded: ModuleNotFoundError"),
        ("name = 'x'", "somebodys_source has no `title`"),
    ],
)
def test_a_source_that_cannot_be_used_is_named_with_the_unknown_file(
    added, code, complaint, tmp_path
):
    added(code)
    (tmp_path / "file").write_bytes(b"PK and more")

    with pytest.raises(UnknownFormatError, match=complaint):
        tfprof.load(tmp_path / "file")
