"""Answers as pandas data frames with plain columns; integers stay integers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tfprof.errors import OptionError
from tfprof.metrics import Metric, selected_columns
from tfprof.outputs import tabular
from tfprof.views.registry import Trait
from tfprof.views.view import View

if TYPE_CHECKING:
    import pandas as pd


def data_frame(rows: Iterable[Mapping[str, Any]], columns: Sequence[str] = ()) -> pd.DataFrame:
    """A data frame of these rows; `columns` are those that it has even without rows.

    A column of integers with missing values has the type `Int64`, which pandas shows as `<NA>`.
    """
    try:
        import pandas as pd  # noqa: PLC0415 -- optional, and slow to import
    except ImportError:
        raise OptionError("A data frame needs pandas: pip install pandas.") from None
    found = list(rows)
    names = list(found[0]) if found else columns
    return pd.DataFrame(
        {name: _series(pd, [row[name] for row in found]) for name in names}, columns=list(names)
    )


def _series(pandas: Any, values: list[Any]) -> Any:
    known = [value for value in values if value is not None]
    is_whole = bool(known) and all(
        isinstance(value, int) and not isinstance(value, bool) for value in known
    )
    if is_whole and len(known) < len(values):
        return pandas.array(values, dtype="Int64")
    return values


def of_view(view: View, *, root: bool) -> pd.DataFrame:
    """The rows of a view, with the share of each number in the root's total.

    The share is of a row and those below it, or in a flat view of the row alone.
    """
    metrics = selected_columns(view.options.select, gathered=view.is_gathered)
    numbers = [metric for metric in metrics if metric.is_number]
    rows = (_with_shares(view, row, numbers) for row in tabular.rows(view))
    if not root:
        next(rows, None)
    columns = list(_with_shares(view, tabular.row(view, 0), numbers))
    return data_frame(rows, columns)


def _with_shares(view: View, row: tabular.Row, numbers: Sequence[Metric]) -> tabular.Row:
    """The row, with a column `share_KEY` after each `total_KEY`."""
    found: tabular.Row = {}
    of = "total_{}" if Trait.NESTED in view.traits else "{}"
    shares = {f"total_{metric.key}": metric for metric in numbers}
    for key, value in row.items():
        found[key] = value
        if key in shares:
            metric = shares[key]
            whole = int(view.total[metric.exact or metric.key][0])
            part = row[of.format(metric.key)] or 0
            scale = 1000 if metric.exact else 1  # exact times are nanoseconds
            found[f"share_{metric.key}"] = part * scale / whole if whole > 0 else 0.0
    return found
