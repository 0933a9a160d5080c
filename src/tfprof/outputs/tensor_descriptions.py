"""Many TensorDescription messages in protobuf text format, for timelines.

The texts are escaped for JSON, and quotes are removed.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tfprof.columns import Ints, Strings
from tfprof.formats.step_stats import DescribedOutputs, allocator_text
from tfprof.outputs.pieces import digits, in_json, or_else, woven


class TensorDescriptions:
    """The descriptions of outputs, built on demand."""

    def __init__(self, outputs: DescribedOutputs) -> None:
        self._outputs = outputs
        self._dtypes = _unquoted(outputs.dtype.values)
        self._shapes = _unquoted(outputs.shape.values)
        self._allocators = _unquoted(map(allocator_text, outputs.allocator.values))

    def of(self, rows: Ints) -> Strings:
        """The descriptions of the outputs at `rows`."""
        outputs = self._outputs
        allocators = self._allocators.take(outputs.allocator.codes[rows])
        is_single = outputs.has_single_reference[rows] > 0
        memory = woven(
            [
                b"allocation_description {\\n",
                _line(b"requested_bytes", outputs.requested[rows]),
                _line(b"allocated_bytes", outputs.allocated[rows]),
                or_else(allocators.lengths > 0, woven([b"  ", allocators], len(rows)), b""),
                _line(b"allocation_id", outputs.allocation_id[rows]),
                or_else(~is_single, _empty(len(rows)), b"  has_single_reference: true\\n"),
                _address_line(outputs.address[rows]),
                b"}\\n",
            ],
            len(rows),
        )
        return woven(
            [
                self._dtypes.take(outputs.dtype.codes[rows]),
                self._shapes.take(outputs.shape.codes[rows]),
                or_else(outputs.has_memory[rows] > 0, memory, b""),
            ],
            len(rows),
        )


def _unquoted(texts: Iterable[str]) -> Strings:
    return in_json(Strings(text.replace('"', "") for text in texts))


def _empty(rows: int) -> Strings:
    none = np.zeros(rows, np.int64)
    return Strings.of_spans(b"", none, none)


def _line(name: bytes, column: Ints) -> Strings:
    """A line for each number; empty for 0, the default in protobuf."""
    return _nonzero_lines(name, digits(column), column)


def _address_line(column: Ints) -> Strings:
    """The same for an address, which is unsigned."""
    texts = digits(column)
    if len(column) and column.min() < 0:
        texts = Strings(map(str, column.view(np.uint64).tolist()))
    return _nonzero_lines(b"ptr", texts, column)


def _nonzero_lines(name: bytes, texts: Strings, column: Ints) -> Strings:
    lines = woven([b"  %s: " % name, texts, b"\\n"], len(column))
    return or_else(column != 0, lines, b"")
