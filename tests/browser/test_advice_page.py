"""The view of advice shows the findings of `tfprof advise`, with their evidence and commands."""

import shlex

import pytest

import tfprof
from report_pages import (
    MODELS,
    ROOT,
    THEMES,
    WIDTHS,
    address,
    answer,
    note_texts,
    overflow,
    wait_for_noted_text,
)
from tfprof.units import Unit

pytestmark = pytest.mark.browser

VIEW = "view=advice"
SHOWN = ["resnet32", "transformer"]


def findings(model):
    """The findings of the API, by their sentences."""
    loaded = tfprof.load(*(ROOT / name for name in MODELS[model]))
    return {one.sentence.replace("`", ""): one for one in loaded.advise()}


def cards(page):
    page.wait_for_selector(".advice-card")
    return page.evaluate(
        """() => [...document.querySelectorAll(".advice-card")].map((card) => ({
          sentence: card.querySelector("h2").textContent,
          headings: [...card.querySelectorAll("th")].map((one) => one.textContent),
          rows: [...card.querySelectorAll("tbody tr")].map((row) => [...row.cells].map((cell) => {
            const amount = cell.querySelector(".amount");
            return amount ? Number(amount.dataset.value) : cell.textContent;
          })),
          command: card.querySelector(".command-text")?.textContent,
        }))"""
    )


@pytest.mark.parametrize("model", SHOWN)
def test_each_finding_of_the_api_has_a_card_with_its_evidence(open_report, report_of, model):
    expected = findings(model)
    found = cards(open_report(report_of(model), state=VIEW))

    assert sorted(card["sentence"] for card in found) == sorted(expected)
    for card in found:
        evidence = expected[card["sentence"]].evidence
        units = {column.heading: column.unit for column in evidence.columns}
        places = [list(units).index(heading) for heading in card["headings"]]
        assert card["rows"] == [
            [
                row[place] * (1000 if units[heading] is Unit.MICROS else 1)
                for place, heading in zip(places, card["headings"], strict=True)
            ]
            for row in evidence.rows
        ]


@pytest.mark.parametrize("model", SHOWN)
def test_the_command_of_each_finding_answers(open_report, report_of, model):
    expected = findings(model)
    for card in cards(open_report(report_of(model), state=VIEW)):
        view, *options = expected[card["sentence"]].command

        assert shlex.split(card["command"]) == ["tfprof", view, *MODELS[model], *options]
        assert answer(card["command"])["rows"]


@pytest.mark.parametrize(("place", "view"), [(0, "op"), (1, "scope"), (2, "code")])
def test_names_in_the_evidence_lead_to_their_rows(open_report, report_of, place, view):
    page = open_report(report_of("transformer"), state=VIEW)
    link = page.locator(".advice-card").nth(place).locator(".link").first
    link.focus()
    page.keyboard.press("Enter")

    found = address(page)
    assert found["view"] == view
    assert "row" in found


def test_a_command_can_be_copied(open_report, report_of):
    page = open_report(
        report_of("resnet32"), state=VIEW, permissions=["clipboard-read", "clipboard-write"]
    )
    note_texts(page, ".command button")
    page.locator(".command button").first.click()
    wait_for_noted_text(page, "Copied")

    assert page.evaluate("navigator.clipboard.readText()") == cards(page)[0]["command"]


def test_where_copying_is_forbidden_the_command_is_selected(open_report, report_of):
    page = open_report(report_of("resnet32"), state=VIEW)
    page.wait_for_selector(".command")
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(Error('no')); }")
    note_texts(page, ".command button")
    page.locator(".command button").first.click()
    wait_for_noted_text(page, "Selected")

    assert page.evaluate("getSelection().toString()") == cards(page)[0]["command"]


def test_checkers_without_findings_are_listed_with_what_they_look_for(open_report, report_of):
    page = open_report(report_of("resnet32"), state=VIEW)
    page.wait_for_selector(".advice-quiet")
    names = page.locator(".advice-quiet dt").all_inner_texts()

    assert "TinyOperationChecker" in names
    assert "ExpensiveOperationChecker" not in names


def test_a_model_that_never_ran_says_what_the_checkers_need(open_report, report_of):
    page = open_report(report_of("keras_cnn"), state=VIEW)
    text = page.inner_text(".advice")

    assert "not all checkers could run" in text
    assert "no step with times was recorded" in text
    assert "tfprof run PROGRAM" in text


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("theme", THEMES)
def test_cards_fit_at_each_width_and_in_both_themes(open_report, report_of, width, theme):
    page = open_report(report_of("transformer"), state=VIEW, width=width, theme=theme)

    assert len(cards(page)) == len(findings("transformer"))
    assert overflow(page) <= 0
