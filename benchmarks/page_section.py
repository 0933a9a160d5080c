"""The sections of the benchmark page that are measured on their own."""

from __future__ import annotations

import re

REPORT = "The report page"  # written by `report_page.py`
DIFF = "Comparing two profiles"  # written by `diff_speed.py`
TRACES = "Traces of PyTorch"  # written by `trace_speed.py`


def section(page: str, heading: str) -> str:
    """The text below a heading up to the next heading of its level, or nothing."""
    found = _pattern(heading).search(page)
    return found["text"] if found else ""


def replaced(page: str, heading: str, text: str) -> str:
    """The page with another text below a heading that it has."""
    found, count = _pattern(heading).subn(lambda match: f"{match['heading']}{text}\n", page)
    if count != 1:
        raise ValueError(f"the page has {count} sections `{heading}`")
    return found


def _pattern(heading: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?P<heading>^## {re.escape(heading)}\n\n)(?P<text>.*?)(?=^## |\Z)",
        re.MULTILINE | re.DOTALL,
    )
