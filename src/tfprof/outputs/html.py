"""Show a view as a small HTML table, for notebooks."""

from __future__ import annotations

from html import escape
from itertools import islice

from tfprof.outputs import text
from tfprof.views.registry import Trait
from tfprof.views.view import View

_MAX_ROWS = 200


def table(view: View) -> str:
    """The first rows of the table, and how many are left out."""
    shown = "".join(islice(text.lines(view), 1 + _MAX_ROWS))  # the legend comes first
    rows = len(view) if Trait.NESTED in view.traits else len(view) - 1  # without the root
    left = max(rows - _MAX_ROWS, 0)
    more = f"<p>{left:,} more rows: print(view) shows them all.</p>" if left else ""
    notes = "".join(f"<p>{escape(note)}</p>" for note in view.notes)
    return f"<pre>{escape(shown)}</pre>{more}{notes}"
