"""Builds profiles: sources add what they read, then `build` creates the columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from tfprof.columns import (
    Bools,
    Coded,
    Ints,
    NameTable,
    Ragged,
    Shape,
    Shapes,
    Strings,
    constant,
    ints,
    joined,
    offsets_of,
)
from tfprof.metrics import Need
from tfprof.model.attributes import AttributeReader
from tfprof.model.code import CodeTreeBuilder, Frame
from tfprof.model.collector import RunCollector, Runs
from tfprof.model.devices import Device, Devices
from tfprof.model.executions import Placements
from tfprof.model.layers import NO_LAYER, Layer, LayersBuilder
from tfprof.model.ops import (
    Conventions,
    Inputs,
    Ops,
    Origin,
    Origins,
    OutputShapes,
    TypeSets,
)
from tfprof.model.profile import REMEDIES, ProfileColumns
from tfprof.model.recordings import Recording, Recordings
from tfprof.model.tensors import Tensors


@dataclass(frozen=True, slots=True, eq=False)
class OpColumns:
    """Ops to add, one row each, in the order of the file.

    The inputs of op `i` are `input_offsets[i]` to `input_offsets[i + 1]`. Each is the name of an
    op and its output slot, or -1 for a control dependency.
    """

    name: Sequence[str]
    kind: Coded
    input_offsets: Ints
    input_name: Sequence[str]
    input_slot: Ints
    shape: Shapes
    outputs: OutputShapes
    attributes: AttributeReader | None = None
    conventions: Conventions | None = None
    is_defined: bool = True  # by a graph or program; False if only seen in a run

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        kinds: Sequence[str],
        inputs: Sequence[Sequence[tuple[str, int]]],
        shapes: Sequence[Shape],
        outputs: Sequence[Sequence[Shape]],
        *,
        attributes: AttributeReader | None = None,
        conventions: Conventions | None = None,
    ) -> Self:
        """The columns of ops given as plain sequences with one entry per op."""
        edges = [edge for row in inputs for edge in row]
        return cls(
            names,
            Coded.of(kinds),
            offsets_of(ints([len(row) for row in inputs])),
            [source for source, _ in edges],
            ints([slot for _, slot in edges]),
            Shapes.of(shapes),
            OutputShapes.of_rows(outputs),
            attributes,
            conventions,
        )

    @classmethod
    def only_run(
        cls,
        names: Sequence[str],
        kinds: Sequence[str] | None = None,
        conventions: Conventions | None = None,
    ) -> Self:
        """Ops that are known only from runs; the kind defaults to the op's name."""
        nothing: list[tuple[()]] = [()] * len(names)
        columns = cls.of(names, kinds or names, nothing, [None] * len(names), nothing)
        return replace(columns, conventions=conventions, is_defined=False)

    @classmethod
    def variables(
        cls,
        names: Sequence[str],
        kind: str,
        shapes: Sequence[Shape],
        conventions: Conventions | None = None,
    ) -> Self:
        """Variables, as ops without inputs and outputs."""
        nothing: list[tuple[()]] = [()] * len(names)
        return cls.of(names, [kind] * len(names), nothing, shapes, nothing, conventions=conventions)

    @property
    def origin(self) -> Origin:
        return Origin(self.attributes, self.conventions, self.is_defined)


@dataclass(frozen=True, slots=True, eq=False)
class _Defined:
    """The ops of one file, with ids instead of names.

    An input from an op that is not defined yet has the id -1, and its name is in `open_names`.
    """

    count: int
    first: Ints  # the rows that define their op for the first time
    kind: Coded
    inputs: Ragged
    slots: Ints
    open_edges: Ints
    open_names: Strings
    shape: Shapes
    outputs: OutputShapes
    origin: Origin


class ProfileBuilder:
    """Collects ops, types, code, tensors and runs, then builds the columns.

    Ops are identified by name and have ids in the order in which they are added. The first
    definition, placement (per recording) and stack of an op count; later ones are ignored. Arrays
    passed to the builder may become columns of the profile and thus read-only.
    """

    def __init__(self, *, counts_float_ops: bool = True) -> None:
        self.notes: list[str] = []
        self.remedies: dict[Need, str] = dict(REMEDIES)
        self.runs = RunCollector()
        self._recordings: list[Recording] = []
        self._counts_float_ops = counts_float_ops
        self._names = NameTable()
        self._defined: list[_Defined] = []
        self._types: list[tuple[Ints, Coded]] = []
        self._float_ops: list[tuple[Ints, Ints]] = []
        self._code: list[tuple[Ints, Ints]] = []
        self._code_tree = CodeTreeBuilder()
        self._has_code = False
        self._layers = LayersBuilder()
        self._layer: list[tuple[Ints, Ints]] = []
        self._repeats: list[tuple[Ints, Ints]] = []
        self._seen_outputs: list[tuple[Ints, OutputShapes]] = []
        self._devices: dict[tuple[int, str], Device] = {}
        self._device_codes: dict[tuple[int, str], int] = {}
        self._homes: dict[int, Ints] = {}  # by recording: the device of each op, or -1
        self._covered: list[Ints] = []
        self._lacks_accelerator_time = False
        self._lacks_host_allocations = False
        self._tensors = Tensors.none()

    def __len__(self) -> int:
        return len(self._names)

    def names(self) -> Strings:
        """The names of all ops so far, by id."""
        return self._names.texts()

    def ids(self, names: Iterable[str]) -> Ints:
        """The ids of these ops, -1 for unknown ones."""
        return self._names.find(names)

    def kinds(self, ops: Ints) -> list[str]:
        """The kinds of these ops."""
        kinds = Coded.joined([part.kind.take(part.first) for part in self._defined])
        return [kinds[op] for op in ops.tolist()]

    def add_ops(self, columns: OpColumns) -> None:
        """Define ops; an op that is already defined keeps its first definition."""
        before = len(self._names)
        ids = self._names.add(columns.name)
        # New ids are ascending, so the first row of an op has a larger id than all rows before it.
        known = np.maximum.accumulate(np.concatenate(([before - 1], ids[:-1])))
        sources = self.ids(columns.input_name)
        open_edges = np.flatnonzero(sources < 0)
        self._defined.append(
            _Defined(
                count=len(ids),
                first=np.flatnonzero(ids > known),
                kind=Coded(columns.kind.codes, columns.kind.values.packed()),
                inputs=Ragged(columns.input_offsets, sources),
                slots=columns.input_slot,
                open_edges=open_edges,
                open_names=Strings([columns.input_name[edge] for edge in open_edges.tolist()]),
                shape=columns.shape,
                outputs=columns.outputs,
                origin=columns.origin,
            )
        )

    def ensure_ops(self, names: Sequence[str], conventions: Conventions | None = None) -> Ints:
        """The ids of these ops; unknown ones are added as known only from runs."""
        unknown = np.flatnonzero(self.ids(names) < 0).tolist()
        if unknown:
            missing = dict.fromkeys(names[place] for place in unknown)
            self.add_ops(OpColumns.only_run(list(missing), conventions=conventions))
        return self.ids(names)

    def add_types(self, ops: Sequence[int] | Ints, types: Coded) -> None:
        """Add a type to each of `ops`: the one at the same position in `types`."""
        self._types.append((ints(ops), Coded(types.codes, types.values.packed())))

    def add_type(self, name: str, ops: Sequence[int] | Ints) -> None:
        """Add the type `name` to each of `ops`; missing ops, which have the id -1, are skipped."""
        found = ints(ops)
        found = found[found >= 0]
        self.add_types(found, Coded(np.zeros(len(found), np.int64), Strings([name])))

    def set_float_ops(self, ops: Sequence[int] | Ints, float_ops: Sequence[int] | Ints) -> None:
        """Set the float ops per run of each op; later values replace earlier ones."""
        self._float_ops.append((ints(ops), ints(float_ops)))

    def mark_has_code(self) -> None:
        """Mark the profile as having code lines, even if all stacks are empty."""
        self._has_code = True

    def add_stack(self, stack: Iterable[Frame]) -> int:
        """Add a call stack, outermost frame first, and return its row for `set_code`."""
        return self._code_tree.add(stack)

    def add_call(self, caller: int, frame: Frame) -> int:
        """Add a call and return its row for `set_code`; `caller` is its caller's row, or -1."""
        return self._code_tree.add_call(caller, frame)

    def set_code(self, ops: Sequence[int] | Ints, rows: Sequence[int] | Ints) -> None:
        """Set the call that created each of `ops`, unless it is already set."""
        self._code.append((ints(ops), ints(rows)))

    def add_layers(self, layers: Sequence[Layer]) -> Ints:
        """Add layers, parents first, and return their ids for `set_layer`.

        The parent of a layer is a position in `layers`. A layer that is already known by its path
        keeps its first description.
        """
        return self._layers.add(layers)

    def set_repeats(self, ops: Sequence[int] | Ints, repeats: Sequence[int] | Ints) -> None:
        """Set how often one run of the program runs each of `ops` (default: once)."""
        self._repeats.append((ints(ops), ints(repeats)))

    def set_layer(self, ops: Sequence[int] | Ints, layers: Sequence[int] | Ints) -> None:
        """Set the layer of each of `ops`, unless it is already set; ids are from `add_layers`."""
        self._layer.append((ints(ops), ints(layers)))

    def add_recording(self, recording: Recording) -> int:
        """Add a recording and return its row; a number makes a repeated label unique."""
        taken = {known.label for known in self._recordings}
        label, number = recording.label, 2
        while label in taken:
            label, number = f"{recording.label}#{number}", number + 1
        self._recordings.append(recording._replace(label=label))
        return len(self._recordings) - 1

    @property
    def recordings(self) -> Sequence[Recording]:
        """The recordings added so far."""
        return self._recordings

    def add_device(self, recording: int, device: Device) -> int:
        """The id of a device of a recording, added if new."""
        key = (recording, device.name)
        self._devices.setdefault(key, device)
        return self._device_codes.setdefault(key, len(self._device_codes))

    def device_names(self, recording: int) -> list[str]:
        """The names of the devices added to a recording so far."""
        return [name for owner, name in self._devices if owner == recording]

    def mark_covered(self, ops: Ints) -> None:
        """Mark these ops as seen running."""
        self._covered.append(ops)

    def mark_lacks_accelerator_time(self) -> None:
        self._lacks_accelerator_time = True

    def mark_lacks_host_allocations(self) -> None:
        self._lacks_host_allocations = True

    def see_outputs(self, ops: Sequence[int] | Ints, outputs: OutputShapes) -> None:
        """Set the output shapes that a run recorded, for ops that have none yet."""
        self._seen_outputs.append((ints(ops), outputs))

    def settle_float_ops(self) -> None:
        """Use only the float ops that were set; compute none from shapes."""
        self._counts_float_ops = False

    def set_tensors(self, tensors: Tensors) -> None:
        self._tensors = tensors

    def place(self, recording: int, ops: Ints, devices: Ints) -> Ints:
        """Set the device of each of `ops` in a recording, unless it is already set.

        Returns the device of every op in that recording, or -1.
        """
        known = self._homes.get(recording, ints([]))
        home = np.full(len(self), -1)
        home[: len(known)] = known
        rows = np.flatnonzero(home[ops] < 0)[::-1]  # so that the first one wins
        home[ops[rows]] = devices[rows]
        self._homes[recording] = home
        return home

    def add_kernels(self, recording: int, ops: Ints, kinds: Coded) -> None:
        """State as which kind each of `ops` ran in a recording, or an empty text if unknown."""
        known = Coded.joined([part.kind.take(part.first) for part in self._defined])
        both = Coded.joined([known.take(ops), kinds]).codes
        is_known = (kinds.values.lengths > 0)[kinds.codes]
        rows = np.flatnonzero((both[: len(ops)] != both[len(ops) :]) & is_known)
        if len(rows):
            owner = constant(recording, len(rows))
            self.runs.add_kernels(kinds.take(rows), op=ops[rows], recording=owner)

    def add_runs(self, recording: int, step: int | Ints, runs: Runs) -> int:
        """Add runs; `step` is the number of their step, or the step number of each run.

        An op is placed on the device where it is first seen. Returns the number of runs counted.
        """
        if isinstance(step, int):
            steps = constant(self.runs.add_step(recording, step), len(runs.op))
        else:
            steps = self.runs.add_steps(recording, step)
        devices = self._device_columns()
        placing = devices.is_placement[runs.device] if len(devices) else np.zeros(0, np.bool_)
        home = self.place(recording, runs.op[placing], runs.device[placing])
        return self.runs.add_runs(steps, runs, devices, home[runs.op])

    def build(self) -> ProfileColumns:
        """The finished columns; the builder must not be used afterwards."""
        names = self._names.texts()
        inputs = [self._resolved(part) for part in self._defined]
        self._names = NameTable()  # frees a second copy of all names
        order = names.order()
        row_of = np.empty(len(names) + 1, np.int64)
        row_of[order] = np.arange(len(names))
        row_of[-1] = -1  # so that -1 (unknown) maps to -1
        placements = self._placements(row_of)
        return ProfileColumns(
            ops=self._ops(names, inputs, order, row_of, placements),
            recordings=Recordings.of(self._recordings),
            **self.runs.build(row_of)._asdict(),
            placements=placements,
            devices=self._device_columns(),
            code=self._code_tree.build(),
            layers=self._layers.build(),
            tensors=self._tensors,
            has_code=self._has_code,
            lacks_accelerator_time=self._lacks_accelerator_time,
            lacks_host_allocations=self._lacks_host_allocations,
            counts_float_ops=self._counts_float_ops,
            remedies=self.remedies,
        ).freeze()

    def _resolved(self, part: _Defined) -> Ragged:
        """The inputs of ops as ids, now that all ops have one."""
        if not len(part.open_edges):
            return part.inputs
        source = part.inputs.values.copy()
        source[part.open_edges] = self.ids(part.open_names)
        return Ragged(part.inputs.offsets, source)

    def _is_covered(self, order: Ints) -> Bools:
        flags = np.zeros(len(order), np.bool_)
        for ops in self._covered:
            flags[ops] = True
        return flags[order]

    def _device_columns(self) -> Devices:
        return Devices.of([row for row, _ in self._devices], list(self._devices.values()))

    def _placements(self, row_of: Ints) -> Placements:
        """The device of each op in each recording, sorted by op."""
        pairs = [(np.flatnonzero(home >= 0), home) for _, home in sorted(self._homes.items())]
        op = joined([row_of[ids] for ids, _ in pairs])
        device = joined([home[ids] for ids, home in pairs])
        order = np.argsort(op, kind="stable")
        return Placements(op[order], device[order])

    def _ops(
        self,
        names: Strings,
        inputs: Sequence[Ragged],
        order: Ints,
        row_of: Ints,
        placements: Placements,
    ) -> Ops:
        """The columns sorted by name, with the first definition of each op."""
        parts = self._defined
        before = offsets_of(ints([part.count for part in parts]))
        definition = joined([part.first + before[i] for i, part in enumerate(parts)])
        rows = definition[order]
        # Kinds that occur only in ignored definitions are dropped by `compact`.
        kinds = Coded.joined([part.kind for part in parts]).take(rows).compact()
        float_ops = np.zeros(len(order), np.int64)
        for ops, stated in self._float_ops:
            float_ops[ops] = stated
        return Ops(
            name=names.take(order),
            defined=order,
            kind=kinds,
            types=self._type_sets(kinds, row_of, placements),
            inputs=self._inputs(inputs, rows, row_of),
            shape=Shapes.joined([part.shape for part in parts]).take(rows),
            outputs=OutputShapes.joined([part.outputs for part in parts]).take(rows),
            seen_outputs=self._seen(order),
            logged_float_ops=float_ops[order],
            code=_first_stated(self._code, len(names), -1)[order],
            layer=self._layer_of_ops(order),
            repeats=_first_stated(self._repeats, len(names), 1)[order],
            is_covered=self._is_covered(order),
            origins=self._origins(rows, before),
        )

    def _layer_of_ops(self, order: Ints) -> Ints:
        if not self._layer:
            return constant(NO_LAYER, len(order))
        return self._layers.rows()[_first_stated(self._layer, len(order), NO_LAYER)[order]]

    def _origins(self, rows: Ints, before: Ints) -> Origins:
        """The file that defined each op; `before` has the first row of each file."""
        if len(self._defined) == 1:
            part = constant(0, len(rows))
        else:
            part = np.searchsorted(before, rows, side="right") - 1
        return Origins(
            tuple(defined.origin for defined in self._defined), part, rows - before[part]
        )

    def _inputs(self, inputs: Sequence[Ragged], rows: Ints, row_of: Ints) -> Inputs:
        """The edges, with rows instead of ids as sources."""
        sources = [Ragged(part.offsets, row_of[part.values]) for part in inputs]
        slots = [Ragged(part.inputs.offsets, part.slots) for part in self._defined]
        edges = Ragged.joined(sources).take(rows)
        return Inputs(edges.offsets, edges.values, Ragged.joined(slots).take(rows).values)

    def _type_sets(self, kinds: Coded, row_of: Ints, placed: Placements) -> TypeSets:
        """The types of each op: its kind, its devices and the added types."""
        devices = Strings([device.name for device in self._devices.values()])
        pairs = [
            (np.arange(len(kinds)), kinds),
            (placed.op, Coded(placed.device, devices)),
            *((row_of[ops], types) for ops, types in self._types),
        ]
        return TypeSets.of_pairs(pairs, len(kinds))

    def _seen(self, order: Ints) -> OutputShapes:
        """The output shapes first recorded for each op; none if it was not recorded."""
        shapes = OutputShapes.joined([outputs for _, outputs in self._seen_outputs])
        ops = joined([ops for ops, _ in self._seen_outputs])
        nothing = OutputShapes.of_rows([()])
        row = _first_stated([(ops, np.arange(len(ops)))], len(order), len(ops))
        return OutputShapes.joined([shapes, nothing]).take(row[order])


def _first_stated(stated: Sequence[tuple[Ints, Ints]], count: int, default: int) -> Ints:
    """For each of `count` ops, the first value set for it, or `default`."""
    values = np.full(count, default)
    for ops, column in reversed(stated):
        values[ops[::-1]] = column[::-1]
    return values
