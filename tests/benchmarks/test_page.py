import re
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from measure import Row
from phases import Measure
from results import Results
from tasks import TASKS

from page import page

pytestmark = pytest.mark.dist


@pytest.fixture
def results():
    rows = [
        Row(ops, task.name, Measure(ops / 1e6, 50.0), Measure(ops / 1e5, 900.0), True)
        for ops in (10_000, 100_000)
        for task in TASKS
    ]
    machine = {"processor": "abacus, 2 cores"}
    return Results("2030-01-02", "bench.py --sizes 1e5", 3, machine, rows, [], ["A note."], 276.4)


def test_the_page_has_the_date_the_machine_targets_a_plot_and_every_size(results):
    written = page(results)

    assert "Measured on 2030-01-02 with `bench.py --sizes 1e5`" in written
    assert "medians of 3 fresh processes" in written
    assert "| processor | abacus, 2 cores |" in written
    assert "](benchmarks.svg)" in written
    assert "from 10,000 to 100,000 ops" in written
    assert "does not include the 276 MB that importing TensorFlow took" in written
    assert "A note." in written
    assert re.findall(r"^## ([\d,]+ ops)$", written, re.MULTILINE) == ["100,000 ops", "10,000 ops"]
    assert "**not met**: speed by 2.00 times" in written
    assert "{" not in written


def test_without_sizes_ten_times_apart_the_page_states_no_growth(results):
    written = page(replace(results, rows=results.at(100_000)))

    assert "Growth was not measured" in written


def test_the_section_on_the_report_page_is_kept(results):
    assert "## The report page\n\nkept\n\n## What is measured" in page(results, "kept\n\n")


def test_the_section_on_comparisons_is_kept(results):
    found = page(results, "", "kept\n\n")

    assert "## Comparing two profiles\n\nkept\n\n## The report page" in found


def test_the_section_on_traces_is_kept(results):
    found = page(results, traces="kept\n\n")

    assert "## Traces of PyTorch\n\nkept\n\n## Comparing two profiles" in found


def test_figures_are_read_back_as_written(results, tmp_path):
    results.write(tmp_path / "figures.json")

    assert Results.read(tmp_path / "figures.json") == results


def test_the_plot_is_small_and_reproducible(results, tmp_path):
    pytest.importorskip("matplotlib")
    from plot import draw  # noqa: PLC0415 -- needs matplotlib

    paths = [tmp_path / "one.svg", tmp_path / "two.svg"]
    for path in paths:
        draw(results.rows, path)

    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert paths[0].stat().st_size < 100_000
    ET.parse(paths[0])  # noqa: S314 -- our own file


def test_the_plot_does_not_need_figures_of_the_original(results, tmp_path):
    pytest.importorskip("matplotlib")
    from plot import draw  # noqa: PLC0415 -- needs matplotlib

    draw([replace(row, original=None) for row in results.rows], tmp_path / "alone.svg")

    assert (tmp_path / "alone.svg").exists()
