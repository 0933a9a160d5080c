"""Memory of tensors that no op ever reads.

Counts the outputs that ops of the graph put into memory of their own, that no op takes as an input
and that were not fetched as far as the step shows it, in the typical step of those recorded.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tfprof.advisor.finding import MOST_ROWS, Evidence, Finding, Gain
from tfprof.advisor.kinds import of_kinds
from tfprof.advisor.steps import Step, typical_step
from tfprof.columns import Bools, Ints
from tfprof.model.profile import ProfileColumns
from tfprof.units import Unit, format_bytes

SUMMARY = "Memory of tensors that are written and never read."

# Memory is scarce by the gigabyte: less than a megabyte in all is nobody's trouble.
_LEAST_BYTES = 1_000_000
# What is less than that of all that was written is lost in it.
_LEAST_SHARE = 0.01
# Smaller tensors do not add up to anything, and there are many.
_LEAST_TENSOR_BYTES = 10_000

# Kinds that begin so put out the variable that they change.
_UPDATES = ("Apply", "SparseApply", "Assign", "Scatter", "CountUpTo")

_FETCHED = "_retval_"  # how TensorFlow calls the op that hands a tensor to the program


def check(profile: ProfileColumns) -> Iterator[Finding]:
    """One finding for all such tensors together."""
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
    """Tensors that ops put out."""

    op: Ints
    slot: Ints
    bytes: Ints
    address: Ints

    def take(self, rows: Ints) -> _Outputs:
        return _Outputs(*(column[rows] for column in self))


def _written(profile: ProfileColumns, step: int) -> _Outputs:
    """All outputs of a step that are in memory."""
    outputs, records = profile.output_memory, profile.records
    record = profile.memory.record[outputs.use]
    rows = np.flatnonzero(records.step[record] == step)
    op = records.op[record[rows]]
    return _Outputs(op, outputs.slot[rows], outputs.bytes[rows], outputs.address[rows])


def _has_own_memory(address: Ints) -> Bools:
    """Which outputs share their memory with no other: one that does is there for the other too."""
    order = np.argsort(address, kind="stable")
    ordered = address[order]
    is_same = ordered[1:] == ordered[:-1]
    shared = np.zeros(len(address), np.bool_)
    shared[order[1:][is_same]] = True
    shared[order[:-1][is_same]] = True
    has_address: Bools = address != 0  # without one nobody can tell
    return has_address & ~shared


def _is_read(profile: ProfileColumns, outputs: _Outputs) -> Bools:
    """Which of these outputs any op of the graph takes, be it one that did not run.

    TensorFlow runs several ops as one, and what the first of them would read is read by that one.
    """
    inputs = profile.ops.inputs
    if not inputs.slot.any():
        # A saved profile does not say which output is read: any reader may read them all.
        return profile.ops.is_source()[outputs.op]
    is_asked = np.zeros(len(profile.ops) + 1, np.bool_)  # the last is for unknown sources
    is_asked[outputs.op] = True
    edges = np.flatnonzero(is_asked[inputs.source] & (inputs.slot >= 0))
    most = max(int(outputs.slot.max(initial=0)), int(inputs.slot[edges].max(initial=0)))
    read = inputs.source[edges] * (most + 1) + inputs.slot[edges]
    return np.isin(outputs.op * (most + 1) + outputs.slot, read)


def _is_fetched(profile: ProfileColumns, outputs: _Outputs) -> Bools:
    """Which of these outputs the program fetched, by the names of the ops that hand them over."""
    names = profile.ops.name
    handing = [names[row] for row in np.flatnonzero(names.starts_with(_FETCHED)).tolist()]
    # `_retval_loss_0_1` hands over output 0 of `loss`, as the second of all that were fetched.
    fetched = {name.removeprefix(_FETCHED).rpartition("_")[0] for name in handing}
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
        f"No op reads {what} of {format_bytes(size)} in all that {step.title} wrote: "
        "unless the program fetches them, nobody needs them.",
        Evidence.of(
            {"tensor": None, "kind": None, "size": Unit.BYTES},
            zip(tensors, kinds, shown.bytes.tolist(), strict=True),
        ),
        ops=tuple(dict.fromkeys(names)),
        gain=Gain(size, written, Unit.BYTES, "that ops put out in the step"),
        command=(
            *("scope", "-select", "output_bytes", "-order_by", "output_bytes"),
            *("-min_output_bytes", str(least), "-max_depth", "100", *step.option),
        ),
    )
