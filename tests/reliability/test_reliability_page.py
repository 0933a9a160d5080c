"""The table of faults in the manual names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "explanation" / "reliability.md").read_text("utf-8")
NAMED = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)
FAULTS = [line for line in PAGE.splitlines() if line.startswith("| ") and "::" in line]


@pytest.mark.parametrize(("path", "name"), NAMED, ids=[name for _, name in NAMED])
def test_the_test_of_a_fault_exists(path, name):
    assert f"\ndef {name}(" in (ROOT / path).read_text("utf-8")


def test_every_fault_has_a_test():
    rows = PAGE.split("## Faults")[1].split("\n## ")[0]

    assert len([line for line in rows.splitlines() if line.startswith("|")]) - 2 == len(FAULTS)
    assert len(FAULTS) >= 25


def test_the_manual_links_to_the_page():
    assert "(explanation/reliability.md)" in (ROOT / "docs" / "README.md").read_text("utf-8")
