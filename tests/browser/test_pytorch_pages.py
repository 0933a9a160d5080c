"""The reports of PyTorch files: a trace of a GPU, weights, and a memory snapshot."""

import pytest

from report_pages import overflow, settled, show, tabs, write_report

pytestmark = pytest.mark.browser

H200 = "tests/samples/h200"


@pytest.fixture
def report(tmp_path, open_report):
    """Opens the report of some files of the repository."""

    def opened(*words, **settings):
        page = open_report(write_report([*words], tmp_path / "report.html"), **settings)
        settled(page)
        return page

    return opened


def test_modules_have_names_that_are_more_than_a_number(report):
    page = report("tests/samples/pytorch/module.pt")

    names = page.locator(".list").first.locator(".list-row").all_inner_texts()

    assert [name.split()[0] for name in names] == ["embed", "blocks/0", "blocks/1", "norm"]


def test_streams_are_not_counted_as_devices(report):
    page = report(f"{H200}/gpt.json.gz")

    assert "2 steps · 2 devices" in page.locator("header").inner_text()


def test_every_view_of_a_memory_snapshot_shows_its_memory(report):
    page = report(f"{H200}/gpt_memory.pickle.gz")

    for view in ("layers", "scope", "code", "op"):
        show(page, view)
        assert page.locator(".table-body .table-row").count() > 1


@pytest.mark.parametrize("name", ["gpt.json.gz", "gpt_memory.pickle.gz"])
def test_no_view_is_wider_than_a_telephone(report, name):
    page = report(f"{H200}/{name}", width=420)

    for view in tabs(page):
        show(page, view.split()[0].lower())
        assert overflow(page) <= 0, view
