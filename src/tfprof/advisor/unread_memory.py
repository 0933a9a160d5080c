"""Memory of tensors that no op ever reads.

Counts the outputs of ops in the graph that have their own memory, that no op takes as an input and
that the step did not visibly fetch, in a typical recorded step.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tfprof.advisor.finding import MOST_ROWS, Evidence, Finding, Gain
from tfprof.advisor.kinds import of_kinds
from tfprof.columns import Bools, Ints
from tfprof.measures.steps import Step, typical_step
from tfprof.model.profile import ProfileColumns
from tfprof.units import Unit, format_bytes

SUMMARY = "Memory of tensors that are written but never read."

# Models run out of gigabytes: less than a megabyte in total does not matter.
_LEAST_BYTES = 1_000_000
# A smaller share of all written bytes does not matter.
_LEAST_SHARE = 0.01
# There are many smaller tensors, but they do not add up to much.
_LEAST_TENSOR_BYTES = 10_000

# The beginnings of kinds that output the variable they update.
_UPDATES = ("Apply", "SparseApply", "Assign", "Scatter", "CountUpTo")

_FETCHED = "_retval_"  # the prefix of ops with which TensorFlow returns a tensor to the program


def check(profile: ProfileColumns) -> Iterator[Finding]:
    """Report all unread tensors in one finding."""
    step = typical_step(profile)
    written = _written(profile, step.row)
    chosen = (written.bytes >= _LEAST_TENSOR_BYTES) & _has_own_memory(written.address)
    is_known = profile.ops.is_defined & ~of_kinds(profile, _UPDATES)
    chosen &= is_known[written.op]
    unread = written.take(np.flatnonzero(chosen))
    unread = unread.take(np.flatnonzero(~_is_read(profile, unread)))
    unread = unread.take(np.flatnonzero(~_is_fetched(profile, unread)))
    unread = unread.take(np.lexsort((unread.slot, unread.op, -unread.bytes)))
    size, whole = int(unread.bytes.sum()), int(written.bytes.sum())
    if size >= max(_LEAST_BYTES, _LEAST_SHARE * whole):
        yield _finding(profile, step, unread, whole)


class _Outputs(NamedTuple):
    """Output tensors of ops."""

    op: Ints
    slot: Ints
    bytes: Ints
    address: Ints

    def take(self, rows: Ints) -> _Outputs:
        return _Outputs(*(column[rows] for column in self))


def _written(profile: ProfileColumns, step: int) -> _Outputs:
    """All outputs of a step with recorded memory."""
    outputs, records = profile.output_memory, profile.records
    record = profile.memory.record[outputs.use]
    rows = np.flatnonzero(records.step[record] == step)
    op = records.op[record[rows]]
    return _Outputs(op, outputs.slot[rows], outputs.bytes[rows], outputs.address[rows])


def _has_own_memory(address: Ints) -> Bools:
    """Which outputs do not share their memory; shared memory may be read through another output."""
    order = np.argsort(address, kind="stable")
    ordered = address[order]
    is_same = ordered[1:] == ordered[:-1]
    shared = np.zeros(len(address), np.bool_)
    shared[order[1:][is_same]] = True
    shared[order[:-1][is_same]] = True
    has_address: Bools = address != 0  # without an address, sharing is unknown
    return has_address & ~shared


def _is_read(profile: ProfileColumns, outputs: _Outputs) -> Bools:
    """Which of these outputs any op of the graph takes, even one that did not run.

    TensorFlow may fuse ops, and the fused op then reads the inputs of ops that did not run.
    """
    inputs = profile.ops.inputs
    if not inputs.slot.any():
        # A saved profile does not store which output is read, so any reader may read all of them.
        return profile.ops.is_source()[outputs.op]
    is_wanted = np.zeros(len(profile.ops) + 1, np.bool_)  # the last is for unknown sources
    is_wanted[outputs.op] = True
    edges = np.flatnonzero(is_wanted[inputs.source] & (inputs.slot >= 0))
    most = max(int(outputs.slot.max(initial=0)), int(inputs.slot[edges].max(initial=0)))
    read = inputs.source[edges] * (most + 1) + inputs.slot[edges]
    return np.isin(outputs.op * (most + 1) + outputs.slot, read)


def _is_fetched(profile: ProfileColumns, outputs: _Outputs) -> Bools:
    """Which of these outputs the program fetched, by the names of the ops that return them."""
    names = profile.ops.name
    returning = [names[row] for row in np.flatnonzero(names.starts_with(_FETCHED)).tolist()]
    # `_retval_loss_0_1` returns output 0 of `loss` as the second fetched tensor.
    fetched = {name.removeprefix(_FETCHED).rpartition("_")[0] for name in returning}
    tensors = zip(outputs.op.tolist(), outputs.slot.tolist(), strict=True)
    return np.array([f"{names[row]}_{output}" in fetched for row, output in tensors], np.bool_)


def _finding(profile: ProfileColumns, step: Step, unread: _Outputs, written: int) -> Finding:
    ops, size = profile.ops, int(unread.bytes.sum())
    count, least = len(unread.op), int(unread.bytes.min())
    shown = unread.take(np.arange(min(count, MOST_ROWS)))
    names = list(ops.name.take(shown.op))
    tensors = [f"{name}:{slot}" for name, slot in zip(names, shown.slot.tolist(), strict=True)]
    kinds = [ops.kind[op] for op in shown.op.tolist()]
    what = "1 tensor" if count == 1 else f"{count:,} tensors"
    return Finding(
        f"No op reads {what} with a total of {format_bytes(size)} that {step.title} wrote: "
        "unless the program fetches them, they are not needed.",
        Evidence.of(
            {"tensor": None, "kind": None, "size": Unit.BYTES},
            zip(tensors, kinds, shown.bytes.tolist(), strict=True),
        ),
        ops=tuple(dict.fromkeys(names)),
        gain=Gain(size, written, Unit.BYTES, "of op outputs in the step"),
        command=(
            *("scope", "-select", "output_bytes", "-order_by", "output_bytes"),
            *("-min_output_bytes", str(least), "-max_depth", "100", *step.option),
        ),
    )
