"""Encode a traced step as trace-event JSON: op runs, tensor lifetimes and memory in use.

The events, their order and their formatting match TensorFlow's `timeline.Timeline`, so tools that
read those files read these too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple, TypeAlias

import numpy as np

from tfprof.columns import Bools, Ints, Strings, constant, offsets_of
from tfprof.formats.step_stats import StepColumns
from tfprof.outputs.json_rows import in_list, member, members, quoted
from tfprof.outputs.pieces import Piece, digits, in_json, or_else, woven
from tfprof.outputs.step_events import ROWS_AT_ONCE, Labels, Runs, Tensors
from tfprof.outputs.tensor_descriptions import TensorDescriptions

Fields: TypeAlias = Sequence[tuple[Piece, Sequence[Piece]]]

# Indentation levels.
_LIST = 1
_EVENT = 2
_ARGUMENTS = 3


def encode(
    step: StepColumns, *, show_dataflow: bool = True, show_memory: bool = True
) -> Iterator[bytes]:
    """The file in pieces, optionally with data-flow arrows between ops and with tensor events."""
    timeline = _Timeline(step)
    yield b'{\n    "traceEvents": [' + timeline.processes().removeprefix(b",")
    if show_memory:
        yield from timeline.tensors_created()
    yield from timeline.computation(show_dataflow=show_dataflow)
    if show_memory:
        yield from timeline.tensors_deleted()
        yield from timeline.memory_in_use()
    yield b"\n    ]\n}"


class _Timeline:
    """The events of a step, and the tensor lifetimes found while writing them."""

    def __init__(self, step: StepColumns) -> None:
        self.step = step
        self.runs = Runs.of(step)
        self.tensors = Tensors.of(step)
        self.names = in_json(self.tensors.names.texts())
        self.maker = step.outputs.entry[self.tensors.output]  # of each tensor
        self.last_use = self.runs.end_micros[self.maker]

    def processes(self) -> bytes:
        """The names of the processes: one for the allocators, then two per device."""
        pairs = [(f"{device} Compute", f"{device} Tensors") for device in self.step.devices]
        names = in_json(Strings(["Allocators", *chain(*pairs)]))
        fields: Fields = [
            (b"name", [b'"process_name"']),
            (b"ph", [b'"M"']),
            (b"pid", [digits(np.arange(len(names)))]),
            (b"args", members([(b"name", quoted(names))], _ARGUMENTS)),
        ]
        return in_list([members(fields, _EVENT)], len(names), _LIST).data

    def tensors_created(self) -> Iterator[bytes]:
        """The creation of each output, and its description just before the op ends."""
        outputs, runs = self.step.outputs, self.runs
        descriptions = TensorDescriptions(outputs)
        for rows in _chunks(len(outputs.entry)):
            entry = outputs.entry[rows]
            name = self.names.take(self.tensors.name[rows])
            number: Fields = [(b"id", [digits(self.tensors.object_id[rows])])]
            begin = _At(self.step.start_micros[entry], runs.tensors_pid[entry], runs.lane[entry])
            end = begin._replace(micros=runs.end_micros[entry] - 1)
            text = quoted(descriptions.of(rows))
            snapshot = members([(b"tensor_description", text)], _ARGUMENTS + 1)
            arguments = members([(b"snapshot", snapshot)], _ARGUMENTS)
            events = [
                _event(b"N", b"Tensor", name, begin, number),
                _event(b"O", b"Tensor", name, end, [*number, (b"args", arguments)]),
            ]
            yield in_list(events, len(rows), _LIST).data

    def computation(self, *, show_dataflow: bool) -> Iterator[bytes]:
        """Each run of an op, followed by the arrows from the ops that made its inputs."""
        step, runs = self.step, self.runs
        flows = 0
        for rows in _chunks(len(step.name)):
            labels = Labels.of(step.name.take(rows), step.label.take(rows), runs.is_kernel[rows])
            regions = in_list([self._regions(labels, rows)], len(rows), _LIST)
            tensor = self.tensors.find(labels.inputs)
            reader = np.repeat(rows, labels.input_counts)[tensor >= 0]
            tensor = tensor[tensor >= 0]
            np.maximum.at(self.last_use, tensor, runs.end_micros[reader] - 1)
            if show_dataflow:
                is_drawn = self._crosses_lanes(tensor, reader)
                tensor, reader = tensor[is_drawn], reader[is_drawn]
                counts = np.bincount(reader - rows[0], minlength=len(rows))
                arrows = in_list(self._arrows(tensor, reader, flows), len(tensor), _LIST)
                flows += len(tensor)
                regions = woven([regions, _concatenated(arrows, counts)], len(rows))
            yield regions.data

    def _regions(self, labels: Labels, rows: Ints) -> list[Piece]:
        op = or_else(labels.is_known, in_json(labels.op), b"unknown")
        counts = labels.input_counts
        place = np.arange(len(labels.inputs)) - np.repeat(offsets_of(counts)[:-1], counts)
        value = quoted(in_json(labels.inputs))
        inputs = woven(member([b"input", digits(place)], value, _ARGUMENTS), len(place))
        arguments: Fields = [
            (b"name", quoted(in_json(labels.name))),
            (b"op", [*quoted(op), _concatenated(inputs, counts)]),
        ]
        runs = self.runs
        at = _At(self.step.start_micros[rows], runs.compute_pid[rows], runs.lane[rows])
        more: Fields = [
            (b"dur", [digits(self.step.micros[rows])]),
            (b"args", members(arguments, _ARGUMENTS)),
        ]
        return _event(b"X", b"Op", op, at, more)

    def _crosses_lanes(self, tensor: Ints, reader: Ints) -> Bools:
        """Whether each tensor was made in another lane than its reader's.

        Arrows within a lane are not drawn, because they would cover it.
        """
        maker, runs = self.maker[tensor], self.runs
        crosses: Bools = runs.compute_pid[maker] != runs.compute_pid[reader]
        crosses |= runs.lane[maker] != runs.lane[reader]
        return crosses

    def _arrows(self, tensor: Ints, reader: Ints, first: int) -> list[list[Piece]]:
        """An arrow from the maker of each tensor to its reader, numbered from `first`."""
        runs, maker = self.runs, self.maker[tensor]
        name = self.names.take(tensor)
        number: Fields = [(b"id", [digits(first + np.arange(len(tensor)))])]
        start = _At(runs.end_micros[maker], runs.compute_pid[maker], runs.lane[maker])
        end = _At(self.step.start_micros[reader], runs.compute_pid[reader], runs.lane[reader])
        return [
            _event(b"s", b"DataFlow", name, start, number),
            _event(b"t", b"DataFlow", name, end, number),
        ]

    def tensors_deleted(self) -> Iterator[bytes]:
        """The deletion of each tensor, when it was last in use."""
        for rows in _chunks(len(self.maker)):
            pid = self.runs.tensors_pid[self.maker[rows]]
            at = _At(self.last_use[rows], pid, constant(0, len(rows)))
            object_id = self.tensors.object_id[self.tensors.output[rows]]
            number: Fields = [(b"id", [digits(object_id)])]
            event = _event(b"D", b"Tensor", self.names.take(rows), at, number)
            yield in_list([event], len(rows), _LIST).data

    def memory_in_use(self) -> Iterator[bytes]:
        """The bytes each allocator has handed out, whenever that changes."""
        outputs, tensors = self.step.outputs, self.tensors
        allocator = outputs.allocator.codes[tensors.output]
        size = outputs.requested[tensors.output]
        micros = np.concatenate((self.step.start_micros[self.maker], self.last_use))
        change = np.concatenate((size, -size))
        place = np.tile(_by_first_use(allocator), 2)
        order = np.lexsort((change, micros, place))
        # Every allocator gets all its bytes back, so one running sum restarts at 0 for the next.
        in_use = np.cumsum(change[order])
        names = in_json(outputs.allocator.values)
        for some in _chunks(len(order)):
            rows = order[some]
            none = constant(0, len(rows))
            name = names.take(allocator[rows % len(allocator)])
            value: Fields = [(b"args", members([(name, [digits(in_use[some])])], _ARGUMENTS))]
            event = _event(b"C", b"Memory", name, _At(micros[rows], none, none), value)
            yield in_list([event], len(rows), _LIST).data


class _At(NamedTuple):
    """The positions of events on the timeline."""

    micros: Ints
    pid: Ints
    tid: Ints


def _event(kind: bytes, category: bytes, name: Strings, at: _At, more: Fields) -> list[Piece]:
    fields: Fields = [
        (b"ph", [b'"%s"' % kind]),
        (b"cat", [b'"%s"' % category]),
        (b"name", quoted(name)),
        (b"pid", [digits(at.pid)]),
        (b"tid", [digits(at.tid)]),
        (b"ts", [digits(at.micros)]),
    ]
    return members([*fields, *more], _EVENT)


def _chunks(count: int) -> Iterator[Ints]:
    """The numbers of `count` rows, in blocks."""
    for first in range(0, count, ROWS_AT_ONCE):
        yield np.arange(first, min(first + ROWS_AT_ONCE, count))


def _concatenated(texts: Strings, counts: Ints) -> Strings:
    """Join adjacent texts: the first `counts[0]` of them, the next `counts[1]`, and so on."""
    bounds = np.append(texts.starts, len(texts.data))
    offsets = offsets_of(counts)
    return Strings.of_spans(texts.data, bounds[offsets[:-1]], bounds[offsets[1:]])


def _by_first_use(codes: Ints) -> Ints:
    """The codes, renumbered in order of first use."""
    _, firsts, places = np.unique(codes, return_index=True, return_inverse=True)
    rank: Ints = np.argsort(np.argsort(firsts))
    return rank[places]
