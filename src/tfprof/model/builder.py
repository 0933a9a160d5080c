"""Builds profiles: sources add what they read, then `build` creates the columns."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np

from tfprof.columns import (
    Bools,
    Coded,
    Ints,
    NameTable,
    Ragged,
    Shapes,
    Strings,
    constant,
    distinct_rows,
    ints,
    joined,
    offsets_of,
)
from tfprof.metrics import Need
from tfprof.model.code import CodeTreeBuilder, Frame
from tfprof.model.collector import RunCollector, Runs
from tfprof.model.devices import Device, Devices
from tfprof.model.executions import Placements
from tfprof.model.layers import NO_LAYER, Layer, LayersBuilder
from tfprof.model.op_columns import DefinedOps, OpColumns
from tfprof.model.ops import (
    Conventions,
    Inputs,
    Ops,
    Origins,
    OutputShapes,
    TypeSets,
)
from tfprof.model.profile import REMEDIES, ProfileColumns
from tfprof.model.recordings import Recording, Recordings
from tfprof.model.tensors import Tensors
from tfprof.model.variants import SharedNames

if TYPE_CHECKING:
    from tfprof.model.between_files import BetweenFiles

# What sources need to add ops.
__all__ = ["Held", "OpColumns", "ProfileBuilder"]


class Held(Protocol):
    """Parameters whose scope depends on other files: they are defined when it is known."""

    @property
    def path(self) -> str:
        """The file that has them."""

    @property
    def parameters(self) -> Mapping[str, tuple[int, ...]]:
        """The shapes of the parameters by attribute path: `blocks.0.attn.weight`."""

    @property
    def shared(self) -> Collection[str]:
        """The parameters that are the same tensor as an earlier one."""

    @property
    def is_in_order(self) -> bool:
        """Whether the parameters are in the order in which the model defines them."""

    @property
    def calls(self) -> Sequence[tuple[str, str]]:
        """The class and the path of the modules that were called, in the order of first calls."""

    @property
    def scopes(self) -> Mapping[str, Sequence[str]]:
        """The scopes of modules by their names in the trace that was recorded with the file.

        The first is where the parameters are; each of the others has the same module.
        """

    def define(self, builder: ProfileBuilder, root: str) -> None:
        """Define the parameters below the scope `root`, which may be empty."""


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
        self.held: list[Held] = []
        self._held_defined = 0  # those of `held` that are defined
        self.shared_names = SharedNames()  # of ops whose names do not tell what they do
        self._names = NameTable()
        self._defined: list[DefinedOps] = []
        self._types: list[tuple[Ints, Coded]] = []
        self._float_ops: list[tuple[Ints, Ints]] = []
        self._code: list[tuple[Ints, Ints]] = []
        self._code_tree = CodeTreeBuilder()
        self._has_code = False
        self._layers = LayersBuilder()
        self._layer: list[tuple[Ints, Ints]] = []
        self._edges: list[tuple[Ints, Ints, Ints]] = []
        self._part_of: list[tuple[Ints, Ints]] = []
        self._signature: list[tuple[Ints, Ints]] = []
        self._repeats: list[tuple[Ints, Ints]] = []
        self._seen_outputs: list[tuple[Ints, OutputShapes]] = []
        self._devices: dict[tuple[int, str], Device] = {}
        self._device_codes: dict[tuple[int, str], int] = {}
        self._homes: dict[int, Ints] = {}  # by recording: the device of each op, or -1
        self._covered: list[Ints] = []
        self._lacks_accelerator_time = False
        self._lacks_host_allocations = False
        self._tensors = Tensors.none()

    @cached_property
    def between(self) -> BetweenFiles:
        """What files state for those that are added after them."""
        from tfprof.model import between_files  # noqa: PLC0415 -- only files of PyTorch do that

        return between_files.BetweenFiles()

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
            DefinedOps(
                count=len(ids),
                first=np.flatnonzero(ids > known),
                kind=Coded(columns.kind.codes, columns.kind.values.packed()),
                inputs=Ragged(columns.input_offsets, sources),
                slots=columns.input_slot,
                open_edges=open_edges,
                open_names=Strings([columns.input_name[edge] for edge in open_edges.tolist()]),
                shape=columns.shape,
                outputs=columns.outputs,
                stated_inputs=columns.stated_inputs,
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

    def add_edges(self, targets: Ints, sources: Ints, slots: Ints) -> None:
        """Add edges to ops, after those of their definitions; those added before stay the same."""
        self._edges.append((targets, sources, slots))

    def set_part_of(self, ops: Sequence[int] | Ints, owners: Sequence[int] | Ints) -> None:
        """Set the op inside which each of `ops` runs, unless it is already set."""
        self._part_of.append((ints(ops), ints(owners)))

    def set_signature(self, ops: Sequence[int] | Ints, signatures: Sequence[int] | Ints) -> None:
        """Set what each of `ops` does, which tells ops of the same name apart."""
        self._signature.append((ints(ops), ints(signatures)))

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

    def define_held(self, root: str) -> None:
        """Define the parameters in `held` below the scope `root`, each once."""
        for one in self.held[self._held_defined :]:
            one.define(self, root)
        self._held_defined = len(self.held)

    def build(self) -> ProfileColumns:
        """The finished columns; the builder must not be used afterwards."""
        self.define_held("")
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

    def _resolved(self, part: DefinedOps) -> Ragged:
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
            stated_inputs=self._stated_inputs(rows),
            logged_float_ops=float_ops[order],
            code=_first_stated(self._code, len(names), -1)[order],
            layer=self._layer_of_ops(order),
            part_of=row_of[_first_stated(self._part_of, len(names), -1)[order]],
            signature=_first_stated(self._signature, len(names), 0)[order],
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
        edges, slot = Ragged.joined(sources).take(rows), Ragged.joined(slots).take(rows).values
        if not self._edges:
            return Inputs(edges.offsets, edges.values, slot)
        target, source, more = _new_edges(self._edges)
        owner = np.concatenate((edges.owners, row_of[target]))
        order = np.argsort(owner, kind="stable")
        return Inputs(
            offsets_of(np.bincount(owner, minlength=len(rows))),
            np.concatenate((edges.values, row_of[source]))[order],
            np.concatenate((slot, more))[order],
        )

    def _type_sets(self, kinds: Coded, row_of: Ints, placed: Placements) -> TypeSets:
        """The types of each op: its kind, its devices and the added types."""
        devices = Strings([device.name for device in self._devices.values()])
        pairs = [
            (np.arange(len(kinds)), kinds),
            (placed.op, Coded(placed.device, devices)),
            *((row_of[ops], types) for ops, types in self._types),
        ]
        return TypeSets.of_pairs(pairs, len(kinds))

    def _stated_inputs(self, rows: Ints) -> OutputShapes:
        """The stated shapes of inputs; `rows` has the definition of each op."""
        if all(part.stated_inputs is None for part in self._defined):
            return OutputShapes.none(len(rows))
        stated = [part.stated_inputs or OutputShapes.none(part.count) for part in self._defined]
        return OutputShapes.joined(stated).take(rows)

    def _seen(self, order: Ints) -> OutputShapes:
        """The output shapes first recorded for each op; none if it was not recorded."""
        shapes = OutputShapes.joined([outputs for _, outputs in self._seen_outputs])
        ops = joined([ops for ops, _ in self._seen_outputs])
        nothing = OutputShapes.of_rows([()])
        row = _first_stated([(ops, np.arange(len(ops)))], len(order), len(ops))
        return OutputShapes.joined([shapes, nothing]).take(row[order])


def _new_edges(added: Sequence[tuple[Ints, Ints, Ints]]) -> tuple[Ints, Ints, Ints]:
    """The targets, sources and slots of edges, without those that an earlier file added."""
    target, source, slot = (joined(column) for column in zip(*added, strict=True))
    if len(added) == 1:
        return target, source, slot
    file = np.repeat(np.arange(len(added)), [len(one) for one, _, _ in added])
    _, kind = distinct_rows((target, source, slot))
    first = np.full(len(kind), len(added))
    np.minimum.at(first, kind, file)
    kept = np.flatnonzero(file == first[kind])
    return target[kept], source[kept], slot[kept]


def _first_stated(stated: Sequence[tuple[Ints, Ints]], count: int, default: int) -> Ints:
    """For each of `count` ops, the first value set for it, or `default`."""
    values = np.full(count, default)
    for ops, column in reversed(stated):
        values[ops[::-1]] = column[::-1]
    return values
