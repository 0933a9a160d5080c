"""The part of a report that needs no script: the numbers of the model and the notes."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any


def part(sections: Mapping[str, Any]) -> str:
    """The title, the numbers and the notes as HTML."""
    cards = "".join(
        f"<tr><th>{escape(card['label'])}</th><td>{escape(card['text'])}</td></tr>"
        for card in sections["cards"]
    )
    notes = "".join(f"<p>{escape(note)}</p>" for note in sections["notes"])
    return f"<main><h1>{escape(sections['title'])}</h1><table>{cards}</table>{notes}</main>"
