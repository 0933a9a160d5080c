"""The first screen of a report: its numbers, and the way from there to the views."""

import pytest

import tfprof
from report_pages import MODELS, ROOT, address, answer
from tfprof.api import Profile

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    return request.param


def shown(page, selector):
    """The exact numbers of the elements that match."""
    found = page.locator(selector)
    found.first.wait_for()
    return found.evaluate_all("all => all.map((one) => [one.dataset.row, one.dataset.value])")


def test_every_number_of_a_list_is_that_of_the_view(open_report, report_of, model, monkeypatch):
    monkeypatch.chdir(ROOT)
    page = open_report(report_of(model))
    words = " ".join(MODELS[model])
    unit = "micros" if len(tfprof.load(*MODELS[model]).steps) else ""
    key = unit or page.locator("select").first.input_value()
    views = page.locator(".list h3").all_inner_texts()
    kinds = [{"By layer": "layers", "By kind of op": "op"}.get(title, "code") for title in views]

    for place, kind in enumerate(kinds):
        command = f"tfprof {kind} {words} -select {key} -max_depth 10000"
        column = f"total_{key}" if kind == "layers" else key
        scale = 1000 if key == "micros" else 1
        # Several lines may have the same name, called from different places.
        expected = {
            (row["name"], round((row[column] or 0) * scale)) for row in answer(command)["rows"]
        }
        rows = shown(page, f".list:nth-child({place + 1}) .amount")
        assert rows
        assert {(name, int(value)) for name, value in rows} <= expected


def test_the_cards_show_the_numbers_in_the_data(open_report, report_of, model):
    page = open_report(report_of(model))

    numbers = shown(page, ".card .amount")

    assert numbers
    assert all(int(value) > 0 for _, value in numbers)


def test_a_row_of_a_list_leads_to_the_view_that_has_it(open_report, report_of):
    page = open_report(report_of("transformer"))

    page.locator(".list-row").first.click()

    assert page.locator('[role=tab][aria-selected="true"]').inner_text() == "Layers"
    assert "row" in address(page)


def test_a_choice_of_metric_changes_the_lists(open_report, report_of):
    page = open_report(report_of("resnet32"))
    page.locator("select").first.select_option("params")
    page.get_by_text("Where the parameters go").wait_for()

    assert page.locator(".list-row").first.is_visible()


@pytest.mark.parametrize(
    ("metric", "heading"),
    [("micros", "Where the total execution time goes"), ("params", "Where the parameters go")],
)
def test_the_heading_of_the_lists_names_the_metric(open_report, report_of, metric, heading):
    page = open_report(report_of("transformer"), state=f"metric={metric}")

    assert page.locator(f"h2:has-text('{heading}')").inner_text() == heading


def test_names_in_findings_are_set_in_their_own_type(open_report, report_of):
    page = open_report(report_of("transformer"))
    loaded = tfprof.load(*(ROOT / name for name in MODELS["transformer"]))
    first = next(iter(loaded.advise())).sentence

    shown = page.locator(".findings li").first

    assert "`" in first
    assert shown.inner_text() == first.replace("`", "")
    assert shown.locator("code").all_inner_texts() == first.split("`")[1::2]


def test_a_page_of_unknown_files_offers_no_commands(open_report, tmp_path):
    files = [ROOT / name for name in MODELS["transformer"]]
    Profile(tfprof.load(*files).columns).report().save(tmp_path / "report.html")
    page = open_report(tmp_path / "report.html")
    page.wait_for_selector(".card")

    assert page.locator(".card[title]").count() == 0
    page.click("#tab-scope")
    page.wait_for_selector(".table-body .amount")
    assert not page.locator(".command-bar").is_visible()
    page.click("#tab-advice")
    assert page.locator(".advice-card").count() > 0
    assert page.locator(".command-text").count() == 0
