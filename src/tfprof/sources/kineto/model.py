"""The model of a trace: its modules, by attribute where the files of the model tell them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np

from tfprof.columns import distinct_rows
from tfprof.model.between_files import ModuleNames
from tfprof.model.builder import Held
from tfprof.model.notes import FileNote, Subject
from tfprof.model.ops import Phase
from tfprof.sources.kineto.arguments import shapes_of
from tfprof.sources.kineto.attribute_paths import (
    AttributePaths,
    matched,
    matched_without_unused,
    stated,
)
from tfprof.sources.kineto.attribute_tree import Path as AttributePath
from tfprof.sources.kineto.attribute_tree import Shape
from tfprof.sources.kineto.host import Role
from tfprof.sources.kineto.interpreted import Interpreted
from tfprof.sources.kineto.module_calls import Called
from tfprof.sources.kineto.python_calls import Instances
from tfprof.sources.kineto.scopes import attribute_paths, class_paths, part
from tfprof.units import counted

_MOST_LISTED = 3
_BY_MODULE = Subject.OPS | Subject.PARAMS | Subject.FLOAT_OPS | Subject.TIME | Subject.MEMORY


@dataclass(frozen=True, slots=True)
class Model:
    """The scopes of the modules, and the scope of the whole model if its parameters are known."""

    paths: list[str]
    homes: list[str]  # the scope of each module where its parameters are
    root: str = ""
    unmatched: bool = False  # parameters are known, but the modules do not match them
    twins: int = 0  # modules that could be exchanged with another one
    in_order: int = 0  # modules that only the order of the calls tells apart
    unused: Sequence[AttributePath] = ()  # parts and parameters that seem unused
    known: Collection[int] = ()  # the instances that are known to be parts of the model
    momentary: Sequence[str] = ()  # classes of modules that were created anew in each step

    def notes(self, path: str) -> Iterator[FileNote]:
        """What a user has to know about the names of modules."""
        for text in self._uncertain_names():
            yield FileNote(path, text, _BY_MODULE)
        if self.momentary:
            classes = ", ".join(sorted(set(self.momentary)))
            yield FileNote(
                path,
                f"modules that the program creates anew in each step count as one: {classes}.",
                Subject.OPS | Subject.TIME,
            )

    def _uncertain_names(self) -> Iterator[str]:
        if self.unmatched:
            yield (
                "the modules do not match the names and shapes of the parameters; they have the "
                "names of their classes; a recording of tfprof.capture has those of attributes."
            )
        if self.twins:
            modules = counted(self.twins, "module has", "modules have")
            yield (
                f"{modules} the name of the class, because the parameters of others have the same "
                "shapes; a recording of tfprof.capture says which is which."
            )
        if self.in_order:
            modules = counted(self.in_order, "module has parameters", "modules have parameters")
            yield (
                f"{modules} of the same shapes as others beside them; their names assume that they "
                "were called in the order of their numbers, or of their definition."
            )
        if self.unused:
            parts = counted(len(self.unused), "part of the model seems", "parts of the model seem")
            names = ", ".join(".".join(one) for one in self.unused[:_MOST_LISTED])
            more = len(self.unused) - _MOST_LISTED
            names += f" and {more:,} more" if more > 0 else ""
            yield f"{parts} unused, because no op takes parameters of these shapes: {names}."


def model_of(found: Interpreted, held: Sequence[Held], names: ModuleNames, path: str) -> Model:
    """The scopes of the modules of the trace at `path`.

    `held` are the known parameters, and `names` has the names of modules in other traces.
    """
    instances = found.calls.instances
    is_known = any(one.parameters or one.scopes for one in held)
    paths = class_paths(instances, names)
    homes = [paths[row] for row in instances.module]
    plain = Model(paths, homes, unmatched=is_known and len(instances) > 0)
    if not plain.unmatched:
        return plain
    if held_paths := _recorded(instances, held, path):
        roots = Counter(paths[0].partition("/")[0] for paths in held_paths.values())
        return _named(instances, held_paths, roots.most_common(1)[0][0])
    found_paths = _stated(instances, held) or _matched(found, held)
    return plain if found_paths is None else _by_attribute(instances, *found_paths)


def _stated(instances: Instances, held: Sequence[Held]) -> tuple[Instances, AttributePaths] | None:
    """The modules with the paths that a file states in the order of the calls."""
    for rows, one in product((instances, instances.once), held):
        if paths := stated(rows, one.calls):
            return rows, paths
    return None


def _matched(found: Interpreted, held: Sequence[Held]) -> tuple[Instances, AttributePaths] | None:
    """The modules with the paths of those that have the known parameters."""
    parameters = {name: shape for each in held for name, shape in each.parameters.items()}
    shared = {name for each in held for name in each.shared}
    distinct = {name: shape for name, shape in parameters.items() if name not in shared}
    is_in_order = all(each.is_in_order for each in held)
    # Ops inside of others have inputs that no module has, such as transposed weights.
    for match, is_outermost in product((matched, matched_without_unused), (True, False)):
        modules = called(found, is_outermost=is_outermost)
        # Files with all names of a shared parameter have those of each module that has it.
        ways = [(modules, parameters), (modules.once, distinct)]
        if not shared:
            ways = ways[::-1] if ways[1][0] is not modules else ways[:1]
        for rows, known in ways:
            if paths := match(rows, known, is_in_order=is_in_order):
                return rows.instances, paths
    return None


def _recorded(instances: Instances, held: Sequence[Held], path: str) -> Mapping[str, Sequence[str]]:
    """The scopes of modules that were recorded together with a trace, by their names in it."""
    here = Path(path).parent
    for one in sorted(held, key=lambda one: Path(one.path).parent != here):
        if one.scopes and one.scopes.keys() <= set(instances.name):
            return one.scopes
    return {}


def _by_attribute(instances: Instances, rows: Instances, paths: AttributePaths) -> Model:
    """The model of a trace with paths for some of its modules, or some of the calls of these."""
    root = part(rows.class_name[paths.root])
    held: dict[str, list[str]] = {}
    for name, path in zip(rows.name, paths.path, strict=True):
        if path is not None:
            held.setdefault(name, []).append("/".join((root, *map(part, path))))
    return replace(
        _named(instances, held, root),
        twins=paths.twins,
        in_order=paths.in_order,
        unused=paths.unused,
    )


def _named(instances: Instances, held: Mapping[str, Sequence[str]], root: str) -> Model:
    known = {row for row, name in enumerate(instances.name) if name in held}
    paths = attribute_paths(instances, held)
    homes = [
        held[name][0] if name in held else paths[row]
        for name, row in zip(instances.name, instances.module, strict=True)
    ]
    return Model(paths, homes, root, known=known)


def called(found: Interpreted, *, is_outermost: bool) -> Called:
    """The modules, and the shapes of the inputs of their ops in the forward pass.

    The outermost ops are those that a module calls itself.
    """
    slices, host, owner = found.trace.slices, found.host, found.belonging
    rows = host.rows(Role.OP)
    rows = rows[(owner.instance[rows] >= 0) & (owner.phase[rows] == Phase.FORWARD)]
    if is_outermost:
        around = np.append(owner.instance, -1)[host.in_op[rows]]
        rows = rows[around != owner.instance[rows]]
    event = host.slice[rows]
    keys, _ = distinct_rows(
        (owner.instance[rows], slices.input_dims.codes[event], slices.input_types.codes[event])
    )
    inputs: list[list[Counter[Shape]]] = [[] for _ in range(len(found.calls.instances))]
    for instance, dims, types in keys.tolist():
        shapes = Counter(shape for shape in shapes_of(slices, dims, types) if shape)
        if shapes:
            inputs[instance].append(shapes)
    return Called(found.calls.instances, inputs)
