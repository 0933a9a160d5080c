"""The file `modules.json` of a recording, which `tfprof.capture` writes for PyTorch programs.

It has the modules that ran by attribute, with their names in the trace beside it, their parameters
and buffers, the tensors that optimizers keep, and what the trace lacks about its events: the lines
of calls, long lists of shapes, and modules whose names in the trace are those of others.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from tfprof.columns import ints
from tfprof.errors import InputError, one_line
from tfprof.formats.weights import StoredWeight, is_shape
from tfprof.model.between_files import BesideTrace, ByStart, HeldTensor, TensorPlace
from tfprof.model.builder import OpColumns, ProfileBuilder
from tfprof.model.code import Frame
from tfprof.model.executions import Purpose
from tfprof.model.notes import names_of, of_names
from tfprof.model.ops import OPTIMIZER_VARIABLE
from tfprof.sources.source import FileSummary, InputFile, summary
from tfprof.sources.torch_modules import FreeNames, add_modules, scope_of
from tfprof.sources.torch_weights import define_weights

FORMAT = "tfprof modules"
VERSION = 1
_LARGEST = 1 << 28
_LATEST = 1 << 62  # nanoseconds
_MOST_LINES = 1 << 31
_MOST_ADDRESS = 1 << 64
_LARGEST_STORAGE = 1 << 62
_DAMAGE = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


class RecordedModule(NamedTuple):
    """A module: the model that it belongs to, its path there, its class and its name in the trace.

    The name is empty if it was not called, and `is_deleted` says whether the program deleted it.
    `others` are paths of other attributes that have the same module.
    """

    model: str
    path: str
    kind: str
    trace_name: str = ""
    is_deleted: bool = False
    others: tuple[str, ...] = ()


class RecordedWeight(NamedTuple):
    """A parameter or buffer of a module."""

    model: str
    path: str
    shape: tuple[int, ...]
    dtype: str
    is_parameter: bool
    is_trained: bool
    same_as: int = -1  # the row of the weight that is the same tensor, if that comes before
    place: TensorPlace = TensorPlace()


class RecordedSlot(NamedTuple):
    """A tensor that an optimizer keeps for a parameter, such as `exp_avg`."""

    model: str
    path: str  # of the parameter
    name: str
    shape: tuple[int, ...]
    dtype: str
    place: TensorPlace = TensorPlace()


class StatedFacts(NamedTuple):
    """Facts about events of the trace, which are known by their starts, ascending."""

    values: Sequence[Any] = ()
    start_ns: Sequence[int] = ()
    place: Sequence[int] = ()  # in `values`


class RecordedModules(NamedTuple):
    """What was noted about the modules of a program, and about its calls and ops."""

    modules: Sequence[RecordedModule] = ()
    weights: Sequence[RecordedWeight] = ()
    slots: Sequence[RecordedSlot] = ()
    notes: Sequence[str] = ()
    lines: StatedFacts = StatedFacts()  # file, line and function that made a call
    inputs: StatedFacts = StatedFacts()  # shapes and numbers of an op, as JSON
    names: StatedFacts = StatedFacts()  # of modules, where the trace has that of another one
    usual_step_ns: int = 0  # how long a step took that was not recorded, 0 if unknown


def encoded(found: RecordedModules) -> bytes:
    """The content of the file."""
    content = {
        "format": FORMAT,
        "version": VERSION,
        "modules": [one._asdict() for one in found.modules],
        "weights": [one._asdict() for one in found.weights],
        "slots": [one._asdict() for one in found.slots],
        "notes": [{"text": note, "about": names_of(note)} for note in found.notes],
        "lines": found.lines._asdict(),
        "inputs": found.inputs._asdict(),
        "names": found.names._asdict(),
        "usual_step_ns": found.usual_step_ns,
    }
    return json.dumps(content).encode()


def read(file: InputFile) -> RecordedModules:
    """The modules in the file."""
    data = file.content.read(_LARGEST)[0]
    try:
        content = json.loads(data)
        if content["version"] > VERSION:
            raise InputError(file.path, "is from a later version: upgrade tfprof.")
        return RecordedModules(
            [_module(**one) for one in content["modules"]],
            [_weight(row, one) for row, one in enumerate(content["weights"])],
            [_slot(one) for one in content["slots"]],
            [of_names(str(one["text"]), str(one["about"])) for one in content["notes"]],
            _stated(_line, **content.get("lines", {})),
            _stated(_input, **content.get("inputs", {})),
            _stated(_text, **content.get("names", {})),
            _nanos(content.get("usual_step_ns", 0)),
        )
    except _DAMAGE as error:
        trouble = one_line(str(error) or type(error).__name__)
        raise InputError(file.path, f"is damaged: {trouble}; record again.") from None


def _module(  # noqa: PLR0917 -- the keys of a module
    model: Any,
    path: Any,
    kind: Any,
    trace_name: Any,
    is_deleted: Any = False,
    others: Any = (),
) -> RecordedModule:
    texts = _text(model), _text(path), _text(kind), _text(trace_name)
    return RecordedModule(*texts, bool(is_deleted), tuple(map(_text, others)))


def _weight(row: int, one: Mapping[str, Any]) -> RecordedWeight:
    if type(one["same_as"]) is not int or not -1 <= one["same_as"] < row:
        raise ValueError("it refers to a parameter that is missing")
    return RecordedWeight(
        _text(one["model"]),
        _text(one["path"]),
        _shape(one["shape"]),
        _text(one["dtype"]),
        bool(one["is_parameter"]),
        bool(one["is_trained"]),
        one["same_as"],
        _place(*one.get("place", ())),
    )


def _place(device: Any = "", storage: Any = 0, size: Any = 0) -> TensorPlace:
    _require_below(_LARGEST_STORAGE, [size])
    _require_below(_MOST_ADDRESS, [storage])
    return TensorPlace(_text(device), storage, size)


def _slot(one: Mapping[str, Any]) -> RecordedSlot:
    return RecordedSlot(
        _text(one["model"]),
        _text(one["path"]),
        _text(one["name"]),
        _shape(one["shape"]),
        _text(one["dtype"]),
        _place(*one.get("place", ())),
    )


def _stated(
    value: Callable[[Any], Any], values: Any = (), start_ns: Any = (), place: Any = ()
) -> StatedFacts:
    found = [value(one) for one in values]
    _require_below(_LATEST, start_ns)
    _require_below(len(found), place)
    if len(start_ns) != len(place) or list(start_ns) != sorted(start_ns):
        raise ValueError("its facts about events are not complete")
    return StatedFacts(found, start_ns, place)


def _line(value: Any) -> tuple[str, int, str]:
    file, line, function = value
    _require_below(_MOST_LINES, [line])
    return _text(file), line, _text(function)


def _input(value: Any) -> tuple[str, str]:
    shapes, numbers = value
    return _text(shapes), _text(numbers)


def _nanos(value: Any) -> int:
    _require_below(_LATEST, [value])
    return int(value)


def _require_below(limit: int, numbers: Any) -> None:
    if not all(type(number) is int and 0 <= number < limit for number in numbers):
        raise ValueError("a number of an event is impossible")


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("a name is not a text")
    return value


def _shape(value: Any) -> tuple[int, ...]:
    if not is_shape(value):
        raise ValueError("a shape is impossible")
    return tuple(value)


def add(found: RecordedModules, builder: ProfileBuilder, file: InputFile) -> FileSummary:
    """Hold the modules for the trace beside the file, which has the ops."""
    builder.held.append(HeldModules(file.path, found))
    builder.between.beside[str(Path(file.path).parent)] = _beside(found)
    builder.notes += [note for note in found.notes if note not in builder.notes]
    return summary(file, modules=len(found.modules), tensors=len(found.weights))


def _beside(found: RecordedModules) -> BesideTrace:
    places: Sequence[tuple[str, int, str]] = found.lines.values
    frames = [Frame(file, line, function, "", -1) for file, line, function in places]
    return BesideTrace(
        _by_start(found.lines._replace(values=frames)),
        _by_start(found.inputs),
        _by_start(found.names),
        found.usual_step_ns,
        list(_tensors(found)),
        frozenset(one.trace_name for one in _momentary(found)),
    )


def _momentary(found: RecordedModules) -> set[RecordedModule]:
    """The modules that were deleted and had no submodules and no tensors, such as losses."""
    sizes = Counter(one.model for one in found.modules)
    sizes.update(one.model for one in found.weights)
    return {one for one in found.modules if one.is_deleted and sizes[one.model] == 1}


def _tensors(found: RecordedModules) -> Iterator[HeldTensor]:
    """The tensors of models and optimizers of which it is known where they are."""
    names = _names(found)
    for name, weight in zip(names.weights, found.weights, strict=True):
        if weight.place.storage and weight.same_as < 0:
            purpose = Purpose.PARAMETERS if weight.is_parameter else Purpose.EARLIER
            yield HeldTensor(name, weight.place, purpose)
    for name, slot in zip(names.slots, found.slots, strict=True):
        if slot.place.storage:
            yield HeldTensor(name, slot.place, Purpose.OPTIMIZER_STATE)


class _Names(NamedTuple):
    """The names of the ops that stand for the tensors."""

    weights: list[str]
    slots: list[str]


def _names(found: RecordedModules) -> _Names:
    free = FreeNames()
    weights = [free.take("", scope_of(one.path, one.model)) for one in found.weights]
    kept = [(f"optimizer.{one.name}.{one.path}", one.model) for one in found.slots]
    return _Names(weights, [free.take("", scope_of(path, model)) for path, model in kept])


def _by_start(found: StatedFacts) -> ByStart[Any]:
    return ByStart(found.values, ints(found.start_ns), ints(found.place))


@dataclass(frozen=True, slots=True, eq=False)
class HeldModules:
    """The modules of a file, by their names in the trace that was recorded with it."""

    path: str
    found: RecordedModules
    calls: Sequence[tuple[str, str]] = ()  # `scopes` is more precise
    is_in_order: bool = True

    @property
    def shared(self) -> list[str]:
        """The parameters that are the same tensor as an earlier one."""
        return [one.path for one in self.found.weights if one.same_as >= 0]

    @property
    def parameters(self) -> Mapping[str, tuple[int, ...]]:
        """The shapes of the tensors, if they belong to one model."""
        is_one = len({one.model for one in self.found.weights}) == 1
        return {one.path: one.shape for one in self.found.weights} if is_one else {}

    @property
    def scopes(self) -> Mapping[str, Sequence[str]]:
        """The scopes of each module that was called, by its name in the trace.

        A loss that was created for one call is left out: its scope is that of the caller.
        """
        return {
            one.trace_name: [scope_of(path, one.model) for path in (one.path, *one.others)]
            for one in self._parts
            if one.trace_name
        }

    @property
    def _parts(self) -> list[RecordedModule]:
        """The modules that belong to a model."""
        momentary = _momentary(self.found)
        return [one for one in self.found.modules if one not in momentary]

    def define(self, builder: ProfileBuilder, root: str) -> None:  # noqa: ARG002 -- it is stated
        """Define an op for each tensor, and a layer for each module."""
        found = self.found
        names, slots = _names(found)
        define_weights(
            names,
            [
                StoredWeight(one.path, one.dtype, one.shape, is_frozen=not one.is_trained)
                for one in found.weights
            ],
            [row if one.same_as < 0 else one.same_as for row, one in enumerate(found.weights)],
            [not one.is_parameter for one in found.weights],
            builder,
        )
        builder.add_ops(OpColumns.variables(slots, "Slot", [one.shape for one in found.slots]))
        builder.add_type(OPTIMIZER_VARIABLE, builder.ids(slots))
        add_modules(
            builder,
            {name: name.rpartition("/")[0] for name in names},
            {scope_of(one.path, one.model): one.kind for one in self._parts},
        )
