"""Exported programs of PyTorch: ops by module with their inputs, shapes and lines of code."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from tfprof.columns import Coded, Shape, Strings, ints, offsets_of
from tfprof.errors import OptionError
from tfprof.formats import pt2
from tfprof.formats.exported_graph import TRANSFORMS, Argument, Entry, Node
from tfprof.formats.pt2 import Program
from tfprof.formats.weights import StoredWeight
from tfprof.model.attributes import AttributeTable
from tfprof.model.builder import OpColumns, ProfileBuilder
from tfprof.model.notes import Note, Subject
from tfprof.model.ops import (
    CHECKPOINT_VARIABLE,
    SHAPE_ARITHMETIC,
    STATE_VARIABLE,
    TRAINABLE_VARIABLE,
    UNKNOWN_REPEATS,
    WALKED_CALL,
    OutputShapes,
)
from tfprof.sources.saved_attributes import SavedAttributes
from tfprof.sources.source import FileSummary, InputFile, summary
from tfprof.sources.torch_arguments import ARGUMENTS
from tfprof.sources.torch_modules import FreeNames, ModuleStack, add_modules, scope_of
from tfprof.sources.torch_sizes import Sizes
from tfprof.sources.torch_stacks import own_frames
from tfprof.sources.torch_state import weights_of
from tfprof.sources.torch_weights import owners_of, tensors_of
from tfprof.units import counted

_KINDS = {"parameter": "Parameter", "buffer": "Buffer", "constant": "Const", "input": "Placeholder"}
_STORED = ("parameter", "buffer")
_OPS = "torch.ops."
_MOST_NAMED = 3


def read(file: InputFile) -> Program:
    """The program in the file."""
    return pt2.read(file.path)


def add(found: Program, builder: ProfileBuilder, file: InputFile) -> FileSummary:
    """Add the ops of the program, its parameters, modules and lines of code."""
    graph = found.graph
    sizes = Sizes(graph, file.reading.batch_size)
    if file.reading.batch_size and not sizes.batch:
        raise OptionError(
            f"`batch_size` does not apply to {file.path}, which was exported for a fixed batch."
        )
    program = HeldProgram(found, sizes, file.path)
    builder.held.append(program)
    kinds = Counter(entry.kind for entry in graph.entries)
    modules = len({path for path, _ in program.classes})
    return summary(file, ops=len(graph.nodes), modules=modules, parameters=kinds["parameter"])


class HeldProgram:
    """A program; beside a recording of the model, only its parameters and modules are used."""

    is_in_order = True
    shared = ()  # `calls` is more precise than what it matters for

    def __init__(self, found: Program, sizes: Sizes, path: str) -> None:
        self._found, self._sizes, self.path = found, sizes, path
        self.scopes: Mapping[str, Sequence[str]] = {}  # a program is not recorded with a trace
        self._stacks = [ModuleStack.of(node.modules) for node in found.graph.nodes]
        pairs = (pair for stack in self._stacks for pair in stack.classes)
        self.classes = list(dict.fromkeys(pairs))  # the path and class of each module called

    @property
    def parameters(self) -> Mapping[str, tuple[int, ...]]:
        """The shapes of the parameters and buffers."""
        tensors = {
            one.name: self._sizes.shape(one.tensor)
            for one in self._found.graph.entries
            if one.kind in _STORED
        }
        return {name: shape for name, shape in tensors.items() if shape is not None}

    @property
    def calls(self) -> Sequence[tuple[str, str]]:
        """The class and the path of each module, in the order of the first calls."""
        return [(kind, path) for path, kind in self.classes]

    def define(self, builder: ProfileBuilder, root: str) -> None:
        """Define the parameters, and the ops if no recording has them."""
        own = next((stack.root for stack in self._stacks if stack.root), "")
        program = _Program(self._found, self._sizes, builder, self.path, root or own)
        entries = self._found.graph.entries
        if builder.recordings:
            program.add_entries([one for one in entries if one.kind in _STORED])
            program.add_modules([])
        else:
            program.add_entries(entries)
            program.add_nodes(self._stacks)
            builder.notes += _notes(self.path, self._found, self._sizes)


@dataclass(slots=True)
class _Ops:
    """Columns of ops that are being collected."""

    names: list[str] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    inputs: list[list[tuple[str, int]]] = field(default_factory=list)
    shapes: list[Shape] = field(default_factory=list)
    outputs: list[list[Shape]] = field(default_factory=list)

    def add(
        self,
        name: str,
        kind: str,
        inputs: list[tuple[str, int]],
        outputs: list[Shape],
        shape: Shape = None,
    ) -> None:
        self.names.append(name)
        self.kinds.append(kind)
        self.inputs.append(inputs)
        self.outputs.append(outputs)
        self.shapes.append(shape)


class _Program:
    """Adds a program to a profile."""

    def __init__(
        self, found: Program, sizes: Sizes, builder: ProfileBuilder, path: str, root: str
    ) -> None:
        self._found, self._sizes, self._builder, self.path = found, sizes, builder, path
        self._root = root
        self._free = FreeNames(root)
        self._made: dict[str, tuple[str, int]] = {}  # the op and output that make each tensor
        self._scopes: dict[str, str] = {}

    def add_entries(self, entries: Sequence[Entry]) -> None:
        """Define parameters, buffers, constants and inputs of the program."""
        ops, builder = _Ops(), self._builder
        stored, values = self._stored(), dict[str, StoredWeight]()
        trained, state = [], []
        weights = [stored.get(one.name) for one in entries]
        owners = owners_of(weights)
        names = [self._free.take(one.name) for one in entries]
        for place, entry in enumerate(entries):
            name, shape = names[place], self._sizes.shape(entry.tensor)
            is_own = owners[place] == place
            is_counted = entry.kind in _STORED and is_own
            edges = [] if is_own else [(names[owners[place]], 0)]
            ops.add(name, _KINDS[entry.kind], edges, [shape], shape if is_counted else None)
            self._made[entry.tensor] = name, 0
            self._scopes[name] = name.rpartition("/")[0]
            if (weight := weights[place]) is not None:
                values[name] = weight
            if entry.kind == "buffer":
                state.append(name)
            elif entry.kind == "parameter" and self._found.graph.tensors[entry.tensor].is_trained:
                trained.append(name)
        builder.add_ops(OpColumns.of(ops.names, ops.kinds, ops.inputs, ops.shapes, ops.outputs))
        builder.add_type(STATE_VARIABLE, builder.ids(state))
        builder.add_type(TRAINABLE_VARIABLE, builder.ids(trained))
        builder.set_tensors(tensors_of(values))
        builder.add_type(CHECKPOINT_VARIABLE, builder.ids(values))

    def _stored(self) -> Mapping[str, StoredWeight]:
        """The parameters in the file, by name."""
        if self._found.weights or self._found.state is None:
            return self._found.weights
        return {one.name: one for one in weights_of(self.path, self._found.state).weights}

    def add_nodes(self, stacks: Sequence[ModuleStack]) -> None:
        """Define the ops, their modules and lines; `stacks` has the modules around each."""
        ops, builder = _Ops(), self._builder
        nodes = self._found.graph.nodes
        arithmetic, walked, repeats = [], [], dict[str, int]()
        for node, stack in zip(nodes, stacks, strict=True):
            kind = _kind(node.target)
            name = self._free.take(stack.path, kind)
            tensors = [one for argument in node.arguments for one in argument.tensors or ()]
            edges = [edge for one in tensors if one and (edge := self._maker(one)) is not None]
            ops.add(name, kind, edges, [self._sizes.shape(one) for one in node.outputs])
            self._made |= {one: (name, slot) for slot, one in enumerate(node.outputs)}
            self._scopes[name] = scope_of(stack.path, self._root)
            if not node.outputs or node.target.startswith(TRANSFORMS):
                arithmetic.append(name)
            if node.has_graphs:
                walked.append(name)
            if node.repeats:
                repeats[name] = self._sizes.trips(node.repeats)
        stated = [self._inputs(kind, one) for kind, one in zip(ops.kinds, nodes, strict=True)]
        columns = OpColumns.of(
            ops.names,
            ops.kinds,
            ops.inputs,
            ops.shapes,
            ops.outputs,
            attributes=SavedAttributes(self.path, _attributes(nodes, self._sizes)),
        )
        builder.add_ops(replace(columns, stated_inputs=OutputShapes.of_rows(stated)))
        builder.add_type(SHAPE_ARITHMETIC, builder.ids(arithmetic))
        builder.add_type(WALKED_CALL, builder.ids(walked))
        builder.set_repeats(builder.ids(repeats), list(repeats.values()))
        self.add_modules(stacks)
        self._add_code(ops.names)

    def _maker(self, tensor: str) -> tuple[str, int] | None:
        """The op and output that make a tensor; those that a graph is given are made outside."""
        outside = self._found.graph.passed.get(tensor, tensor)
        return self._made.get(tensor) or self._made.get(outside)

    def add_modules(self, stacks: Sequence[ModuleStack]) -> None:
        """Add the modules in `stacks` and those of parameters as layers."""
        pairs = dict.fromkeys(pair for stack in stacks for pair in stack.classes)
        classes = {scope_of(path, self._root): kind for path, kind in pairs}
        add_modules(self._builder, self._scopes, classes)

    def _inputs(self, kind: str, node: Node) -> list[Shape]:
        """The shapes of arguments by their positions in the schema; a list is several inputs."""
        found: list[Shape] = []
        for argument in _in_place(kind, node.arguments):
            tensors = argument.tensors if argument.tensors is not None else (None,)
            found += [None if one is None else self._sizes.shape(one) for one in tensors]
        return found

    def _add_code(self, names: Sequence[str]) -> None:
        rows: dict[str, int] = {}
        for text in dict.fromkeys(node.stack for node in self._found.graph.nodes):
            rows[text] = self._builder.add_stack(own_frames(text))
        if any(row >= 0 for row in rows.values()):
            self._builder.mark_has_code()
        stacks = [rows[node.stack] for node in self._found.graph.nodes]
        self._builder.set_code(self._builder.ids(names), stacks)


def _kind(target: str) -> str:
    """The kind of an op: `aten::mm` for `torch.ops.aten.mm.default`."""
    if not target.startswith(_OPS):
        return target or "unknown"
    namespace, _, rest = target.removeprefix(_OPS).partition(".")
    return f"{namespace}::{rest.partition('.')[0]}"


def _in_place(kind: str, arguments: Sequence[Argument]) -> Iterator[Argument]:
    """The arguments in the order of the schema; those that are left out have no tensors."""
    names = ARGUMENTS.get(kind, ())
    given = {argument.name: argument for argument in arguments}
    if given.keys() <= {*names}:
        last = max((place for place, name in enumerate(names) if name in given), default=-1)
        yield from (given.get(name, Argument(name)) for name in names[: last + 1])
    else:
        yield from arguments


def _attributes(nodes: Sequence[Node], sizes: Sizes) -> AttributeTable:
    """The arguments that are not tensors, by name."""
    pairs = [
        [
            (argument.name, json.dumps(value))
            for argument in node.arguments
            if argument.tensors is None and (value := sizes.plain(argument.value)) is not None
        ]
        for node in nodes
    ]
    names = Coded.of([name for row in pairs for name, _ in row])
    values = Coded.of([text for row in pairs for _, text in row])
    offsets = offsets_of(ints([len(row) for row in pairs]))
    return AttributeTable(offsets, names, values.codes, Strings(values.values), "json")


def _notes(path: str, found: Program, sizes: Sizes) -> Iterator[Note]:
    if found.others:
        text = f"{path} contains other models, which are not read: {', '.join(found.others)}."
        yield Note(text, Subject.PARAMS | Subject.FLOAT_OPS)
    if sizes.open:
        pairs = [f"{name} = {size}" for name, size in islice(sizes.open.items(), _MOST_NAMED)]
        more = len(sizes.open) - len(pairs)
        shown = ", ".join(pairs) + (f" and {more:,} more" if more else "")
        advice = "; --batch_size sets the batch" if sizes.batch in sizes.open else ""
        text = f"{path} leaves sizes open, which count as in its example: {shown}{advice}."
        yield Note(text, Subject.FLOAT_OPS)
    targets = Counter(node.target for node in found.graph.nodes if node.has_graphs)
    if conditions := targets["torch.ops.higher_order.cond"]:
        text = (
            f"{path} contains {counted(conditions, 'conditional')}: the float ops of all branches "
            "are counted, although only one will run."
        )
        yield Note(text, Subject.FLOAT_OPS)
    if any(sizes.trips(node.repeats) == UNKNOWN_REPEATS for node in found.graph.nodes):
        text = (
            f"{path} contains loops of unknown trip count: float ops inside are counted for one "
            "iteration, because the number depends on data."
        )
        yield Note(text, Subject.FLOAT_OPS)
    text = f"{path} is a program that did not run, so there are no times."
    yield Note(text, Subject.TIME)
