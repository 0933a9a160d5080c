import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from chromium import BROWSERS
from generate import generate
from page_section import replaced, section
from recorded_steps import recorded
from report_figures import Row

import tfprof

pytestmark = pytest.mark.dist

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
PAGE = "# Title\n\n## One\n\nfirst\n\n## Two\n\nsecond\n\n### Part\n\nthird\n\n## Three\n\nlast\n"


def test_a_figure_is_shown_with_its_ratio_to_that_of_the_peer():
    taken = {"report size": 1.7914, "both size": 37.5, "ui page": 1234.5}

    assert Row("size, MB", "report size", "both size").cells(taken)[:4] == [
        "size, MB",
        "1.79",
        "37.5",
        "0.0478",
    ]
    assert Row("question, ms", "ui page").cells(taken) == ["question, ms", "1,234", "-", "-", ""]


def test_a_section_ends_at_the_next_heading_of_its_level():
    assert section(PAGE, "Two") == "second\n\n### Part\n\nthird\n\n"
    assert section(PAGE, "Three") == "last\n"
    assert section(PAGE, "Four") == ""


def test_only_the_text_of_a_section_is_replaced():
    assert replaced(PAGE, "One", "other\\1\n") == PAGE.replace("first", "other\\1")
    with pytest.raises(ValueError, match="0 sections `Four`"):
        replaced(PAGE, "Four", "text")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return recorded(generate(tmp_path_factory.mktemp("model"), 300))


def test_the_model_has_two_steps_with_runs_and_allocations(model):
    columns = tfprof.load(*model.paths).columns

    assert columns.steps.number.tolist() == [0, 1]
    assert len(columns.records) == model.runs > 300
    assert int(columns.allocations.bytes.sum()) == 0


def test_pages_are_measured_in_a_browser(tmp_path):
    pytest.importorskip("playwright")
    if not any(map(shutil.which, BROWSERS)):
        missing = pytest.fail if os.environ.get("TFPROF_REQUIRE_BROWSER") else pytest.skip
        missing("Chromium is not installed")
    manual = tmp_path / "page.md"
    manual.write_text("## The report page\n\nold\n\n## After\n")
    words = ["--ops", "300", "--repeat", "1", "--write", manual]

    subprocess.run([sys.executable, BENCHMARKS / "report_page.py", *words], check=True)

    written = manual.read_text()
    assert "old" not in written
    assert "### 300 ops" in written
    assert "| show Timeline, ms |" in written
    assert written.endswith("\n## After\n")
