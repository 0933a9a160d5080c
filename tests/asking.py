"""Short helpers to ask for views in tests: `outline(ask("scope", profile, max_depth=2))`."""

from __future__ import annotations

from typing import Any

from tfprof.api import build_view
from tfprof.model.profile import ProfileColumns
from tfprof.options import Options
from tfprof.views.facts import FACTS, Texts
from tfprof.views.view import View

ROOT = "_TFProfRoot"

# How notes and errors name missing files.
GRAPHS = "GraphDef (--graph_path) or a SavedModel"
RUNS = "RunMetadata (--run_meta_path) or XSpace"
LINES = "OpLogProto (--op_log_path) or a SavedModel"
VALUES = "a checkpoint (--checkpoint_path) or a SavedModel"
ZERO = "which was not given; all values are zero or missing."


def ask(kind: str, profile: ProfileColumns, **options: Any) -> View:
    """A view of that kind; options are the keywords of the public API, with classic defaults."""
    classic = {} if "dialect" in options else {"select": "micros", "order_by": "name"}
    return build_view(kind, profile, Options.of(**classic | options))


def outline(view: View) -> list[str]:
    """The names of the rows below the root, indented by depth."""
    depths = view.tree.depths.tolist()
    return ["  " * (depths[row] - 2) + view.name[row] for row in range(1, len(view))]


def own(view: View, key: str) -> dict[str, int | None]:
    """The own number of each row, including the root; None for rows that do not count."""
    return {
        name: int(view.own[key][row]) if view.is_accounted[row] else None
        for row, name in enumerate(view.name)
    }


def total(view: View, key: str) -> dict[str, int]:
    """The total of each row, including the root."""
    return dict(zip(view.name, view.total[key].tolist(), strict=True))


def texts(name: str, view: View, row: int) -> list[str]:
    """The texts of a fact in a row; empty where a table leaves a blank."""
    column = FACTS[name](view, slice(row, row + 1))
    assert isinstance(column, Texts)
    default = [] if column.default is None else [column.default]
    return [column.names[code] if code >= 0 else "" for code in column.codes[0].tolist()] or default
