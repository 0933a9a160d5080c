"""The comparison of two profiles as text: sentences, totals, and a table for each number."""

from __future__ import annotations

from collections.abc import Iterator

from tfprof.comparison.compared import Compared
from tfprof.comparison.diff import DiffRows, DiffView, is_one_sided, shown_rows
from tfprof.comparison.numbers import Number
from tfprof.comparison.times import LEAST_RUNS
from tfprof.errors import printable
from tfprof.outputs.alignment import aligned
from tfprof.outputs.diff_sentences import amount, change, percent, sentences
from tfprof.units import counted

ADDED, REMOVED = "+", "-"
NOT_SHOWN = "~"  # the steps do not show that a time differs


def report(compared: Compared) -> str:
    """The whole comparison."""
    return "".join(f"{line}\n" for line in _lines(compared))


def _lines(compared: Compared) -> Iterator[str]:
    yield printable(f"base: {' '.join(compared.base) or 'a profile'}")
    yield printable(f"new:  {' '.join(compared.new) or 'a profile'}")
    yield ""
    yield from map(printable, sentences(compared.summary))
    yield from _totals(compared)
    for number in compared.view.numbers:
        yield ""
        yield from _table(compared, number)


def _totals(compared: Compared) -> Iterator[str]:
    totals = compared.summary.totals
    if not totals:
        return
    rows = [["", "before", "after", "change", ""]]
    for number, before, after in totals:
        cells = (amount(number, before), amount(number, after), change(number, after - before))
        rows.append([number.label, *cells, percent(before, after) if before != after else ""])
    yield ""
    yield from aligned(rows, left=[0])


def _table(compared: Compared, number: Number) -> Iterator[str]:
    view = compared.view
    shown = shown_rows(view, number, unchanged=compared.unchanged)
    whole = view.typical_change(number)[0].item()
    title = f"{heading(compared, number)}, {view.kind} view"
    if len(shown.rows) == 1 and not whole:
        yield f"{title}: no row changed."
        return
    denominator = f"share of the change of all rows, {change(number, whole)}" if whole else ""
    legend = ", ".join(filter(None, ["% of before", denominator]))
    yield f"{title} ({legend}):"
    yield from aligned(list(row_cells(view, number, shown)), left=[0])
    yield from left_out(shown, number)


def heading(compared: Compared, number: Number) -> str:
    """What a table shows: a number, and for times of how many steps or recordings."""
    if not number.is_time:
        return number.label
    if not compared.view.times(number.key).is_conclusive:
        return f"{number.label} per step"
    summary = compared.summary
    repeated = min(summary.recordings) >= LEAST_RUNS
    before, after = summary.recordings if repeated else summary.steps
    counts = f"{before:,}" if before == after else f"{before:,} and {after:,}"
    return f"{number.label} in the median of {counts} {'recordings' if repeated else 'steps'}"


def left_out(shown: DiffRows, number: Number) -> Iterator[str]:
    """How many rows a table does not list, and why."""
    if shown.beyond:
        yield f"… {shown.beyond:,} more; -max_depth shows more."
    reasons = {
        "with changes below 0.5% of the whole": shown.small,
        "without a change" + (" that the steps show" if number.is_time else ""): shown.unchanged,
    }
    listed = [f"{counted(count, 'row')} {why}" for why, count in reasons.items() if count]
    if listed:
        yield f"… left out: {', '.join(listed)}; -unchanged shows all."


def row_cells(view: DiffView, number: Number, shown: DiffRows) -> Iterator[list[str]]:
    """The heading and the rows of a table, names indented by two spaces per level."""
    before, after = view.typical(number)
    whole = (after[0] - before[0]).item()
    times = view.times(number.key) if number.is_time else None
    yield ["", "before", "after", "change", "", "share", *(["95% interval"] if times else [])]
    depths = shown.tree.depths.tolist() if view.is_nested else [1] * len(shown.rows)
    above = shown.rows[shown.tree.parents].tolist()
    for depth, row, parent in zip(depths, shown.rows.tolist(), above, strict=True):
        one, other = before[row].item(), after[row].item()
        moved = change(number, other - one)
        if times and not times.is_shown[row] and moved != "=":
            moved = f"{NOT_SHOWN}{moved}"
        yield [
            "  " * (depth - 1) + label(view, row, parent),
            amount(number, one),
            amount(number, other),
            moved,
            percent(one, other) if one != other else "",
            f"{100 * (other - one) / whole:.1f}%" if whole else "",
            *([_interval(view, number, row)] if times else []),
        ]


def _interval(view: DiffView, number: Number, row: int) -> str:
    times = view.times(number.key)
    if not times.is_conclusive:
        return "unknown"
    low, high = (round(float(side[row])) for side in (times.low, times.high))
    if low == high:
        return ""
    return f"{change(number, low)} to {change(number, high)}"


def label(view: DiffView, row: int, parent: int) -> str:
    """The name of a row without that of the row above it, and what happened to it."""
    name, old = view.name(row), view.old_name(row)
    if not row:
        return "all rows" if not view.is_nested else name
    if is_one_sided(view)[row]:
        is_removed = bool(view.new_row[row] < 0)
        above = view.old_name(parent) if is_removed else view.name(parent)
        return printable(f"{REMOVED if is_removed else ADDED} {_below(name, above)}")
    shown, was = _below(name, view.name(parent)), _below(old, view.old_name(parent))
    if view.is_moved[row]:
        return printable(f"{shown} (moved from {old})")
    return printable(shown if shown == was else f"{shown} (was {was})")


def _below(name: str, above: str) -> str:
    """A name without that of the scope above it."""
    return name.removeprefix(f"{above}/")


def encode(compared: Compared) -> Iterator[bytes]:
    """The comparison as bytes."""
    yield report(compared).encode()
