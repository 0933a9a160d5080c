"""The part of a diff page that needs no script: the summary, the totals and the largest changes.

It is shown until the script has started, so it looks like the first screen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

import numpy as np

from tfprof.page.units import formatted

_MOST_ROWS = 20
# The views whose largest changes are listed, the first that there is.
_VIEWS = ("layers", "scope", "op")


def part(sections: Mapping[str, Any]) -> str:
    """The title, the summary, the totals and the largest changes as HTML."""
    sentences = "".join(f"<p><bdi>{escape(text)}</bdi></p>" for text in sections["sentences"])
    totals = "".join(map(_total, sections["totals"]))
    return (
        '<header class="header"><div class="header-title"><span class="header-mark">tfprof</span>'
        f"<h1><bdi>{escape(sections['title'])}</bdi></h1></div></header>"
        f'<main class="diff"><section class="diff-summary">{sentences}</section>'
        f'<section class="cards">{totals}</section>'
        f"<noscript>{_largest(sections)}<p>The pictures of this page need JavaScript.</p>"
        "</noscript></main>"
    )


def _total(total: Mapping[str, Any]) -> str:
    before, after = (formatted(round(total[key]), total["unit"]) for key in ("before", "after"))
    return (
        f'<div class="card"><div class="card-label">{escape(total["label"])}</div>'
        f'<span class="card-number amount">{escape(after)}</span>'
        f'<div class="card-detail">before: {escape(before)}</div></div>'
    )


def _largest(sections: Mapping[str, Any]) -> str:
    """The rows with the largest changes of the first number."""
    kind = next((kind for kind in _VIEWS if kind in sections["views"]), None)
    if kind is None or not sections["metrics"]:
        return ""
    metric, view = sections["metrics"][0], sections["views"][kind]
    cells = "".join(_rows(view, metric))
    heading = f"<th>{kind}</th><th>before</th><th>after</th><th>change</th>"
    return (
        f"<h2>{escape(metric['label'])}</h2>"
        f"<table><thead><tr>{heading}</tr></thead><tbody>{cells}</tbody></table>"
    )


def _rows(view: Mapping[str, Any], metric: Mapping[str, Any]) -> Iterator[str]:
    number = view["numbers"][metric["column"]]
    change = number["after"] - number["before"]
    listed = np.flatnonzero(number["listed"])
    first = listed[np.argsort(-np.abs(change[listed]), kind="stable")][:_MOST_ROWS]
    for name, row in zip(view["name"].take(first), first.tolist(), strict=True):
        values = (number["before"][row], number["after"][row], change[row])
        texts = [formatted(int(value), metric["unit"]) for value in values]
        amounts = "".join(f"<td>{escape(text)}</td>" for text in texts)
        yield f"<tr><td><bdi>{escape(name)}</bdi></td>{amounts}</tr>"
