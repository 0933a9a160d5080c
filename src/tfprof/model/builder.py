"""The only writer of a profile: sources add what they read, `build` makes the columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from tfprof.columns import (
    Coded,
    Ints,
    Ragged,
    Shapes,
    Strings,
    ints,
    offsets_of,
)
from tfprof.model.code import CodeTreeBuilder, Frame
from tfprof.model.devices import Devices
from tfprof.model.ops import AttributeReader, Attributes, Inputs, Ops, OutputShapes, TypeSets
from tfprof.model.profile import Profile
from tfprof.model.recordings import Recordings, Runs
from tfprof.model.tensors import Tensors

Shape = tuple[int, ...] | None
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, eq=False)
class OpBatch:
    """Ops to add, in the order of their file; all sequences have an entry an op."""

    names: Sequence[str]
    kinds: Sequence[str]
    inputs: Sequence[Sequence[tuple[str, int]]]  # (name of the source, its slot; -1 for control)
    shapes: Sequence[Shape]
    outputs: Sequence[Sequence[Shape]]
    attributes: AttributeReader | None = None


class ProfileBuilder:
    """Takes ops, types, code, tensors and runs in any number of calls, then builds the profile.

    An op is identified by its name; its id is its place in the order of becoming known. What is
    first said of an op stays: a second definition, placement or stack is left aside.
    """

    def __init__(self, *, counts_float_ops: bool = True) -> None:
        self.notes: list[str] = []
        self.recordings = Recordings()
        self._counts_float_ops = counts_float_ops
        self._ids: dict[str, int] = {}
        self._kinds: list[str] = []
        self._inputs: list[Sequence[tuple[str, int]]] = []
        self._shapes: list[Shape] = []
        self._outputs: list[Sequence[Shape]] = []
        self._readers: list[AttributeReader] = []
        self._reader: list[int] = []
        self._position: list[int] = []
        self._extra_types: dict[int, set[str]] = {}
        self._float_ops: dict[int, int] = {}
        self._code: dict[int, int] = {}
        self._code_tree = CodeTreeBuilder()
        self._has_code = False
        self._seen_outputs: dict[int, Sequence[Shape]] = {}
        self._devices: dict[str, tuple[bool, bool, str]] = {}
        self._placement: dict[int, int] = {}
        self._covered: set[int] = set()
        self._lacks_accelerator_time = False
        self._tensors = Tensors.none()

    def __len__(self) -> int:
        return len(self._ids)

    def ids(self, names: Iterable[str]) -> list[int]:
        """The ids of these ops, -1 where an op is unknown."""
        known = self._ids
        return [known.get(name, -1) for name in names]

    def add_ops(self, batch: OpBatch) -> None:
        """Define ops; a name that is known already keeps its first definition."""
        reader = -1
        if batch.attributes is not None:
            reader = len(self._readers)
            self._readers.append(batch.attributes)
        known = self._ids
        for position, name in enumerate(batch.names):
            if name in known:
                continue
            known[name] = len(known)
            self._kinds.append(batch.kinds[position])
            self._inputs.append(batch.inputs[position])
            self._shapes.append(batch.shapes[position])
            self._outputs.append(batch.outputs[position])
            self._reader.append(reader)
            self._position.append(position)

    def ensure_ops(self, names: Sequence[str]) -> list[int]:
        """The ids of these ops; one that is unknown is defined by its name alone."""
        missing = list(dict.fromkeys(name for name in names if name not in self._ids))
        nothing: list[tuple[()]] = [()] * len(missing)
        self.add_ops(OpBatch(missing, missing, nothing, [None] * len(missing), nothing))
        return self.ids(names)

    def add_types(self, op: int, types: Iterable[str]) -> None:
        self._extra_types.setdefault(op, set()).update(types)

    def set_float_ops(self, op: int, float_ops: int) -> None:
        """State the float ops of one run; a later statement replaces an earlier one."""
        self._float_ops[op] = float_ops

    def mark_has_code(self) -> None:
        """Remember that code lines were logged, even if the stacks turn out to be empty."""
        self._has_code = True

    def add_stack(self, stack: Sequence[Frame]) -> int:
        """The row of a call stack, outermost frame first, for `set_code`."""
        return self._code_tree.add(stack)

    def set_code(self, op: int, row: int) -> None:
        """Say which call made `op`; the first word on it stays."""
        self._code.setdefault(op, row)

    def add_device(
        self, name: str, *, is_placement: bool, is_accelerator_lane: bool, host: str
    ) -> int:
        """The code of a device, new or known."""
        self._devices.setdefault(name, (is_placement, is_accelerator_lane, host))
        return list(self._devices).index(name)

    def add_step(self, step: int) -> None:
        self.recordings.add_step(step)

    def mark_covered(self, ops: Iterable[int]) -> None:
        """Count these ops as seen running."""
        self._covered.update(ops)

    def mark_lacks_accelerator_time(self) -> None:
        self._lacks_accelerator_time = True

    def see_outputs(self, op: int, shapes: Sequence[Shape]) -> None:
        """Say what shapes a run put out; the first run that tells them all is remembered."""
        self._seen_outputs.setdefault(op, shapes)

    def settle_float_ops(self) -> None:
        """Let the float ops that were stated be all there are; none are counted from shapes."""
        self._counts_float_ops = False

    def set_tensors(self, tensors: Tensors) -> None:
        self._tensors = tensors

    def place(self, op: int, device: int) -> None:
        """Say where an op lives; the first word on it stays."""
        self._placement.setdefault(op, device)

    def add_runs(self, step: int, runs: Runs) -> None:
        """Add what was recorded of a step; an op is placed where it is first seen."""
        devices = self._device_columns()
        if len(devices):
            for run in np.flatnonzero(devices.is_placement[runs.device]).tolist():
                self.place(int(runs.op[run]), int(runs.device[run]))
        home = ints([self._placement.get(op, -1) for op in runs.op.tolist()])
        self.recordings.add_runs(step, runs, devices, home)

    def build(self) -> Profile:
        """The finished profile."""
        names = list(self._ids)
        # Python orders text by code point, which is the byte order of UTF-8.
        order = sorted(range(len(names)), key=names.__getitem__)
        row_of = np.empty(len(names) + 1, np.int64)
        row_of[order] = np.arange(len(names))
        row_of[-1] = -1  # so that the id -1, "unknown", stays -1
        recorded = self.recordings.build(row_of)
        return Profile(
            ops=self._ops(names, order, row_of),
            **recorded._asdict(),
            devices=self._device_columns(),
            code=self._code_tree.build(),
            tensors=self._tensors,
            has_code=self._has_code,
            lacks_accelerator_time=self._lacks_accelerator_time,
            covered_ops=len(self._covered),
            counts_float_ops=self._counts_float_ops,
        )

    def _device_columns(self) -> Devices:
        facts = list(self._devices.values())
        return Devices(
            name=Strings(list(self._devices)),
            is_placement=np.array([is_placement for is_placement, _, _ in facts], np.bool_),
            is_accelerator_lane=np.array([is_lane for _, is_lane, _ in facts], np.bool_),
            host=Strings([host for _, _, host in facts]),
        )

    def _ops(self, names: list[str], order: list[int], row_of: Ints) -> Ops:
        """Columns in the order of ids, then taken in the order of names."""
        rows = ints(order)
        kinds = Coded.of(self._kinds)
        return Ops(
            name=Strings([names[op] for op in order]),
            defined=rows,
            kind=Coded(kinds.codes[rows], kinds.values),
            types=self._types(kinds, row_of),
            inputs=self._input_columns(rows, row_of),
            shape=Shapes.of(self._shapes).take(rows),
            outputs=_output_shapes(self._outputs, rows),
            seen_outputs=_output_shapes(_spread(self._seen_outputs, len(rows), ()), rows),
            logged_float_ops=ints(_spread(self._float_ops, len(rows), 0))[rows],
            device=ints(_spread(self._placement, len(rows), -1))[rows],
            code=ints(_spread(self._code, len(rows), -1))[rows],
            attributes=Attributes(
                tuple(self._readers), ints(self._reader)[rows], ints(self._position)[rows]
            ),
        )

    def _input_columns(self, rows: Ints, row_of: Ints) -> Inputs:
        edges = [edge for row in self._inputs for edge in row]
        sources = ints(self.ids(source for source, _ in edges))
        offsets = offsets_of(ints([len(row) for row in self._inputs]))
        source = Ragged(offsets, row_of[sources]).take(rows)
        slot = Ragged(offsets, ints([slot for _, slot in edges])).take(rows)
        return Inputs(source.offsets, source.values, slot.values)

    def _types(self, kinds: Coded, row_of: Ints) -> TypeSets:
        """Kind, device and extra types of each op: pairs of an op and a type, each pair once."""
        extra = [(op, name) for op, found in self._extra_types.items() for name in found]
        placed = list(self._placement.items())
        names = sorted({*kinds.values, *self._devices, *(name for _, name in extra)})
        code = {name: place for place, name in enumerate(names)}
        kind_codes = ints([code[name] for name in kinds.values])
        device_codes = ints([code[name] for name in self._devices])
        ops = np.concatenate(
            (
                np.arange(len(kinds)),
                ints([op for op, _ in placed]),
                ints([op for op, _ in extra]),
            )
        )
        types = np.concatenate(
            (
                kind_codes[kinds.codes],
                device_codes[ints([device for _, device in placed])],
                ints([code[name] for _, name in extra]),
            )
        )
        keys = np.unique(row_of[ops] * max(len(names), 1) + types)
        owner, value = np.divmod(keys, max(len(names), 1))
        lengths = np.bincount(owner, minlength=len(kinds))
        return _used_types(Ragged(offsets_of(lengths), value), names)


def _output_shapes(outputs: Sequence[Sequence[Shape]], rows: Ints) -> OutputShapes:
    """The shapes of each op's outputs, the ops in the order of `rows`."""
    flat = Shapes.of([shape for shapes in outputs for shape in shapes])
    offsets = offsets_of(ints([len(shapes) for shapes in outputs]))
    chosen = Ragged(offsets, np.arange(len(flat))).take(rows)
    return OutputShapes(chosen.offsets, flat.take(chosen.values))


def _used_types(members: Ragged, names: list[str]) -> TypeSets:
    """The sets with only such names as occur in them: a device may have run nothing that stayed."""
    used, codes = np.unique(members.values, return_inverse=True)
    return TypeSets(
        Ragged(members.offsets, codes), Strings([names[code] for code in used.tolist()])
    )


def _spread(known: Mapping[int, Value], count: int, default: Value) -> list[Value]:
    """What is known of each of the ids below `count`."""
    values = [default] * count
    for number, value in known.items():
        values[number] = value
    return values
