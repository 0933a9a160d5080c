"""Sources of other packages are found, used and named in errors that they cause."""

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
from same_columns import assert_same_columns
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
    """The folder where pip installed the package shown in the manual."""
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
        [sys.executable, "-m", "pip", "install", *options, "--target", target, project],
        env=os.environ | {"PYTHONWARNINGS": "ignore"},  # pip uses deprecated functions
        check=True,
    )
    return target


@pytest.fixture
def trace(tmp_path):
    path = tmp_path / "run.json"
    path.write_text(json.dumps(TRACE))
    return path


def test_the_command_line_reads_files_of_an_added_source(installed, trace):
    ran = subprocess.run(
        [sys.executable, "-m", "tfprof", "scope", trace, "-order_by", "micros", "--json"],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(installed), *sys.path])},
        capture_output=True,
        text=True,
        check=True,
    )

    rows = {row["name"]: row for row in json.loads(ran.stdout)["rows"]}
    assert rows["net/a"]["micros"] == 2
    assert rows["net/b"]["micros"] == 0.3  # 0.6 in one of two steps
    assert rows["net"]["total_micros"] == 2.3


def test_info_describes_files_of_an_added_source(installed, trace, monkeypatch):
    monkeypatch.syspath_prepend(str(installed))

    found = tfprof.info(trace).to_dict()

    assert found["files"] == [
        {"path": str(trace), "kind": "toy_trace", "ops": 2, "runs": 3, "devices": ["cpu"]}
    ]
    (recording,) = found["recordings"]
    assert (recording["label"], recording["rank"], recording["steps"]) == ("toy-1", 3, [7, 8])
    assert recording["framework"] == "toy"


def test_hints_name_only_files_of_the_same_framework(installed, trace, monkeypatch):
    monkeypatch.syspath_prepend(str(installed))

    notes = tfprof.load(trace).scope(select=["params"]).notes

    assert not any("GraphDef" in note for note in notes)


def test_a_saved_profile_of_an_added_source_is_read_without_its_package(
    installed, trace, monkeypatch, tmp_path
):
    with monkeypatch.context() as patch:
        patch.syspath_prepend(str(installed))
        before = tfprof.load(trace)
        before.save(tmp_path / "saved")
    with pytest.raises(UnknownFormatError):
        tfprof.load(trace)

    after = tfprof.load(tmp_path / "saved")

    assert_same_columns(after.columns, before.columns)
    assert after.scope(select=["params"]).notes == before.scope(select=["params"]).notes


def test_an_added_source_reports_its_own_input_errors(installed, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(installed))
    (tmp_path / "cut.json").write_text(json.dumps(TRACE)[:50])

    with pytest.raises(InputError, match="is not a complete Toy trace"):
        tfprof.load(tmp_path / "cut.json")


@pytest.fixture
def added(tmp_path, monkeypatch):
    """A function that installs code as a source of another package."""

    def install(code):
        (tmp_path / "other_source.py").write_text(code)
        folder = tmp_path / "other-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
        (folder / "entry_points.txt").write_text("[tfprof.sources]\nx = other_source")
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.delitem(sys.modules, "other_source", raising=False)

    return install


HEAD = """
from tfprof.metrics import Need
from tfprof.sources.source import Stage, summary
name, title, framework = "zipped", "zipped ops", "toy"
stage, brings = Stage.DEFINITIONS, frozenset({Need.DEFINITIONS})
def looks_like(content): return content.head.startswith(b"PK")
"""


def test_an_added_source_may_read_zip_files(added, tmp_path):
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
            "source `zipped` failed: KeyError: 'x'.",
        ),
        (HEAD + "def read(file): ...\ndef add(*_): 1 / 0", "source `zipped` failed: ZeroDiv"),
    ],
)
def test_an_error_names_the_added_source_that_failed(added, code, complaint, tmp_path):
    added(code)
    (tmp_path / "file").write_bytes(b"PK and more")

    with pytest.raises(InputError, match=complaint):
        tfprof.load(tmp_path / "file")


@pytest.mark.parametrize(
    ("code", "complaint"),
    [
        ("import no_such_module", "source other_source cannot be loaded: ModuleNotFoundError"),
        ("name = 'x'", "source other_source has no member `title`"),
    ],
)
def test_the_error_for_an_unknown_file_names_sources_that_cannot_be_used(
    added, code, complaint, tmp_path
):
    added(code)
    (tmp_path / "file").write_bytes(b"PK and more")

    with pytest.raises(UnknownFormatError, match=complaint):
        tfprof.load(tmp_path / "file")
