"""The example of a live program, and the page that shows its output."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from classic.live_models import needs_tensorflow

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "tensorflow.md").read_text("utf-8")

pytestmark = needs_tensorflow


@pytest.fixture(scope="module")
def printed():
    return subprocess.run(
        [sys.executable, ROOT / "examples" / "live_tensorflow.py"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": ""},
    ).stdout


def test_the_example_prints_reports_and_numbers(printed):
    assert printed.count("Model Analysis Report") == 2
    assert "\nparameters: 63520\n" in printed
    assert re.search("\nslowest kind of op: \\w+\n$", printed)


def test_the_page_on_live_programs_shows_the_output_of_the_example(printed):
    shown = re.findall(r"```text\n((?:.*\n)*?)```", PAGE)

    assert len(shown) == 2
    for text in shown:
        assert text in printed
