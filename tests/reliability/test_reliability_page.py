"""The table of faults in the manual names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "explanation" / "reliability.md").read_text("utf-8")
NAMED = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)

# The tables of the page, and how many rows they have at least.
TABLES = {"Faults": 25, "Files that contain anything": 10}


@pytest.mark.parametrize(("path", "name"), NAMED, ids=[name for _, name in NAMED])
def test_the_test_of_a_fault_exists(path, name):
    assert f"\ndef {name}(" in (ROOT / path).read_text("utf-8")


@pytest.mark.parametrize(("title", "least"), TABLES.items())
def test_every_row_has_a_test(title, least):
    section = PAGE.split(f"## {title}")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("|")][2:]

    assert len(rows) >= least
    assert [row for row in rows if "::" not in row] == []


def test_the_manual_links_to_the_page():
    assert "(explanation/reliability.md)" in (ROOT / "docs" / "README.md").read_text("utf-8")
