"""What a timeline shows of a traced step: runs, parsed labels and tensors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfprof.columns import Bools, Ints, NameTable, Strings, offsets_of
from tfprof.formats.step_stats import StepColumns
from tfprof.kernels import lanes
from tfprof.outputs.pieces import digits, or_else, woven

ROWS_AT_ONCE = 1 << 15

_RECEIVE = "RecvTensor"  # its labels have another form


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """The end, lane and processes of each entry of a step."""

    end_micros: Ints
    lane: Ints
    compute_pid: Ints
    tensors_pid: Ints
    is_kernel: Bools  # recorded by the tracer of a device, not by the runtime

    @classmethod
    def of(cls, step: StepColumns) -> Runs:
        """Two processes per device; devices with the same name share those of the last one."""
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
    """The output tensors; a tensor replaces an earlier one with the same name."""

    names: NameTable
    name: Ints  # of each output
    object_id: Ints  # of each output: the number of distinct names before it
    output: Ints  # of each name: the last output with it

    @classmethod
    def of(cls, step: StepColumns) -> Tensors:
        """Name the first output of an op like the op, and append `:1`, `:2`, … for the others."""
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
        last[found] = np.arange(len(found))  # the last of several wins
        return cls(names, found, known[:-1], last)

    def find(self, inputs: Strings) -> Ints:
        """The tensor that each input names, or -1 if there is none.

        The name of an input from another device is the tensor's name and a suffix such as `/_5`.
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
    """Parsed labels: the node, its op, and the inputs of all rows in order."""

    name: Strings
    op: Strings
    is_known: Bools  # whether the label names an op
    input_counts: Ints
    inputs: Strings

    @classmethod
    def of(cls, names: Strings, labels: Strings, is_kernel: Bools) -> Labels:
        """Parse the labels of entries; `names` and `labels` share one buffer."""
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
    """Which labels look like `sum = Add(a, b)`, with their ops and arguments."""
    starts = labels.starts
    line = labels.find("\n")
    line_end = np.where(line < 0, labels.ends, starts + line)
    closed = starts + np.maximum(_cut(labels, line_end).find_last(")"), 0)
    opened = starts + np.maximum(_cut(labels, closed).find_last("("), 0)
    equals = _cut(labels, opened).find_last(" = ")
    matches = equals >= 0
    op = Strings.of_spans(labels.data, (starts + equals + 3) * matches, opened * matches)
    arguments = Strings.of_spans(labels.data, (opened + 1) * matches, closed * matches)
    return matches, op, arguments


def _annotated(names: Strings, labels: Strings) -> tuple[Bools, Strings, Strings]:
    """Which kernels have an op, with their names and ops.

    Both come from `…@@name:op#…` in the label, or else from the name.
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
    """The texts, each cut at its position in `ends`."""
    return Strings.of_spans(texts.data, texts.starts, ends)


def _chosen(flags: Bools, texts: Strings, others: Strings) -> Strings:
    """The text of each flagged row, else that of `others`; both share one buffer."""
    return Strings.of_spans(
        texts.data,
        np.where(flags, texts.starts, others.starts),
        np.where(flags, texts.ends, others.ends),
    )
