"""The graph of the functions that ran during a recording, and the code lines of their ops.

A recording names each op after the calls that led to it. The functions are flattened with the same
names, so that graph and recording can be joined by name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from tfprof.capture import optimizer_ops
from tfprof.capture.fed_shapes import Fed, most_frequent
from tfprof.capture.graph_files import WrittenOp, graph_def, node_def, op_log
from tfprof.capture.kept_functions import KeptFunctions
from tfprof.capture.keras_layers import CreatedLayers
from tfprof.capture.keras_models import FoundLayers, UsedModels
from tfprof.capture.layer_lines import LayerLines
from tfprof.capture.traced_graph import Graph, Stack, Variable, free_name, traced_graph
from tfprof.capture.variable_roles import VariableRoles
from tfprof.formats import xplane
from tfprof.formats.content import Content
from tfprof.model.notes import Note, Subject
from tfprof.model.ops import (
    OPTIMIZER_OP,
    OPTIMIZER_VARIABLE,
    SHAPE_ARITHMETIC,
    TAPE_GRADIENT,
    TAPE_SCOPE,
    UNKNOWN_REPEATS,
    WALKED_CALL,
)
from tfprof.sources import layers_file
from tfprof.sources.capture_folder import GRAPH, LAYERS, OP_LOG
from tfprof.sources.layers_file import RecordedLayers, UnreadWeight
from tfprof.sources.tf_events import TensorFlowEvents, op_name
from tfprof.sources.tf_functions import Flat
from tfprof.sources.xspace_events import Space
from tfprof.views.code import folded_note

_READ = "ReadVariableOp"
_LABEL = "#"  # prefix of variable labels; no op name starts with it


def write(folder: Path, kept: KeptFunctions) -> tuple[str, ...]:
    """Write the graph and op log of the recording in `folder`; returns notes on missing parts.

    A recording is useful without them, so a problem with TensorFlow's internals is not an error.
    """
    recorded = _Recorded(kept.roles)
    try:
        for called in _called(folder):
            fed = Fed(kept.fed.of(called.name), called.element_bytes)
            recorded.add(called, kept.graph(called.name), fed)
    except Exception as error:  # noqa: BLE001 -- TensorFlow's internals may raise anything
        problem = f"{type(error).__name__}: {error}"
        return _without_graph(folder, f"is not available ({problem})")
    if not recorded.ops:
        return _without_graph(folder, "is empty, because no traced function ran")
    found = recorded.find_layers(kept.models)
    recorded.place(found, kept.created)
    (folder / GRAPH).write_bytes(graph_def(recorded.ops.values()))
    if log := op_log(recorded.ops.values()):  # ops of a SavedModel have no code lines
        (folder / OP_LOG).write_bytes(log)
    notes = tuple(recorded.notes())
    stored = (*notes, *recorded.folded())
    facts = recorded.layers(found)._replace(repeats=recorded.repeats, notes=stored)
    if any(facts):
        (folder / LAYERS).write_bytes(layers_file.encoded(facts))
    return notes


def _without_graph(folder: Path, problem: str) -> tuple[str, ...]:
    """Note in the recording that it has no graph; returns the note."""
    text = (
        f"the graph of the traced functions {problem}: parameters, shapes, float operations and "
        "code lines are unknown."
    )
    (folder / LAYERS).write_bytes(layers_file.encoded(RecordedLayers(notes=[text])))
    return (text,)


class _Called(NamedTuple):
    """A function that the program called."""

    name: str
    element_bytes: list[int]  # of the elements that it took from iterators
    runs: Mapping[str, float]  # of ops, per call


def _called(folder: Path) -> Iterator[_Called]:
    """The functions that the program called, slowest first."""
    for path in map(str, sorted(folder.rglob("*.xplane.pb"))):
        columns = xplane.decode(Content(path).records(xplane.XSPACE))
        events = TensorFlowEvents(Space(path, columns))
        taken, runs = events.element_bytes(), events.runs_per_call()
        for name in events.functions():
            yield _Called(name, taken[name], runs[name])


def _rebuilt(name: str) -> Graph | None:
    """The graph of a function that was not kept, without code lines and variable shapes."""
    from tensorflow.python.eager import context  # noqa: PLC0415 -- loads TensorFlow
    from tensorflow.python.framework import function_def_to_graph  # noqa: PLC0415

    eager = context.context()
    if name not in eager.list_function_names():
        return None
    return function_def_to_graph.function_def_to_graph(
        eager.get_function_def(name), include_library_functions=True
    )


@dataclass(slots=True)
class _Recorded:
    """The ops of all functions that ran; if several have the same name, the first is used."""

    roles: VariableRoles
    ops: dict[str, WrittenOp] = field(default_factory=dict)
    stacks: dict[str, Stack] = field(default_factory=dict)  # of ops, by name
    labels: dict[object, str] = field(default_factory=dict)  # of variables, by their identity
    names: dict[str, str] = field(default_factory=dict)  # of variables, by label
    variable_types: dict[str, str] = field(default_factory=dict)  # by label
    copies: set[str] = field(default_factory=set)  # labels of variables of further replicas
    rebuilt: list[str] = field(default_factory=list)  # functions
    batches: dict[str, Counter[int]] = field(default_factory=dict)  # sizes, by function
    shared: list[str] = field(default_factory=list)  # functions with op names of another one
    repeats: dict[str, int] = field(default_factory=dict)  # of ops in loops, by name

    def add(self, called: _Called, graph: Graph | None, fed: Fed) -> None:
        """Add the ops of a function that the program called; `graph` is None if it was not kept."""
        function = called.name
        if graph is None:
            graph = _rebuilt(function)
            self.rebuilt.append(function)
        if graph is None:
            return
        variables = self._variables(function, graph)
        traced = traced_graph(graph, f"the function {function}", variables, fed)
        self.batches[function] = fed.batches
        flat = traced.flatten(op_name)
        paths, sources = flat.paths(), flat.sources()
        self._name_variables(flat, paths, sources)
        names, stacks, types = flat.columns.name, traced.stacks_of(flat), self._types(flat, sources)
        repeats = _repeats(flat, called.runs)
        self._note_shared(function, names)
        for row in sorted(range(len(paths)), key=paths.__getitem__):
            name = self._name(names[row])
            if name not in self.ops:
                node = node_def(flat, row, name, map(self._name, sources[row]))
                if names[row] in self.copies:  # counts with the first replica
                    del node.attr["shape"]
                self.ops[name] = WrittenOp(node, types.get(row, ()))
                if repeats[row] != 1:
                    self.repeats[name] = repeats[row]
            if name not in self.stacks or not self.stacks[name].frames:
                self.stacks[name] = stacks[row]

    def _note_shared(self, function: str, names: Iterable[str]) -> None:
        """Note a function that shares most op names with others, such as a validation step."""
        scoped = [name for name in names if "/" in name]
        if scoped and 2 * sum(name in self.ops for name in scoped) > len(scoped):
            self.shared.append(function)

    def _types(self, flat: Flat, sources: Sequence[Sequence[str]]) -> dict[int, tuple[str, ...]]:
        """The types of ops, by row."""
        names = list(flat.columns.name)
        slots = {name for name, role in self.variable_types.items() if role == OPTIMIZER_VARIABLE}
        updates = optimizer_ops.find(names, sources, slots, self.roles.optimizers)
        types: dict[int, tuple[str, ...]] = dict.fromkeys(updates, (OPTIMIZER_OP,))
        for row, name in enumerate(names):
            if TAPE_SCOPE in name:
                types[row] = (*types.get(row, ()), TAPE_GRADIENT)
        for row in flat.shape_arithmetic.tolist():
            types[row] = (*types.get(row, ()), SHAPE_ARITHMETIC)
        types |= dict.fromkeys(flat.walked, (WALKED_CALL,))
        for row, name in enumerate(names):
            if role := self.variable_types.get(name):
                types[row] = (role,)
        return types

    def _variables(self, function: str, graph: Graph) -> dict[str, Variable]:
        """The arguments of a graph that are variables, with labels until they can be named."""
        from tensorflow.python.ops import handle_data_util  # noqa: PLC0415 -- loads TensorFlow

        # Functions that use the same variable capture the same handle.
        handles = {inside.op.name: outside for outside, inside in graph.captures}
        found = {}
        for tensor in graph.inputs:
            name = tensor.op.name
            data = handle_data_util.get_resource_handle_data(tensor)
            if data is not None and data.is_set and len(data.shape_and_type) == 1:
                key = id(handles[name]) if name in handles else (function, name)
                label = self.labels.setdefault(key, f"{_LABEL}{len(self.labels)}")
                held = data.shape_and_type[0]
                self.variable_types[label] = self.roles.type_of(handles.get(name))
                if self.roles.is_copy(handles.get(name)):
                    self.copies.add(label)
                found[name] = Variable(label, held.dtype, held.shape)
        return found

    def _name_variables(
        self, flat: Flat, paths: Sequence[tuple[int, ...]], sources: Sequence[Sequence[str]]
    ) -> None:
        """Name new variables, each after the scope that reads it first."""
        names, kinds, calls = flat.columns.name, flat.columns.kind, set(flat.walked)
        new = [name for name in names if name.startswith(_LABEL) and name not in self.names]
        users: dict[str, list[int]] = {label: [] for label in new}
        for row, inputs in enumerate(sources):
            for label in users.keys() & inputs if row not in calls else ():
                users[label].append(row)

        def precedence(row: int) -> tuple[bool, bool, tuple[int, ...]]:
            return "/" not in names[row], kinds[row] != _READ, paths[row]

        taken = {*self.ops, *names}
        for label, rows in users.items():
            first = names[min(rows, key=precedence)] if rows else ""
            scope, slash, _ = first.rpartition("/")
            self.names[label] = free_name(f"{scope}{slash}variable", taken)

    def find_layers(self, models: UsedModels) -> FoundLayers:
        """The layers of the models that ran; none if Keras raises an error."""
        try:
            return models.describe({*self._read().values()})
        except Exception:  # noqa: BLE001 -- Keras may raise anything, and the rest is still useful
            return FoundLayers([], [], {}, {})

    def _read(self) -> dict[str, int]:
        """The variables that ops read, by name, with the identities of their handles."""
        keys = {key: label for key, label in self.labels.items() if isinstance(key, int)}
        return {self.names[label]: key for key, label in keys.items() if label in self.names}

    def place(self, found: FoundLayers, created: CreatedLayers) -> None:
        """Attribute each op to lines of code, now that all layers are known."""
        layers = LayerLines(found, created, list(self.ops))
        for name, op in self.ops.items():
            op.stack = self.stacks[name].placed(name, layers)

    def layers(self, found: FoundLayers) -> RecordedLayers:
        """These layers as they are recorded."""
        keys, read = self.labels.keys(), self._read()
        unread = [
            UnreadWeight(found.owner[key], weight.name, weight.shape, weight.is_trainable)
            for key, weight in found.weights.items()
            if key in found.owner and key not in keys
        ]
        return RecordedLayers(found.layers, found.owners(read), unread)

    def folded(self) -> Iterator[Note]:
        """A note on the lines of installed packages that are left out."""
        stacks = self.stacks.values()
        if lines := {frame for stack in stacks for frame in stack.folded}:
            ops = sum(stack.is_inside for stack in stacks)
            yield Note(folded_note(len(lines), ops), Subject.CODE)

    def notes(self) -> Iterator[Note]:
        """What the graph lacks."""
        if self.rebuilt:
            functions = ", ".join(f"`{name}`" for name in self.rebuilt[:3])
            text = f"variables and code lines of some functions are unknown ({functions})."
            yield Note(text, Subject.PARAMS | Subject.CODE)
        if self.shared:
            functions = ", ".join(f"`{name}`" for name in self.shared[:3])
            text = (
                f"ops of {functions} have the same names as those of a function that took longer, "
                "and are shown together with them: the numbers per step include their runs."
            )
            yield Note(text, Subject.TIME | Subject.MEMORY | Subject.FLOAT_OPS)
        for function, batches in self.batches.items():
            if len(batches) > 1:
                yield _batch_note(function, batches)

    def _name(self, name: str) -> str:
        """The name of an op; a label is replaced by the name of its variable."""
        return self.names.get(name, name)


def _repeats(flat: Flat, runs: Mapping[str, float]) -> list[int]:
    """How often each op runs; where the trip count is unknown, as often as ops of the same body.

    Ops that are fused with others do not appear in a recording, but others of the body do.
    """
    found: list[int] = flat.repeats.tolist()
    seen: dict[int, list[int]] = {}  # runs of the ops in each body, by the row of its call
    calls = flat.call.tolist()
    for name, call in zip(flat.columns.name, calls, strict=True):
        if call >= 0 and name in runs:
            seen.setdefault(call, []).append(max(round(runs[name]), 1))
    for row, call in enumerate(calls):
        if found[row] == UNKNOWN_REPEATS and call in seen:
            found[row] = most_frequent(Counter(seen[call]))
    return found


def _batch_note(function: str, batches: Counter[int]) -> Note:
    used = most_frequent(batches)
    sizes = ", ".join(f"{size} ({count}x)" for size, count in batches.most_common(3))
    text = (
        f"`{function}` ran with several batch sizes ({sizes}); float ops are counted for {used} "
        "examples."
    )
    return Note(text, Subject.FLOAT_OPS)
