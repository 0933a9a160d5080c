"""The workflow in `examples/ci`, run as GitHub runs it, except for what needs the network."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from importlib.util import find_spec
from pathlib import Path

import pytest

import tfprof

yaml = pytest.importorskip("yaml", reason="PyYAML reads the workflow")

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "examples" / "ci"
STEPS = yaml.safe_load((EXAMPLE / "tfprof.yml").read_text("utf-8"))["jobs"]["budgets"]["steps"]
RUN = [step for step in STEPS if "run" in step and "pip install" not in step["run"]]


def runs_the_model(test):
    """Mark a test that builds or trains the Keras model of the example."""
    skip = pytest.mark.skipif(
        find_spec("tensorflow") is None, reason="the example is a Keras model"
    )
    return pytest.mark.live(skip(test))


@pytest.fixture
def repository(tmp_path):
    """A clone of a repository with the example at its top, and the commands that it needs."""
    clone, programs = tmp_path / "clone", tmp_path / "bin"
    shutil.copytree(EXAMPLE, clone)
    programs.mkdir()
    for name, words in {"python": "", "tfprof": " -m tfprof"}.items():
        program = programs / name
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}"{words} "$@"\n', "utf-8")
        program.chmod(0o755)
    return Repository(clone, programs)


class Repository:
    def __init__(self, clone, programs):
        self.clone = clone
        self.summary = programs.parent / "summary.md"
        self.environment = os.environ | {
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "TF_CPP_MIN_LOG_LEVEL": "3",
        }
        self.commit = ""

    def change(self, file, old, new):
        path = self.clone / file
        text = path.read_text("utf-8")
        assert old in text
        path.write_text(text.replace(old, new), "utf-8")

    def commit_all(self):
        author = ["-c", "user.name=Test", "-c", "user.email=test@example.com"]
        for words in (["init", "-q"], ["add", "."], [*author, "commit", "-qm", "First"]):
            subprocess.run(["git", *words], cwd=self.clone, check=True, env=self.environment)
        words = ["git", "rev-parse", "HEAD"]
        found = subprocess.run(words, cwd=self.clone, check=True, capture_output=True, text=True)
        self.commit = found.stdout.strip()

    def run(self, step):
        """Run a step as GitHub does, and return its exit status."""
        expressions = {"${{ github.event.pull_request.base.sha }}": self.commit}
        given = {name: expressions[value] for name, value in step.get("env", {}).items()}
        ran = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=self.clone,
            env=self.environment | given,
            capture_output=True,
            text=True,
            check=False,
        )
        print(ran.stdout, ran.stderr)  # pytest shows it if the test fails
        return ran.returncode

    def give_both_the_same_times(self):
        """Replace the recordings of the pull request by those of its base."""
        for base in (self.clone / "runs").glob("base-*"):
            head = base.with_name(base.name.replace("base", "head"))
            assert tfprof.load(head).steps == tfprof.load(base).steps
            shutil.rmtree(head)
            shutil.copytree(base, head)

    def failures(self, name):
        root = ET.parse(self.clone / "build" / name).getroot()  # noqa: S314 -- our own
        return root.get("failures")


def test_the_workflow_checks_static_budgets_before_it_records():
    words = [step["run"] for step in RUN]

    assert [("check" in text, "tfprof run" in text) for text in words] == [
        (True, False),
        (False, True),
        (True, False),
    ]


@runs_the_model
def test_a_pull_request_that_changes_nothing_passes(repository):
    repository.commit_all()
    # One recording less of each.
    static, record, times = ({**one, "run": one["run"].replace("1 2 3", "1 2")} for one in RUN)

    assert repository.run(static) == 0
    assert repository.run(record) == 0
    repository.give_both_the_same_times()  # those of a busy machine would differ
    assert repository.run(times) == 0

    assert (repository.failures("static.xml"), repository.failures("times.xml")) == ("0", "0")
    summary = repository.summary.read_text("utf-8")
    assert summary.count("### tfprof check: All ") == 2
    assert "step\\_time" in summary


@runs_the_model
def test_a_pull_request_that_makes_the_model_larger_fails(repository):
    repository.change("model.py", "Dense(64,", "Dense(65,")

    assert repository.run(RUN[0]) == 3
    assert repository.failures("static.xml") == "2"
    assert "❌ not met | params | layer hidden" in repository.summary.read_text("utf-8")


@runs_the_model
def test_the_test_of_the_example_passes(repository):
    words = "python -m pytest -q -p no:randomly -p no:cacheprovider test_model.py"

    assert repository.run({"run": words}) == 0
