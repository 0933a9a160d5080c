"""The part of a report that needs no script: the numbers of the model, its largest layers, advice.

It is shown until the script has started, so it looks like the first screen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

import numpy as np

from tfprof.columns import Ints
from tfprof.metrics import BY_KEY
from tfprof.page.units import formatted
from tfprof.page.views import column_name
from tfprof.units import format_percent
from tfprof.views.view import View

_MOST_ROWS = 20


def part(sections: Mapping[str, Any], layers: View) -> str:
    """The title, the numbers, the largest layers, the findings and the notes as HTML."""
    findings = [finding["sentence"] for finding in sections["advice"]["findings"]]
    return (
        f'{_header(sections)}<main class="overview">'
        f'<section class="cards">{"".join(map(_card, sections["cards"]))}</section>'
        f"{_bar(sections['bar'])}"
        f"<noscript>{_largest(sections, layers)}{_list('Findings', findings)}"
        f"{_list('What these numbers do not cover', sections['notes'])}"
        "<p>The views of this page need JavaScript.</p></noscript></main>"
    )


def _header(sections: Mapping[str, Any]) -> str:
    facts = " · ".join(sections["facts"])
    return (
        '<header class="header"><div class="header-title"><span class="header-mark">tfprof</span>'
        f"<h1><bdi>{escape(sections['title'])}</bdi></h1>"
        f'<p class="header-facts">{escape(facts)}</p></div></header>'
    )


def _card(card: Mapping[str, Any]) -> str:
    return (
        f'<div class="card"><div class="card-label">{escape(card["label"])}</div>'
        f'<span class="card-number amount">{escape(card["text"])}</span>'
        f'<div class="card-detail">{escape(card["detail"])}</div></div>'
    )


def _bar(bar: Mapping[str, Any] | None) -> str:
    if bar is None:
        return ""
    parts = "".join(
        f"<li>{escape(one['label'])} {formatted(one['value'], bar['unit'])} "
        f'<span class="quiet">{format_percent(one["value"], bar["whole"])}</span></li>'
        for one in bar["parts"]
    )
    return f'<section><h2>{escape(bar["title"])}</h2><ul class="legend">{parts}</ul></section>'


def _largest(sections: Mapping[str, Any], layers: View) -> str:
    """The layers with the largest totals of the first metric."""
    if not sections["metrics"]:
        return ""
    metric = sections["metrics"][0]
    totals: Ints = layers.total[column_name(BY_KEY[metric["key"]])]
    rows = 1 + np.argsort(-totals[1:], kind="stable")[:_MOST_ROWS]
    cells = "".join(
        f"<tr><td><bdi>{escape(name)}</bdi></td><td>{formatted(value, metric['unit'])}</td>"
        f"<td>{format_percent(value, int(totals[0]))}</td></tr>"
        for name, value in zip(layers.name.take(rows), totals[rows].tolist(), strict=True)
        if value > 0
    )
    heading = f"<th>layer</th><th>{escape(metric['label'])}</th><th>share</th>"
    return f"<table><thead><tr>{heading}</tr></thead><tbody>{cells}</tbody></table>"


def _list(title: str, texts: Iterable[str]) -> str:
    items = "".join(f"<li><bdi>{escape(text)}</bdi></li>" for text in texts)
    return f"<h2>{escape(title)}</h2><ul>{items}</ul>" if items else ""
