"""The model of a trace: its modules, by attribute where the files of the model tell them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tfprof.columns import distinct_rows
from tfprof.model.between_files import ModuleNames
from tfprof.model.builder import Held
from tfprof.model.notes import FileNote, Subject
from tfprof.model.ops import Phase
from tfprof.sources.kineto.arguments import shapes_of
from tfprof.sources.kineto.attribute_paths import (
    AttributePaths,
    Called,
    Shape,
    matched,
    stated,
)
from tfprof.sources.kineto.host import Role
from tfprof.sources.kineto.interpreted import Interpreted
from tfprof.sources.kineto.python_calls import Instances
from tfprof.sources.kineto.scopes import attribute_paths, class_paths, stated_paths
from tfprof.units import counted


@dataclass(frozen=True, slots=True)
class Model:
    """The scopes of the modules, and the scope of the whole model if its parameters are known."""

    paths: list[str]
    root: str = ""
    unmatched: bool = False  # parameters are known, but the modules do not match them
    twins: int = 0  # modules that could be exchanged with another one
    known: Collection[int] = ()  # the instances that are known to be parts of the model
    momentary: Sequence[str] = ()  # classes of modules that were created anew in each step

    def notes(self, path: str) -> Iterator[FileNote]:
        """What a user has to know about the names of modules."""
        about = Subject.OPS | Subject.PARAMS
        if self.unmatched:
            yield FileNote(
                path,
                "the modules do not match the names and shapes of the parameters; they have the "
                "names of their classes.",
                about,
            )
        if self.twins:
            modules = counted(self.twins, "module has", "modules have")
            yield FileNote(
                path,
                f"{modules} the name of the class, because the parameters are listed by name and "
                "others beside them have the same shapes; a file of `torch.save` or a recording of "
                "tfprof.capture says which is which.",
                about,
            )
        if self.momentary:
            classes = ", ".join(sorted(set(self.momentary)))
            yield FileNote(
                path,
                f"modules that the program creates anew in each step count as one: {classes}.",
                Subject.OPS | Subject.TIME,
            )


def model_of(found: Interpreted, held: Sequence[Held], names: ModuleNames, path: str) -> Model:
    """The scopes of the modules of the trace at `path`.

    `held` are the known parameters, and `names` has the names of modules in other traces.
    """
    instances = found.calls.instances
    is_known = any(one.parameters or one.scopes for one in held)
    plain = Model(class_paths(instances, names), unmatched=is_known and len(instances) > 0)
    if not plain.unmatched:
        return plain
    if scopes := _recorded(instances, held, path):
        roots = Counter(scope.partition("/")[0] for scope in scopes.values())
        known = {row for row, name in enumerate(instances.name) if name in scopes}
        return Model(stated_paths(instances, scopes), roots.most_common(1)[0][0], known=known)
    paths = next((one for each in held if (one := stated(instances, each.calls))), None)
    if paths is None:
        parameters = {name: shape for each in held for name, shape in each.parameters.items()}
        paths = matched(_called(found), parameters)
    return plain if paths is None else _named(found, paths)


def _recorded(instances: Instances, held: Sequence[Held], path: str) -> Mapping[str, str]:
    """The scopes of modules that were recorded together with a trace, by their names in it."""
    here = Path(path).parent
    for one in sorted(held, key=lambda one: Path(one.path).parent != here):
        if one.scopes and one.scopes.keys() <= set(instances.name):
            return one.scopes
    return {}


def _named(found: Interpreted, paths: AttributePaths) -> Model:
    names = attribute_paths(found.calls.instances, paths)
    known = {row for row, place in enumerate(paths.path) if place is not None}
    return Model(names, names[paths.root], twins=paths.twins, known=known)


def _called(found: Interpreted) -> Called:
    """The modules, and the shapes of the inputs of their ops in the forward pass."""
    slices, host, owner = found.trace.slices, found.host, found.belonging
    rows = host.rows(Role.OP)
    rows = rows[(owner.instance[rows] >= 0) & (owner.phase[rows] == Phase.FORWARD)]
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
