"""Shows pages in notebooks: in a frame of their own, with a plain table if there are no frames."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from tfprof.columns import Coded, Ints
from tfprof.page import document, views
from tfprof.page.ops import ops
from tfprof.version import __version__
from tfprof.views.view import View

_ENTRY = "inline.js"
_MOST_ROWS = 20_000  # more would make the notebook slow; it then shows the plain table
_HEIGHT = 460  # of a view, in pixels


def of_view(view: View, table: str) -> str:
    """A view with its picture, rows and details; `table` is HTML that needs no script."""
    if len(view) > _MOST_ROWS:
        return table
    page = b"".join(document.encode(_sections(view), "<main></main>", _ENTRY)).decode()
    # Sites that remove frames, such as repository browsers, show the table.
    return (
        "<style>.tfprof-frame:has(iframe)+.tfprof{display:none}</style>"
        f'<div class="tfprof-frame">{frame(page, f"tfprof {view.kind} view", _HEIGHT)}</div>{table}'
    )


def frame(page: str, title: str, height: int) -> str:
    """A page in a frame, which has no access to the notebook."""
    return (
        f'<iframe srcdoc="{escape(page)}" sandbox="allow-scripts" title="{escape(title)}" '
        f'width="100%" height="{height}" frameborder="0"></iframe>'
    )


def _sections(view: View) -> dict[str, Any]:
    """The sections of a page that shows only the rows of one view."""
    section = views.section_of(view)
    shown = np.unique(section["op"][section["op"] >= 0])
    place = np.append(np.full(len(view.profile.ops), -1), -1)
    place[shown] = np.arange(len(shown))
    return {
        "schema": "tfprof/view-page/1",
        "version": __version__,
        "title": f"{view.kind} view",
        "metrics": _selected_first(views.metrics(view.profile), view),
        "ops": _taken(_counted(ops(view.profile, {}), view), shown),
        "views": {view.kind: section | {"op": place[section["op"]]}},
        "notes": list(view.notes),
        "missing": {},
        "options": [],
    }


def _selected_first(metrics: list[dict[str, Any]], view: View) -> list[dict[str, Any]]:
    """The metrics with those that the question sorts by or selects first."""
    options = view.options
    return sorted(
        metrics, key=lambda one: (one["key"] != options.order_by, one["key"] not in options.select)
    )


def _counted(section: dict[str, Any], view: View) -> dict[str, Any]:
    """The section of ops with their numbers in the steps that the view covers."""
    return section | {"numbers": {key: view.op_numbers(key) for key in section["numbers"]}}


def _taken(section: dict[str, Any], rows: Ints) -> dict[str, Any]:
    """The section of ops with only these ops, without their edges."""
    coded = {
        key: views.coded(Coded(value["codes"][rows], value["values"]))
        for key, value in section.items()
        if isinstance(value, dict) and "codes" in value
    }
    nothing = np.zeros(0, np.int64)
    return (
        section
        | coded
        | {
            "count": len(rows),
            "name": section["name"].take(rows),
            "line": np.full(len(rows), -1),
            "layer": np.full(len(rows), -1),
            "inputs": {"counts": np.zeros(len(rows), np.int64), "back": nothing, "slot": nothing},
            "numbers": {key: column[rows] for key, column in section["numbers"].items()},
        }
    )
