"""What a checkpoint of PyTorch contains: the tensors of a model, and those of its optimizer.

A checkpoint is a table of tensors (a state dict), a whole module, or a table with one or more of
them beside the state of the optimizer and other things.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Final

from tfprof.errors import InputError
from tfprof.formats.inert_pickle import Made, Persistent, PickleError, Symbol
from tfprof.formats.torch_checkpoint import SavedObject
from tfprof.formats.torch_tensors import is_unknown_tensor, maker_of, shape_of, tensor_of
from tfprof.formats.weights import StoredWeight, StoredWeights, is_trained_type, is_weight_type
from tfprof.units import counted

_DEEPEST: Final = 24  # modules in modules, and tables in tables
_MOST_NAMED: Final = 4

# Keys in the files of DeepSpeed's ZeRO: the shapes of tensors that are distributed over ranks, and
# one that is in the parts of them that a rank has, which are flat and without names.
_ZERO_SHAPES: Final = "param_shapes"
_ZERO_OPTIMIZER: Final = "zero_stage"

# The names of further copies of a model: averages, the best one so far, a teacher of the model.
_COPY: Final = re.compile(
    r"ema|average|avg|shadow|swa|best|teacher|target|momentum|copy|old|prev|reference",
    re.IGNORECASE,
)


@dataclass(slots=True, eq=False)
class _Part:
    """A part of a checkpoint that has the tensors of a model."""

    key: str  # where it is in the checkpoint, empty for the checkpoint itself
    tensors: dict[str, StoredWeight] = field(default_factory=dict)
    buffers: set[str] | None = None  # the names of those that are not parameters, if known
    classes: dict[str, str] = field(default_factory=dict)

    @property
    def is_model(self) -> bool:
        """Whether it has weights, and not only scalars and integers such as random states."""
        return any(one.shape and is_weight_type(one.dtype) for one in self.tensors.values())

    @property
    def is_named_copy(self) -> bool:
        """Whether its name is one of copies."""
        return _COPY.search(self.key) is not None

    def shapes(self) -> Counter[tuple[int, ...]]:
        """How many tensors of each shape it has, without scalars, such as numbers of updates."""
        return Counter(one.shape for one in self.tensors.values() if one.shape)


def weights_of(path: str, saved: SavedObject) -> StoredWeights:
    """The tensors of the model in a checkpoint; raises `InputError` if there are none."""
    try:
        finder = _Finder(saved)
        finder.search(saved.root, "", 0)
        found = _chosen(finder)
    except PickleError as error:
        raise InputError(path, f"{error}; save it again or fetch it again.") from None
    if not found.weights:
        raise InputError(
            path,
            "contains no tensors of a model; give a file to which torch.save wrote a model or its "
            "state_dict().",
        )
    return found


class _Finder:
    """Searches the parts of a checkpoint; every value is visited once."""

    def __init__(self, saved: SavedObject) -> None:
        self.parts: list[_Part] = []
        self.optimizers: list[tuple[str, Mapping[Any, object]]] = []
        self.loose: list[str] = []  # tensors beside the parts
        self.unknown: dict[int, Made] = {}  # tensors that cannot be read, by identity
        self._stated: dict[str, tuple[int, ...]] = {}  # shapes of tensors that are elsewhere
        self._place_of = saved.place_of
        self._seen: set[int] = set()

    def search(self, value: object, key: str, depth: int) -> None:
        """Find the parts in `value`, which is at `key` in the checkpoint."""
        if depth > _DEEPEST or not self._is_new(value):
            return
        if self.tensor(value) is not None:
            self.loose.append(key)
            return
        if isinstance(value, Made) and _items(value) is None:
            part = _Part(key)
            self._add_module(part, value, "", 0)
            if part.tensors:
                self.parts.append(part)
            return
        items = _items(value)
        if items is None or _ZERO_OPTIMIZER in items:
            return
        if "state" in items and "param_groups" in items:
            self.optimizers.append((key, items))
            return
        self._search_table(items, key, depth)

    def _search_table(self, items: Mapping[Any, object], key: str, depth: int) -> None:
        self._stated |= _stated_shapes(items)
        before = len(self.parts)
        own = {str(name): one for name, one in items.items() if self.tensor(one) is not None}
        for name, one in items.items():
            if str(name) not in own:
                self.search(one, _joined(key, name), depth + 1)
        # A table of tensors may contain others besides; then it is the larger one that counts.
        most = max((len(part.tensors) for part in self.parts[before:]), default=0)
        if own and len(own) > most:
            self.parts.insert(before, _Part(key, dict(self._named(own))))
        else:
            self.loose += [_joined(key, name) for name in own]

    def tensor(self, value: object) -> StoredWeight | None:
        """The tensor that a value is, or None; tensors of unknown kinds are remembered."""
        if not isinstance(value, Made):
            return None
        found = tensor_of(value, self._place_of)
        if found is None and is_unknown_tensor(value):
            self.unknown[id(value)] = value
        return found

    def _named(
        self, tensors: Mapping[str, object], above: str = ""
    ) -> Iterator[tuple[str, StoredWeight]]:
        for name, value in tensors.items():
            tensor = self.tensor(value)
            if tensor is not None:
                path = _joined(above, name)
                shape = tensor.shape if tensor.size else self._stated.get(path, tensor.shape)
                place = tensor.place if shape == tensor.shape else None
                yield path, replace(tensor, name=path, shape=shape, place=place)

    def _add_module(self, part: _Part, module: Made, path: str, depth: int) -> None:
        """Add the tensors of a module and of those in it.

        Modules have tables of their parameters, buffers and modules; those of TorchScript have
        them as attributes.
        """
        state = module.state if isinstance(module.state, dict) else {}
        kind = _class_of(module)
        if kind and (state or not path):
            part.classes[path] = kind
        parameters, buffers = (_items(state.get(key)) for key in ("_parameters", "_buffers"))
        if parameters is None and buffers is None:
            inner: Mapping[Any, object] = state
            part.tensors.update(self._named({str(key): one for key, one in state.items()}, path))
        else:
            part.buffers = part.buffers if part.buffers is not None else set()
            part.tensors.update(self._named(_texts(parameters), path))
            found = dict(self._named(_texts(buffers), path))
            part.tensors.update(found)
            part.buffers |= found.keys()
            inner = _items(state.get("_modules")) or {}
        for name, one in inner.items():
            if isinstance(one, Made) and depth < _DEEPEST and self._is_new(one):
                self._add_module(part, one, _joined(path, name), depth + 1)

    def _is_new(self, value: object) -> bool:
        if id(value) in self._seen:
            return False
        if isinstance(value, Made | dict | list | tuple):
            self._seen.add(id(value))
        return True


def _items(value: object) -> Mapping[Any, object] | None:
    """The entries of a table or a list, or None for anything else."""
    match value:
        case dict():
            return value
        case list() | tuple() if not isinstance(value, Symbol | Persistent):
            return dict(enumerate(value))
        case Made(Symbol(_, name), _) if name in ("OrderedDict", "defaultdict") or value.items:
            return value.items
    return None


def _stated_shapes(items: Mapping[Any, object]) -> dict[str, tuple[int, ...]]:
    """The shapes by name that a checkpoint of DeepSpeed has for tensors in the files of ranks."""
    tables = [_items(one) or {} for one in _values(items.get(_ZERO_SHAPES))]
    pairs = ((str(name), shape_of(one)) for table in tables for name, one in table.items())
    return {name: shape for name, shape in pairs if shape is not None}


def _texts(items: Mapping[Any, object] | None) -> dict[str, object]:
    return {str(key): value for key, value in (items or {}).items()}


def _class_of(made: Made) -> str:
    """The name of the class of an object, if it is one."""
    maker = made.maker
    if isinstance(maker, Symbol) and maker.module.startswith("copy_reg"):
        maker = made.args[0] if isinstance(made.args, tuple) and made.args else None
    match maker:
        case Symbol(_, name) | Persistent(("module", Symbol(_, name), *_)):
            return name.rpartition(".")[2]
    return ""


def _joined(path: str, name: object) -> str:
    text = name if isinstance(name, str) else str(name) if isinstance(name, int) else "_"
    return f"{path}.{text}" if path else text


def _chosen(finder: _Finder) -> StoredWeights:
    """The model: all parts that are not copies of others; one part alone needs no name."""
    parts, copies = list[_Part](), list[str]()
    most = Counter[tuple[int, ...]]()  # the most tensors of each shape that a part has
    has_model = any(part.is_model for part in finder.parts)
    for part in sorted(finder.parts, key=lambda part: part.is_named_copy):
        shapes = part.shapes()
        if has_model and not part.is_model:
            finder.loose += [_joined(part.key, name) for name in part.tensors]
        # The names of tensors may differ: averages have them below `module`, or only in a list.
        elif parts and part.is_named_copy and all(most[one] >= shapes[one] for one in shapes):
            copies.append(part.key)
        else:
            parts.append(part)
            most.update(
                {one: count - most[one] for one, count in shapes.items() if count > most[one]}
            )
    weights: list[StoredWeight] = []
    buffers, classes = set[str](), dict[str, str]()
    for part in parts:
        start = "" if len(parts) == 1 else part.key
        names = {name: _joined(start, name) for name in part.tensors}
        weights += [replace(one, name=names[name]) for name, one in part.tensors.items()]
        buffers |= {names[name] for name in part.buffers or ()}
        classes |= {
            _joined(start, path) if path else start: kind for path, kind in part.classes.items()
        }
    is_stated = all(part.buffers is not None for part in parts)
    return StoredWeights(
        weights,
        [slot for state in finder.optimizers for slot in _slots(finder, *state, weights)],
        frozenset(buffers) if is_stated else None,
        classes,
        list(_notes(parts, copies, finder)),
    )


def _notes(parts: Sequence[_Part], copies: Sequence[str], finder: _Finder) -> Iterator[str]:
    keys = [part.key for part in parts if part.key]
    if keys:
        yield f"is a checkpoint; its parameters are those of {_listed(keys)}."
    if copies:
        yield f"contains copies of them, which are not counted: {_listed(copies)}."
    if finder.unknown:
        names = sorted({maker_of(one) for one in finder.unknown.values()})
        count = counted(len(finder.unknown), "tensor")
        kinds = "an unknown kind" if len(names) == 1 else "unknown kinds"
        yield f"contains {count} of {kinds}, not counted as parameters: {_listed(names)}."
    if finder.loose and parts:
        yield f"contains other tensors, which are not counted: {_listed(finder.loose)}."


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(f"`{name}`" for name in islice(names, _MOST_NAMED))
    more = len(names) - _MOST_NAMED
    return f"{shown} and {more:,} more" if more > 0 else shown


def _slots(
    finder: _Finder, key: str, optimizer: Mapping[Any, object], weights: Sequence[StoredWeight]
) -> Iterator[StoredWeight]:
    """The tensors that an optimizer keeps for each parameter, such as its moments.

    Parameters have numbers in it, in the order in which the optimizer got them.
    """
    kept = {
        (str(number), str(name)): tensor
        for number, state in (_items(optimizer["state"]) or {}).items()
        for name, one in (_items(state) or {}).items()
        if (tensor := finder.tensor(one)) is not None
    }
    names = _parameter_names(optimizer, kept, weights)
    for (number, name), tensor in kept.items():
        path = f"{key or 'optimizer'}.{name}.{names.get(number, number)}"
        yield replace(tensor, name=path)


def _parameter_names(
    optimizer: Mapping[Any, object],
    kept: Mapping[tuple[str, str], StoredWeight],
    weights: Sequence[StoredWeight],
) -> dict[str, str]:
    """The name of the parameter of each number; empty if the sizes do not fit to the model's."""
    groups = [_items(group) or {} for group in _values(optimizer["param_groups"])]
    numbers = [str(number) for group in groups for number in _values(group.get("params"))]
    stated = [name for group in groups for name in _values(group.get("param_names"))]
    if len(stated) == len(numbers):
        return {number: str(name) for number, name in zip(numbers, stated, strict=True)}
    sizes = dict[str, int]()  # of the largest tensor that is kept for each parameter
    for (number, _), tensor in kept.items():
        sizes[number] = max(sizes.get(number, 0), tensor.size)
    own = [one for one in _first_of_each(weights) if is_trained_type(one.dtype)]
    for candidates in (own, [one for one in own if not _is_statistic(one.name)]):
        fits = len(candidates) == len(numbers) and all(
            sizes.get(number, 0) <= one.size
            for number, one in zip(numbers, candidates, strict=True)
        )
        if fits:
            return {number: one.name for number, one in zip(numbers, candidates, strict=True)}
    return {}


def _values(value: object) -> Iterable[object]:
    return (_items(value) or {}).values()


def _first_of_each(weights: Sequence[StoredWeight]) -> list[StoredWeight]:
    """The tensors without those that are another one."""
    found: dict[object, StoredWeight] = {}
    for one in weights:
        found.setdefault((one.place, one.shape) if one.place else one.name, one)
    return list(found.values())


def _is_statistic(name: str) -> bool:
    return name.rpartition(".")[2] in ("running_mean", "running_var")
