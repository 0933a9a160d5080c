"""The scopes of ops: the paths of modules, and names for what is outside of modules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tfprof.columns import Ints, distinct_rows, ints
from tfprof.formats.kineto.columns import Slices
from tfprof.model.between_files import ModuleNames
from tfprof.model.ops import Phase
from tfprof.sources.kineto.belonging import Belonging
from tfprof.sources.kineto.host import LOADER, OPTIMIZER, Host
from tfprof.sources.kineto.python_calls import Instances
from tfprof.sources.module_places import paths_of

OUTSIDE = "outside_modules"
_OPTIMIZER_SCOPE = "optimizer"
_REST = {
    Phase.BACKWARD: "backward",
    Phase.INPUT: "data_loading",
    Phase.COMMUNICATION: "communication",
}


def part(text: str) -> str:
    """A text as one part of the name of an op, in which a slash would begin another scope."""
    return text.replace("/", "|") or "_"


def class_paths(instances: Instances, names: ModuleNames) -> list[str]:
    """The path of each module by class: `GPT/Block_0/Linear_1`.

    The number is that of the first trace with the module; it is left out if the class has one
    instance there.
    """
    places = _joined(_by_position(instances), instances)
    own = [
        names.name(place.rpartition("/")[0], place, kind, proposed)
        for place, kind, proposed in zip(
            places, map(part, instances.class_name), _own_names(instances), strict=True
        )
    ]
    return _joined(own, instances)


def _by_position(instances: Instances) -> list[str]:
    """The class of each module, and its position among those of the class with the same caller."""
    before = Counter[tuple[int, str]]()
    found = []
    for caller, kind in zip(instances.parent, instances.class_name, strict=True):
        found.append(f"{part(kind)}#{before[caller, kind]}")
        before[caller, kind] += 1
    return found


def kinds_of_modules(instances: Instances) -> frozenset[str]:
    """The paths of modules by class, without numbers: `GPT/Block/Linear`."""
    return frozenset(_joined(list(map(part, instances.class_name)), instances))


def attribute_paths(instances: Instances, held: Mapping[str, Sequence[str]]) -> list[str]:
    """The path of each module by attribute: `GPT/blocks/0/attn`; by class where it is unknown.

    `held` has the paths of modules by name, as in `module_places.paths_of`.
    """
    known = {row: held[name] for row, name in enumerate(instances.name) if name in held}
    return paths_of(instances.module, instances.parent, _own_names(instances), known)


def _own_names(instances: Instances) -> list[str]:
    rows = [row for row, first in enumerate(instances.module) if row == first]
    counts = Counter(instances.class_name[row] for row in rows)
    names = zip(instances.name, instances.class_name, strict=True)
    return [part(kind if counts[kind] == 1 else name) for name, kind in names]


def _joined(own: Sequence[str], instances: Instances) -> list[str]:
    """The path of each module below that of its caller."""
    return paths_of(instances.module, instances.parent, own, {})


@dataclass(frozen=True, slots=True, eq=False)
class Scopes:
    """The scope of each module, and those of ops outside of modules, in order of first use."""

    of_instance: Sequence[str]
    groups: Sequence[str] = ()  # the titles of process groups
    rest: dict[str, int] = field(default_factory=dict)

    def text(self, instance: int, rest: int) -> str:
        """The scope of an op; empty for none."""
        return self.of_instance[instance] if instance >= 0 else list(self.rest)[rest]

    def rest_of(self, slices: Slices, host: Host, belonging: Belonging, rows: Ints) -> Ints:
        """The scope of each of `rows`, as if it were outside of modules: a place in `rest`."""
        deciding = belonging.annotation[rows]
        name = np.where(deciding >= 0, slices.name.codes[host.slice[deciding]], -1)
        chain = belonging.annotations.of_row[rows]
        group = belonging.group[rows]
        distinct, place = distinct_rows((belonging.phase[rows], name, chain, group))
        texts = [self._rest(slices, belonging, *key) for key in distinct.tolist()]
        codes = [self.rest.setdefault(text, len(self.rest)) for text in texts]
        return ints(codes)[place]

    def _rest(  # noqa: PLR0917 -- what distinguishes ops
        self, slices: Slices, belonging: Belonging, phase: int, name: int, chain: int, group: int
    ) -> str:
        """The scope of ops of a phase outside of modules.

        `name` is that of the annotation that decides the phase, `chain` those of the others, and
        `group` the process group of a collective.
        """
        if phase == Phase.COMMUNICATION and group >= 0 and self.groups[group]:
            return f"{_REST[Phase.COMMUNICATION]}/{part(self.groups[group])}"
        decides = slices.name.values[name] if name >= 0 else ""
        if decides.startswith(OPTIMIZER):
            return f"{_OPTIMIZER_SCOPE}/{part(decides.partition('#')[2])}"
        if phase in _REST and (not decides or decides.startswith(LOADER)):
            return _REST[Phase(phase)]
        parts = []
        while chain >= 0:
            label = int(belonging.annotations.label[chain])
            parts.append(part(slices.name.values[label]))
            chain = int(belonging.annotations.above[chain])
        return "/".join(reversed(parts)) or (OUTSIDE if self.of_instance else "")
