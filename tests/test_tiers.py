"""Tiers of tests, and what the tests must not leave behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import tiers

TESTS = Path(__file__).parent
SOURCE = tiers.ROOT / "src" / "tfprof"


@pytest.fixture
def module(tmp_path):
    """Writes a module of tests, and returns its path."""

    def write(text: str, name: str = "test_written.py") -> Path:
        path = tmp_path / name
        path.write_text(text, "utf-8")
        return path

    return write


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def test_a(): ...", {"gate"}),
        ("pytestmark = pytest.mark.live", {"live"}),
        ("pytestmark = [\n    pytest.mark.skipif(x),\n    pytest.mark.live,\n]", {"live"}),
        (
            "pytestmark = pytest.mark.skipif(x)\n@pytest.mark.live\ndef test_a(): ...",
            {"gate", "live"},
        ),
        ("pytestmark = pytest.mark.live\n@given(x)\ndef test_a(x): ...", {"live", "random"}),
        ("@given(x)\ndef test_a(x): ...", {"gate", "random"}),
    ],
)
def test_the_tiers_of_a_module_are_known_without_importing_it(text, expected, module):
    assert tiers.tiers_of_module(module(text)) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("src/tfprof/views/scope.py", {"random"}),
        ("src/tfprof/capture/recording.py", {"live"}),
        ("tests/browser/conftest.py", {"browser"}),
        ("tests/test_units.py", {"gate", "random"}),
        ("tests/test_gone.py", set()),
        ("README.md", set()),
        ("pyproject.toml", set(tiers.TIERS)),
        ("tests/conftest.py", set(tiers.TIERS)),
        ("new_folder/file", set(tiers.TIERS)),
    ],
)
def test_a_change_touches_the_tiers_of_its_files(path, expected):
    assert tiers.tiers_touched_by(path) == expected


@pytest.mark.parametrize("start", tiers.TOUCHES)
def test_a_row_of_the_table_of_tiers_names_a_path_and_tiers_that_exist(start):
    assert (tiers.ROOT / start).exists()
    assert set(tiers.TOUCHES[start]) <= tiers.TIERS.keys()


def run(
    path: Path, *options: str, **environment: str
) -> tuple[subprocess.CompletedProcess[str], dict[str, str]]:
    """Run the tests of a module in a process of its own; also returns their outcomes."""
    outcomes = path.with_name("outcomes.json")
    folder = f"--basetemp={path.parent / 'base'}"
    words = [
        folder,
        "-p",
        "tiers",
        "-p",
        "outcomes",
        "-p",
        "leftovers",
        "-c",
        "/dev/null",
        "-o",
        "cache_dir=cache",
    ]
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", path, *words, f"--outcomes={outcomes}", *options],
        cwd=path.parent,
        env={key: os.environ[key] for key in os.environ.keys() - {"CI"}}
        | {"PYTHONPATH": str(TESTS)}
        | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    found = json.loads(outcomes.read_text("utf-8")) if outcomes.exists() else {"outcomes": {}}
    return ran, {name.partition("::")[2]: out for name, out in found["outcomes"].items()}


TIERED = """
import pytest
from hypothesis import given, strategies

def test_quick(): pass

@pytest.mark.live
def test_live(): pass

@given(strategies.integers())
def test_property(x): pass
"""


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--tier=gate"], {"test_quick", "test_property"}),
        (["--tier=gate,live"], {"test_quick", "test_property", "test_live"}),
        (["--tier=random"], {"test_property"}),
        ([], {"test_quick", "test_property", "test_live"}),
    ],
)
@pytest.mark.process
def test_a_tier_runs_its_tests(options, expected, module):
    _, outcomes = run(module(TIERED), *options)

    assert outcomes == dict.fromkeys(expected, "passed")


DRAWN = """
from hypothesis import given, strategies

@given(strategies.lists(strategies.integers()))
def test_property(x): print("drawn", x)
"""


@pytest.mark.process
def test_only_the_random_tier_draws_new_examples(module):
    path = module(DRAWN)

    same = [run(path, "-s", "--tier=gate")[0].stdout for _ in range(2)]
    new = [run(path, "-s", "--tier=random")[0].stdout for _ in range(2)]
    in_ci = [run(path, "-s", "--tier=random", CI="true")[0].stdout for _ in range(2)]

    drawn = [[line for line in text.splitlines() if "drawn" in line] for text in same + new + in_ci]
    assert len(drawn[0]) >= 100
    assert drawn[0] == drawn[1]
    assert drawn[2] != drawn[3]
    assert drawn[4] == drawn[5] != drawn[0]


FAILING = """
from hypothesis import given, strategies

@given(strategies.integers(min_value=0))
def test_property(x): assert x < 1000
"""


@pytest.mark.process
def test_a_failure_is_printed_with_the_command_that_repeats_it(module):
    ran, _ = run(module(FAILING), "--tier=random", "--hypothesis-seed=42")

    assert (
        "python -m pytest test_written.py::test_property --randomly-seed=42"
        " --tier=random --hypothesis-seed=42" in ran.stdout
    )


LEAVING = """
import socket, subprocess, sys, tempfile, threading
import leftovers

leftovers._MAX_SECONDS = 0.1
kept = []

def test_process(): kept.append(subprocess.Popen([sys.executable, "-c", "input()"], stdin=-1))
def test_thread():
    thread = threading.Thread(target=threading.Event().wait, name="waiting", daemon=True)
    thread.start()
def test_socket(): kept.append(socket.socket())
def test_file(): tempfile.mkdtemp(prefix="left")
def test_nothing(tmp_path): (tmp_path / "file").touch()
"""


@pytest.mark.process
def test_what_a_test_leaves_behind_is_an_error(module):
    ran, outcomes = run(module(LEAVING))

    assert outcomes == {
        "test_process": "failed",
        "test_thread": "failed",
        "test_socket": "failed",
        "test_file": "failed",
        "test_nothing": "passed",
    }
    for words in ("processes behind: ", "threads behind: waiting", "temporary files behind: left"):
        assert words in ran.stdout
