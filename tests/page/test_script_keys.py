"""The keys of the page: no two mean the same key, and the manual lists them."""

from __future__ import annotations

import re

import pytest

from page_script import ask, needs_node
from report_pages import ROOT

pytestmark = needs_node

MANUAL = (ROOT / "docs/how-to/report.md").read_text("utf-8")
STATIC = ROOT / "src/tfprof/page/static"


def parts():
    return ask("keys")


def keys_of(part):
    return [key for row in part["keys"] for key in row["keys"]]


def test_a_key_has_one_meaning_in_each_part():
    for part in parts():
        keys = keys_of(part)
        assert len(keys) == len(set(keys)), part["title"]


def test_keys_of_views_do_not_clash_with_those_of_the_page():
    everywhere, *views = parts()

    for part in views:
        # Escape clears the search first, then what the view has.
        assert {*keys_of(everywhere)} & {*keys_of(part)} <= {"Escape"}, part["title"]


@pytest.mark.parametrize(
    ("module", "pattern"),
    [
        ("timeline.js", r"^      (?:\"(\S+)\"|(\w+)): \(\) =>"),
        ("timeline_keys.js", r"key === \"(\w)\"()"),
        ("graph.js", r"event\.key === \"(.+?)\"()"),
    ],
)
def test_every_key_of_a_view_is_listed(module, pattern):
    listed = {key for part in parts() for key in keys_of(part)}
    text = (STATIC / module).read_text("utf-8")
    actions = text[text.find("  arrows: {") :] if module == "timeline.js" else text

    acting = {one or other for one, other in re.findall(pattern, actions, re.MULTILINE)}

    assert acting
    assert acting - listed - {"click", "open", "fitAll", "stepNow"} == set()


def test_the_manual_lists_the_keys_of_the_page():
    everywhere, *_ = parts()
    section = MANUAL.partition("## Keys\n")[2].partition("\n## ")[0]

    rows = re.findall(r"^\| `(.+)` \| (.+) \|$", section, re.MULTILINE)
    assert rows == [(row["label"], row["meaning"]) for row in everywhere["keys"]]
