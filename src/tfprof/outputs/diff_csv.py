"""Encode a comparison as comma-separated values: a header, then one line per row."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

from tfprof.comparison.compared import Compared
from tfprof.outputs.diff_rows import rows


def flat_rows(compared: Compared) -> Iterator[dict[str, Any]]:
    """The rows with a column for each part of each number, such as `float_ops_before`."""
    for row in rows(compared):
        numbers = row.pop("numbers")
        yield row | {
            f"{key}_{part}": value
            for key, parts in numbers.items()
            for part, value in parts.items()
        }


def encode(compared: Compared) -> Iterator[bytes]:
    """The rows as CSV text."""
    for place, row in enumerate(flat_rows(compared)):
        line = io.StringIO()
        writer = csv.writer(line)
        if not place:
            writer.writerow(row)
        writer.writerow(row.values())
        yield line.getvalue().encode()
