"""The example of a live program, and the page that shows its output."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from classic.live_models import needs_tensorflow
from live_programs import finished

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "tensorflow.md").read_text("utf-8")

pytestmark = [pytest.mark.live, needs_tensorflow]


@pytest.fixture(scope="module")
def printed():
    done = finished(ROOT / "examples" / "live_tensorflow.py", CUDA_VISIBLE_DEVICES="")
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_example_prints_reports_and_numbers(printed):
    assert printed.count("Model Analysis Report") == 2
    assert "\nparameters: 63520\n" in printed
    assert re.search("\nslowest kind of op: \\w+\n$", printed)


def test_the_page_on_live_programs_shows_the_output_of_the_example(printed):
    shown = re.findall(r"```text\n((?:.*\n)*?)```", PAGE)

    assert len(shown) == 2
    for text in shown:
        assert text in printed
