"""The tables of docs/explanation/architecture.md."""

from __future__ import annotations

from pathlib import Path

PAGE = (Path(__file__).parent.parent / "docs/explanation/architecture.md").read_text("utf-8")


def rows(heading: str) -> list[list[str]]:
    """The cells of each row of the table under a heading of the page."""
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    table = [line for line in section.splitlines() if line.startswith("|")]
    return [line.strip("|").split("|") for line in table[2:]]
