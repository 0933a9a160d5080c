"""HTML tables for notebooks: bars, rows that fold, and headings that stay in sight.

Everything is static: no script, no outside files. Colours are those of the notebook, light or dark.
All text is escaped, because names come from files.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple, TypeAlias

# Deeper rows are folded at first, so that a table shows about this many.
_FEW_ROWS = 30

# The variables are those of JupyterLab, VS Code and Colab; the last are the browser's own.
_STYLE = """
.tfprof{color-scheme:light dark;font-size:13px;line-height:1.35;--page:var(--jp-layout-color0,\
var(--vscode-editor-background,var(--colab-primary-surface-color,Canvas)));--line:rgba(128,128,\
128,.25);background:var(--page);color:var(--jp-content-font-color1,var(--vscode-editor-foreground,\
var(--colab-primary-text-color,CanvasText)))}
.tfprof p{margin:.4em 0}
.tfprof h4{margin:.9em 0 .2em;font-size:14px}
.tfprof .quiet{opacity:.7}
.tfprof .scroll{overflow:auto;max-height:40em;margin:.3em 0}
.tfprof table{table-layout:auto;width:auto;border-collapse:separate;border-spacing:0;margin:0;\
font-size:13px}
.tfprof th,.tfprof td{padding:2px 10px;text-align:left;white-space:nowrap;border:0;\
border-bottom:1px solid var(--line);vertical-align:top}
.tfprof thead th{position:sticky;top:0;z-index:1;background:var(--page);font-weight:600;\
border-bottom:1px solid currentColor}
.tfprof tbody tr{background:none}
.tfprof tbody tr:hover{background:rgba(128,128,128,.12)}
.tfprof th.n,.tfprof td.n{text-align:right;font-variant-numeric:tabular-nums}
.tfprof td.bar{background:linear-gradient(90deg,rgba(66,133,244,.32) var(--p),\
transparent var(--p));min-width:8.5em}
.tfprof td small{display:inline-block;min-width:4.2em;opacity:.7;font-size:11px}
.tfprof td.name,.tfprof td.text{max-width:34em;overflow:hidden;text-overflow:ellipsis}
.tfprof input{appearance:none;-webkit-appearance:none;margin:0;border:0;background:none;\
width:1.1em;height:1em;cursor:pointer;font:inherit;color:inherit;vertical-align:baseline}
.tfprof input::before{content:"\\25B8"}
.tfprof input:checked::before{content:"\\25BE"}
.tfprof .leaf{display:inline-block;width:1.1em}
.tfprof svg{display:block;width:100%;max-width:46em;height:7em;margin:.3em 0}
"""


class Column(NamedTuple):
    """A column: its heading, whether it has numbers, and an explanation to show on hovering."""

    heading: str
    is_number: bool = False
    title: str = ""
    is_quiet: bool = False


class Amount(NamedTuple):
    """A number as text; with a share of the whole, from 0 to 1, it is also drawn as a bar.

    Without `has_percent` the bar only compares rows, and the share is not written.
    """

    text: str
    share: float | None = None
    has_percent: bool = True


class Name(NamedTuple):
    """The name of a row, the full name to show on hovering, and a remark."""

    text: str
    full: str = ""
    remark: str = ""


Cell: TypeAlias = str | Amount | Name


def document(*parts: str, notes: Iterable[str] = ()) -> str:
    """The parts with their style, followed by notes."""
    body = "".join([*parts, *(paragraph(note) for note in notes)])
    return f'<div class="tfprof"><style>{_STYLE}</style>{body}</div>'


def paragraph(text: str, *, is_quiet: bool = True) -> str:
    """A line of text."""
    return f'<p class="quiet">{escape(text)}</p>' if is_quiet else f"<p>{escape(text)}</p>"


def heading(text: str) -> str:
    """The heading of a part."""
    return f"<h4>{escape(text)}</h4>"


def table(
    columns: Sequence[Column], rows: Sequence[Sequence[Cell]], depths: Sequence[int] = ()
) -> str:
    """A table with a row of headings.

    If `depths` are given, rows are nested: a row can be folded to hide the deeper ones after it.
    """
    nesting = _nesting(depths) if len(set(depths)) > 1 else [_FLAT] * len(rows)
    head = "".join(map(_heading_cell, columns))
    body = "".join(
        f"<tr{place.attributes}>{_row(columns, row, place)}</tr>"
        for row, place in zip(rows, nesting, strict=True)
    )
    folding = "".join(
        f".tfprof table:has([name=f{number}]:not(:checked)) .b{number}{{display:none}}"
        for number, place in enumerate(nesting)
        if place.fold
    )
    style = f"<style>{folding}</style>" if folding else ""
    return (
        f'{style}<div class="scroll"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


class _Place(NamedTuple):
    """The attributes of a row, its indent, and the box that folds it."""

    attributes: str = ""
    indent: int | None = None
    fold: str = ""


_FLAT = _Place()


def _nesting(depths: Sequence[int]) -> list[_Place]:
    places: list[_Place] = []
    above: list[int] = []  # the row at each depth on the path to the current one
    first, open_depth = min(depths), _open_depth(depths)
    for row, depth in enumerate(depths):
        del above[depth - first :]
        classes = " ".join(f"b{number}" for number in above)
        has_rows = row + 1 < len(depths) and depths[row + 1] > depth
        checked = " checked" if depth < open_depth else ""
        fold = f'<input type="checkbox" name="f{row}"{checked}>' if has_rows else ""
        places.append(_Place(f' class="{classes}"' if classes else "", depth - first, fold))
        above += [row] * (depth - first + 1 - len(above))
    return places


def _open_depth(depths: Sequence[int]) -> int:
    """The depth down to which rows are shown at first: at least the second level."""
    levels = sorted(set(depths))
    few = [level for level in levels if sum(depth <= level for depth in depths) <= _FEW_ROWS]
    return max([*few, *levels[:2]])


def nested_names(names: Sequence[str], depths: Sequence[int]) -> list[str]:
    """The names of nested rows without the scope that they share with the row above them."""
    above: dict[int, str] = {}
    short: list[str] = []
    for name, depth in zip(names, depths, strict=True):
        scope = f"{above.get(depth - 1, '')}/"
        is_below = len(scope) > 1 and name.startswith(scope)
        short.append(name.removeprefix(scope) if is_below else name)
        above[depth] = name
    return short


def _heading_cell(column: Column) -> str:
    title = f' title="{escape(column.title)}"' if column.title else ""
    kind = ' class="n"' if column.is_number else ""
    return f"<th{kind}{title}>{_quiet(column, column.heading)}</th>"


def _quiet(column: Column, text: str) -> str:
    return f'<span class="quiet">{escape(text)}</span>' if column.is_quiet else escape(text)


def _row(columns: Sequence[Column], cells: Sequence[Cell], place: _Place) -> str:
    return "".join(_cell(column, cell, place) for column, cell in zip(columns, cells, strict=True))


def _cell(column: Column, cell: Cell, place: _Place) -> str:
    if isinstance(cell, Name):
        return _name(cell, place)
    if isinstance(cell, Amount):
        return _amount(column, cell)
    if column.is_number:
        return f'<td class="n">{escape(cell)}</td>'
    return f'<td class="text" title="{escape(cell)}">{escape(cell)}</td>'


def _name(name: Name, place: _Place) -> str:
    indent, lead = "", ""
    if place.indent is not None:
        indent = f' style="padding-left:{10 + 16 * place.indent}px"'
        lead = place.fold or '<span class="leaf"></span>'
    title = f' title="{escape(name.full or name.text)}"'
    remark = f' <small class="quiet">{escape(name.remark)}</small>' if name.remark else ""
    return f'<td class="name"{indent}{title}>{lead}{escape(name.text)}{remark}</td>'


def _amount(column: Column, amount: Amount) -> str:
    if amount.share is None:
        return f'<td class="n">{_quiet(column, amount.text)}</td>'
    length = min(max(amount.share, 0.0), 1.0)
    percent = f" <small>{100 * amount.share:.1f}%</small>" if amount.has_percent else ""
    bar = f'style="--p:{100 * length:.1f}%"'
    return f'<td class="n bar" {bar}>{escape(amount.text)}{percent}</td>'
