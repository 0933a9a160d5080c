"""What `modules.json` has: the models that ran, by the modules that the profiler saw."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from tfprof.capture.torch_events import Identity, PythonEvents
from tfprof.capture.torch_live import LiveModules, ModelFacts, SlotFacts
from tfprof.model.between_files import TensorPlace
from tfprof.model.notes import Note, Subject
from tfprof.sources.torch_modules_file import (
    RecordedModule,
    RecordedModules,
    RecordedSlot,
    RecordedWeight,
)
from tfprof.units import counted

_NO_OPS = Note(
    "no op was recorded. all_threads=True (tfprof run --all_threads) records other threads. "
    "Processes that the program starts are not recorded: use tfprof.capture in them, or start them "
    "with tfprof (torchrun -m tfprof run train.py).",
    Subject.OPS | Subject.TIME | Subject.MEMORY | Subject.FLOAT_OPS | Subject.PARAMS,
)


def recorded(live: LiveModules, events: PythonEvents) -> RecordedModules:
    """The models with modules that were called.

    A compiled function calls no modules. If one ran, or if the modules that were called have no
    parameters, the models that optimizers train count as well.
    """
    names, existing = events.modules, live.models()
    models = list(_used(existing, names))
    known = {one.address for model in models for one in model.weights if one.is_parameter}
    if events.is_compiled or not known:
        models += _trained(existing, live.trained() - known)
    labels = list(_labels(models))
    modules: list[RecordedModule] = []
    rest = dict(names)
    for label, model in zip(labels, models, strict=True):
        modules += [
            RecordedModule(
                label,
                one.paths[0],
                one.kind,
                rest.pop(one.identity, ""),
                not model.is_alive,
                one.paths[1:],
            )
            for one in model.modules
        ]
        for wrapper in model.wrappers:
            rest.pop(wrapper, None)
    weights, rows = _weights(labels, models)
    slots = list(_slots(live.slots(), weights, rows))
    notes = list(_notes(live, rest))
    if not events.has_ops:
        notes.append(_NO_OPS)
    return RecordedModules(
        modules, weights, slots, notes, events.lines, events.inputs, events.names
    )


def _used(models: Iterable[ModelFacts], names: Mapping[Identity, str]) -> Iterator[ModelFacts]:
    """The models with modules that were called, in the order of these calls, each module once."""
    order = {identity: place for place, identity in enumerate(names)}
    begins = [
        (min(places), number, model)
        for number, model in enumerate(models)
        if (places := [order[one.identity] for one in model.modules if one.identity in order])
    ]
    rest = set(names)
    for *_, model in sorted(begins, key=lambda begin: begin[:2]):
        own = {one.identity for one in model.modules}
        if own & rest:
            rest -= own
            yield model


def _trained(models: Iterable[ModelFacts], trained: Collection[int]) -> Iterator[ModelFacts]:
    """The models with parameters at these addresses, each parameter once."""
    rest = set(trained)
    for model in models:
        own = {one.address for one in model.weights if one.is_parameter}
        if own & rest:
            rest -= own
            yield model


def _labels(models: Iterable[ModelFacts]) -> Iterator[str]:
    """The scope of each model: its class, with a number if another one has it (`Net#2`)."""
    count: Counter[str] = Counter()
    for model in models:
        name = model.kind.replace("/", "|")
        count[name] += 1
        yield name if count[name] == 1 else f"{name}#{count[name]}"


def _weights(
    labels: Sequence[str], models: Sequence[ModelFacts]
) -> tuple[list[RecordedWeight], dict[int, int]]:
    """The parameters and buffers of all models, and the row of each by its address."""
    weights: list[RecordedWeight] = []
    rows: dict[int, int] = {}
    first: dict[tuple[int, int], int] = {}  # by model, if that was deleted, and address
    for number, (label, model) in enumerate(zip(labels, models, strict=True)):
        for one in model.weights:
            # Deleted tensors of two models may have had the same address.
            key = (-1 if model.is_alive else number, one.address)
            same = first.setdefault(key, len(weights))
            rows[one.address] = same
            weights.append(
                RecordedWeight(
                    label,
                    one.path,
                    one.shape,
                    one.dtype,
                    one.is_parameter,
                    one.is_trained,
                    -1 if same == len(weights) else same,
                    one.place if model.is_alive else TensorPlace(),
                )
            )
    return weights, rows


def _slots(
    slots: Iterable[SlotFacts], weights: Sequence[RecordedWeight], rows: Mapping[int, int]
) -> Iterator[RecordedSlot]:
    for slot in slots:
        if slot.address in rows:
            owner = weights[rows[slot.address]]
            yield RecordedSlot(
                owner.model, owner.path, slot.name, slot.shape, slot.dtype, slot.place
            )


def _notes(live: LiveModules, unknown: Mapping[Identity, str]) -> Iterator[Note]:
    if unknown or live.is_full:
        modules = counted(len(unknown), "module", "modules")
        yield Note(
            f"{modules} that ran could not be found in memory; they are shown by class, and their "
            "parameters are not counted.",
            Subject.OPS | Subject.PARAMS,
        )
