"""The pprof file of the code view as the original wrote it: one metric, innermost calls only.

A location is a call: the line is the caller's, the function is the one called. So the outermost
row has no location, and ops created there have an empty stack.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from tfprof.columns import Ints, NameTable, Ragged, Strings, ints, joined
from tfprof.errors import OptionError
from tfprof.formats.wire import encoded
from tfprof.metrics import Metric
from tfprof.model.code import Frame
from tfprof.outputs import stacks
from tfprof.outputs.pprof import file
from tfprof.outputs.proto import one_text
from tfprof.views import accounting, code
from tfprof.views.view import View

_LABEL = "graph node:"

# The original's wording for the numbers that it has.
_COMMENTS = {
    "micros": "Sum of accelerator execution time and cpu execution time.",
    "accelerator_micros": "Accelerator execution time.",
    "cpu_micros": "CPU execution time.",
    "bytes": "Sum of operation total memory requests, excluding deallocations.",
    "peak_bytes": "Sum of operation peak memory usage.",
    "residual_bytes": "Sum of operation allocated memory after finish.",
    "output_bytes": "Sum of operation output size.",
    "params": "Model parameters.",
    "slots": "Values that the optimizer keeps besides the parameters.",
    "float_ops": "Model float operations (Only available if defined).",
}


_FIXED = ("", _LABEL, "count")


def encode(view: View, metric: Metric) -> Iterator[bytes]:
    """The messages of the file; samples, functions and locations are in name order."""
    leaves, calls = leaf_ops(view), _Calls(view)
    if len(leaves.op) and not calls.locations:
        raise OptionError("No row calls another, so there are no stacks: raise -max_depth.")
    unit = stacks.unit_name(metric)
    explained = _COMMENTS.get(metric.key) or metric.meaning
    strings = _Strings(view, leaves, calls, (metric.key, unit, explained))
    count, key, unit_number, comment = strings.last
    yield file.sample_types([count, key], [count, unit_number])
    order = np.argsort(leaves.op)
    row, op = leaves.row[order], leaves.op[order]
    values = view.op_numbers(metric.key)[op]
    for block, chains in stacks.stacks(view.tree, row):
        # The outermost row of each stack has no location.
        offsets = chains.offsets - np.arange(len(chains) + 1)
        ids = calls.location[chains.values]
        some = [np.ones(len(chains), np.int64), values[block]]
        labels = strings.of_ops[order[block]]
        yield file.samples(Ragged(offsets, ids[ids > 0]), some, strings.label, labels)
    locations = [calls.locations[name] for name in sorted(calls.locations)]
    yield from file.locations(*_columns(locations, 3))
    functions = [calls.functions[name] for name in sorted(calls.functions)]
    number, name, path, start_line = _columns(functions, 4)
    yield from file.functions(number, strings.of_text[name], strings.of_text[path], start_line)
    yield from file.strings(strings.texts)
    yield one_text(13, encoded(comment))


def notes(view: View, metric: Metric) -> Iterator[str]:
    """A note about the ops of the view that the file omits, if any."""
    ops, amount = missing(view, metric)
    if (ops or amount) and metric.unit:
        yield (
            f"the pprof file omits {ops:,} {'op' if ops == 1 else 'ops'} and "
            f"{metric.unit.format(amount)} of `{metric.key}`: it contains only ops whose line "
            "calls no other; pprof:outfile=PATH,complete contains everything."
        )


def missing(view: View, metric: Metric) -> tuple[int, int]:
    """The number of ops of the view that the file omits, and their sum."""
    op = leaf_ops(view).op
    ops = view.hidden.ops + len(view.members.values) - len(op)
    return ops, int(view.total[metric.key][0] - view.op_numbers(metric.key)[op].sum())


class _Leaves(NamedTuple):
    """Ops and the rows they count towards, in row order."""

    row: Ints
    op: Ints


def leaf_ops(view: View) -> _Leaves:
    """The ops whose line of code calls no other, at or below the shown rows without children."""
    arrangement = code.arrange_for(view.profile, view.options).arrangement
    members = accounting.account_gathered(view.profile, view.options, arrangement).members
    tree, is_leaf = arrangement.tree, arrangement.tree.sizes == 1
    shown = np.flatnonzero(view.tree.sizes[1:] == 1) + 1
    found = []
    for first in view.arranged[shown].tolist():
        leaves = first + np.flatnonzero(is_leaf[first : tree.end[first]])
        found.append(members.take(leaves).values)
    counts = ints([len(ops) for ops in found])
    return _Leaves(np.repeat(shown, counts), joined(found))


class _Calls:
    """The calls between rows as locations and functions, numbered from 1 in order of first use.

    `texts` are the names and files of functions; `used` lists, for each row, the texts that it is
    the first to use.
    """

    def __init__(self, view: View) -> None:
        self.location = np.zeros(len(view), np.int64)
        self.locations: dict[tuple[str, str, int], tuple[int, int, int]] = {}
        self.functions: dict[tuple[str, str, int], tuple[int, int, int, int]] = {}
        self.texts: list[str] = []
        self.used: list[tuple[int, ...]] = [()]
        arranged = code.arrange_for(view.profile, view.options)
        calls = arranged.call[view.arranged].tolist()
        gradients = arranged.is_gradient[view.arranged].tolist()
        for row, parent in enumerate(view.tree.parents[1:].tolist(), start=1):
            before = len(self.texts)
            if parent:
                caller, called = (view.profile.code.frame(calls[at]) for at in (parent, row))
                suffix = code.GRADIENT_SUFFIX if gradients[row] else ""
                self.location[row] = self._locate(caller, called, called.function + suffix)
            self.used.append(tuple(range(before, len(self.texts))))

    def _locate(self, caller: Frame, called: Frame, name: str) -> int:
        """The number of the location of a call."""
        key = (caller.file, name, caller.line)
        if key not in self.locations:
            function = self._function(called, name)
            self.locations[key] = (len(self.locations) + 1, function, caller.line)
        return self.locations[key][0]

    def _function(self, frame: Frame, name: str) -> int:
        key = (frame.file, name, frame.function_line)
        if key not in self.functions:
            at = len(self.texts)
            self.texts += [stacks.function_text(frame.file, name), frame.file]
            self.functions[key] = (len(self.functions) + 1, at, at + 1, frame.function_line)
        return self.functions[key][0]


class _Strings:
    """The string table, in the order in which a walk over the rows first uses each string."""

    def __init__(
        self, view: View, leaves: _Leaves, calls: _Calls, tail: tuple[str, str, str]
    ) -> None:
        known = (*_FIXED, *tail, *calls.texts)
        ops_at, texts_at = len(known), len(_FIXED) + len(tail)
        bounds = np.searchsorted(leaves.row, np.arange(len(view) + 1))
        wanted = [ints([0])]
        for row, used in enumerate(calls.used):
            wanted.append(ints(used) + texts_at)
            if bounds[row] < bounds[row + 1]:
                wanted += [ints([1]), leaves.op[bounds[row] : bounds[row + 1]] + ops_at]
        wanted.append(np.arange(2, texts_at))
        everything = joined(wanted)
        table = NameTable()
        numbers = table.add(
            Strings.joined([Strings(known), view.profile.ops.name]).take(everything)
        )
        number_of = np.zeros(ops_at + len(view.profile.ops), np.int64)
        number_of[everything] = numbers
        self.texts = table.texts()
        self.label = int(number_of[1])
        self.last: list[int] = number_of[2:texts_at].tolist()
        self.of_text = number_of[texts_at:ops_at]
        self.of_ops = number_of[ops_at:][leaves.op]


def _columns(rows: Sequence[tuple[int, ...]], width: int) -> list[Ints]:
    return list(np.array(rows, np.int64).reshape(-1, width).T)
