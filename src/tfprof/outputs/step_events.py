"""What a traced step shows on a timeline: labels taken apart, tensors, and who made them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfprof.columns import Bools, Ints, NameTable, Strings, offsets_of
from tfprof.formats.step_stats import StepColumns
from tfprof.kernels import lanes
from tfprof.outputs.pieces import digits, or_else, woven

ROWS_AT_ONCE = 1 << 15

_RECEIVE = "RecvTensor"  # its labels are of another form


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """Where and when each entry of a step ran, as a timeline has it."""

    end_micros: Ints
    lane: Ints
    compute_pid: Ints
    tensors_pid: Ints
    is_kernel: Bools  # whether a tracer of the device recorded it, not the runtime

    @classmethod
    def of(cls, step: StepColumns) -> Runs:
        """Every device has two processes, of which the last counts where devices share a name."""
        pids = {name: 1 + 2 * place for place, name in enumerate(step.devices)}
        compute = np.array([pids[name] for name in step.devices], np.int64)
        is_kernel = np.array(["/stream:" in name or "/memcpy" in name for name in step.devices])
        end = step.start_micros + step.micros
        groups = np.searchsorted(step.device, np.arange(len(step.devices) + 1))
        return cls(
            end,
            lanes.first_free(step.start_micros, end, groups, opened=0),
            compute[step.device],
            compute[step.device] + 1,
            is_kernel.astype(np.bool_)[step.device],
        )


@dataclass(frozen=True, slots=True, eq=False)
class Tensors:
    """The tensors that were put out; what has the name of an earlier one takes its place."""

    names: NameTable
    name: Ints  # of each output
    object_id: Ints  # of each output: how many names there were before it
    output: Ints  # of each name: the last output that has it

    @classmethod
    def of(cls, step: StepColumns) -> Tensors:
        """The first output of an op has its name, the others have their place behind it."""
        entry = step.outputs.entry
        offsets = offsets_of(np.bincount(entry, minlength=len(step.name)))
        place = np.arange(len(entry)) - offsets[entry]
        names, found = NameTable(), np.empty(len(entry), np.int64)
        for first in range(0, len(entry), ROWS_AT_ONCE):
            rows = slice(first, first + ROWS_AT_ONCE)
            suffix = or_else(place[rows] > 0, _after_colon(place[rows]), b"")
            texts = woven([step.name.take(entry[rows]), suffix], len(entry[rows]))
            found[rows] = names.add(texts)
        known = np.concatenate(([0], np.maximum.accumulate(found) + 1))
        last = np.empty(len(names), np.int64)
        last[found] = np.arange(len(found))  # of several the last one stays
        return cls(names, found, known[:-1], last)

    def find(self, inputs: Strings) -> Ints:
        """The tensor that each input names, -1 for none.

        An input that came from another device has a name of its own, made from that of the tensor
        and a suffix such as `/_5`.
        """
        found = self.names.find(inputs).copy()
        unknown = np.flatnonzero(found < 0)
        suffix = inputs.take(unknown).find_last("/_")
        unknown, suffix = unknown[suffix > 0], suffix[suffix > 0]
        starts = inputs.starts[unknown]
        found[unknown] = self.names.find(Strings.of_spans(inputs.data, starts, starts + suffix))
        return found


def _after_colon(places: Ints) -> Strings:
    return woven([b":", digits(places)], len(places))


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """What labels say: the node, its op, and its inputs one row after the other."""

    name: Strings
    op: Strings
    is_known: Bools  # whether there is an op
    input_counts: Ints
    inputs: Strings

    @classmethod
    def of(cls, names: Strings, labels: Strings, is_kernel: Bools) -> Labels:
        """Those of entries with these names and labels, which share their bytes."""
        is_receive = names.starts_with(_RECEIVE) & (names.lengths == len(_RECEIVE))
        is_assigned, op, arguments = _assigned(labels)
        has_kernel_op, name, kernel_op = _annotated(names, labels)
        has_inputs = ~is_kernel & ~is_receive & (arguments.lengths > 0)
        counts = np.zeros(len(names), np.int64)
        counts[has_inputs], inputs = arguments.take(np.flatnonzero(has_inputs)).split(", ")
        return cls(
            name=_chosen(is_kernel, name, names),
            op=_chosen(is_kernel, kernel_op, _chosen(is_receive, names, op)),
            is_known=np.where(is_kernel, has_kernel_op, is_receive | is_assigned),
            input_counts=counts,
            inputs=inputs,
        )


def _assigned(labels: Strings) -> tuple[Bools, Strings, Strings]:
    """Which labels are such as `sum = Add(a, b)`, their ops and their arguments."""
    starts = labels.starts
    line = labels.find("\n")
    line_end = np.where(line < 0, labels.ends, starts + line)
    closed = starts + np.maximum(_cut(labels, line_end).find_last(")"), 0)
    opened = starts + np.maximum(_cut(labels, closed).find_last("("), 0)
    equals = _cut(labels, opened).find_last(" = ")
    is_right = equals >= 0
    op = Strings.of_spans(labels.data, (starts + equals + 3) * is_right, opened * is_right)
    arguments = Strings.of_spans(labels.data, (opened + 1) * is_right, closed * is_right)
    return is_right, op, arguments


def _annotated(names: Strings, labels: Strings) -> tuple[Bools, Strings, Strings]:
    """Which kernels have an op, their names and their ops.

    They are said by `…@@name:op#…` in the label, else by the name.
    """
    mark, end = labels.find("@@"), labels.find("#")
    whole = _chosen(
        (mark >= 0) & (mark + 2 < end),
        Strings.of_spans(labels.data, labels.starts + mark + 2, labels.starts + end),
        names,
    )
    colon = whole.find(":")
    has_op = colon >= 0
    name_end = np.where(has_op, whole.starts + colon, whole.ends)
    rest = Strings.of_spans(whole.data, np.minimum(name_end + 1, whole.ends), whole.ends)
    colon = rest.find(":")
    op = _cut(rest, np.where(colon >= 0, rest.starts + colon, rest.ends))
    return has_op, _cut(whole, name_end), op


def _cut(texts: Strings, ends: Ints) -> Strings:
    """The texts, each up to its end."""
    return Strings.of_spans(texts.data, texts.starts, ends)


def _chosen(flags: Bools, texts: Strings, others: Strings) -> Strings:
    """The text of each row that has its flag set, else the other one of the same bytes."""
    return Strings.of_spans(
        texts.data,
        np.where(flags, texts.starts, others.starts),
        np.where(flags, texts.ends, others.ends),
    )
