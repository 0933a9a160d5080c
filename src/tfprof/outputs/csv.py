"""Encode a view as comma-separated values: a header, then one line per row."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

from tfprof.outputs.tabular import json_value, rows
from tfprof.views.view import View


def encode(view: View) -> Iterator[bytes]:
    """The rows as CSV text; a list becomes JSON inside its cell."""
    writer = None
    for row in rows(view):
        line = io.StringIO()
        if writer is None:
            csv.writer(line).writerow(row)
        writer = csv.writer(line)
        writer.writerow([_cell(value) for value in row.values()])
        yield line.getvalue().encode()


def _cell(value: Any) -> Any:
    return json.dumps(json_value(value)) if isinstance(value, list) else value
