"""Weights of PyTorch models: the tensors of safetensors files and checkpoints as ops."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from tfprof.columns import Shapes, Strings
from tfprof.errors import InputError
from tfprof.formats import (
    distributed_checkpoint,
    safetensors,
    torch_checkpoint,
    torch_files,
    weights_index,
)
from tfprof.formats.content import Content
from tfprof.formats.file_spans import read_span
from tfprof.formats.tensor_types import Values
from tfprof.formats.weights import StoredWeight, StoredWeights, is_trained_type, is_weight_type
from tfprof.model.builder import OpColumns, ProfileBuilder
from tfprof.model.notes import Note, Subject
from tfprof.model.ops import (
    CHECKPOINT_VARIABLE,
    OPTIMIZER_VARIABLE,
    STATE_VARIABLE,
    TRAINABLE_VARIABLE,
)
from tfprof.model.tensors import Tensors
from tfprof.sources.source import FileSummary, InputFile, summary
from tfprof.sources.torch_modules import FreeNames, add_modules, scope_of
from tfprof.sources.torch_state import weights_of
from tfprof.units import counted

PARAMETER, BUFFER = "Parameter", "Buffer"
_PACKED = ("uint8", "int16", "int32", "int64", "uint16", "uint32")  # types with several weights
_LARGEST_INDEX = 1 << 26
_MOST_NAMED = 3

# Tensors that PyTorch's own modules keep beside their parameters.
_BUFFERS = re.compile(
    r"(?:.*\.)?(?:running_mean|running_var|num_batches_tracked|position_ids|inv_freq)", re.DOTALL
)


def read(file: InputFile) -> StoredWeights:
    """The tensors of the file, of the folder, or of all files that an index lists."""
    content = file.content.first_inside([torch_files.DISTRIBUTED_METADATA])
    if not torch_files.is_weights_index(content.head):
        return _read_file(content)
    data, _ = file.content.read(_LARGEST_INDEX)
    listed = weights_index.shards(file.path, data)
    parts = {path: _read_file(Content(path)) for path in dict.fromkeys(listed.values())}
    weights = [
        weight
        for path, part in parts.items()
        for weight in part.weights
        if listed.get(weight.name, path) == path  # a tensor may be in several files
    ]
    weights_index.require_complete(file.path, listed, (weight.name for weight in weights))
    return StoredWeights(weights, notes=[note for part in parts.values() for note in part.notes])


def add(found: StoredWeights, builder: ProfileBuilder, file: InputFile) -> FileSummary:
    """Hold the tensors back until the scope of the model is known, and note what is missing."""
    if not found.weights:
        raise InputError(file.path, "contains no tensors; give a file with the weights of a model.")
    owners = owners_of(found.weights)
    builder.held.append(HeldWeights(file.path, found, owners))
    builder.notes += _notes(file.path, found, owners)
    tensors = (*found.weights, *found.slots)
    return summary(file, tensors=len(tensors), values=sum(one.size for one in tensors))


@dataclass(frozen=True, slots=True, eq=False)
class HeldWeights:
    """The tensors of a file; a trace of the same model tells the scope they belong to."""

    path: str
    found: StoredWeights
    owners: Sequence[int]  # see `owners_of`
    calls: Sequence[tuple[str, str]] = ()
    scopes: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def parameters(self) -> Mapping[str, tuple[int, ...]]:
        """The shapes of the tensors, without those that are known not to be parameters."""
        buffers = self.found.buffers or frozenset()
        return {one.name: one.shape for one in self.found.weights if one.name not in buffers}

    @property
    def shared(self) -> frozenset[str]:
        """The tensors that are the same as an earlier one."""
        pairs = zip(self.found.weights, self.owners, strict=True)
        return frozenset(one.name for place, (one, owner) in enumerate(pairs) if owner != place)

    @property
    def is_in_order(self) -> bool:
        """Whether the tensors are in the order in which the model defines them.

        Some formats sort the tensors of each type and file by name. The order of definition is
        another one, because a module defines its weight before its bias.
        """
        sorted_together: dict[tuple[str, str], list[str]] = {}
        for one in self.found.weights:
            key = (one.place.path if one.place else "", one.dtype)
            sorted_together.setdefault(key, []).append(one.name)
        return any(names != sorted(names) for names in sorted_together.values())

    def define(self, builder: ProfileBuilder, root: str) -> None:
        """Define an op for each tensor, and a layer for each module that has one."""
        found = self.found
        if not builder.recordings:
            builder.notes.append(_only_weights(self.path))
        root = root or found.classes.get("", "")
        free = FreeNames(root)
        names = [free.take(weight.name) for weight in found.weights]
        define_weights(names, found.weights, self.owners, _buffers(found), builder)
        slots = [free.take(slot.name) for slot in found.slots]
        builder.add_ops(OpColumns.variables(slots, "Slot", [slot.shape for slot in found.slots]))
        builder.add_type(OPTIMIZER_VARIABLE, builder.ids(slots))
        scopes = {name: name.rpartition("/")[0] for name in names}
        modules = {scope_of(path, root): kind for path, kind in found.classes.items()}
        add_modules(builder, scopes, modules)
        stored = dict(zip((*names, *slots), (*found.weights, *found.slots), strict=True))
        builder.set_tensors(tensors_of(stored))
        builder.add_type(CHECKPOINT_VARIABLE, builder.ids(stored))


def define_weights(
    names: Sequence[str],
    weights: Sequence[StoredWeight],
    owners: Sequence[int],
    buffers: Sequence[bool],
    builder: ProfileBuilder,
) -> None:
    """Define the ops; a tensor that has the same values as an earlier one counts there."""
    is_own = [owner == place for place, owner in enumerate(owners)]
    columns = OpColumns.of(
        names,
        [BUFFER if is_buffer else PARAMETER for is_buffer in buffers],
        [[] if is_own[place] else [(names[owner], 0)] for place, owner in enumerate(owners)],
        [one.shape if own else None for one, own in zip(weights, is_own, strict=True)],
        [[weight.shape] for weight in weights],
    )
    builder.add_ops(columns)
    ids = builder.ids(names)
    builder.add_type(STATE_VARIABLE, ids[[place for place, flag in enumerate(buffers) if flag]])
    trained = [
        at
        for at, one in enumerate(weights)
        if is_trained_type(one.dtype) and not (buffers[at] or one.is_frozen)
    ]
    builder.add_type(TRAINABLE_VARIABLE, ids[trained])


def owners_of(weights: Sequence[StoredWeight | None]) -> list[int]:
    """The first of the tensors that have the same bytes of a file and the same shape, for each."""
    first: dict[object, int] = {}
    return [
        place
        if one is None or one.place is None or not one.size
        else first.setdefault((one.place, one.shape, one.strides), place)
        for place, one in enumerate(weights)
    ]


def _buffers(found: StoredWeights) -> list[bool]:
    """Whether each tensor is a buffer: as the file states it, or else by its name and type."""
    if found.buffers is not None:
        return [weight.name in found.buffers for weight in found.weights]
    return [not _is_parameter(weight) for weight in found.weights]


def _is_parameter(weight: StoredWeight) -> bool:
    """Whether a tensor is a weight, judging by its name and type; quantised ones have integers."""
    if _BUFFERS.fullmatch(weight.name) is not None:
        return False
    is_int8 = weight.dtype == "int8" and weight.name.rpartition(".")[2] == "weight"
    return is_int8 or is_weight_type(weight.dtype)


def _notes(path: str, found: StoredWeights, owners: Sequence[int]) -> Iterator[Note]:
    if found.buffers is None:
        text = (
            f"{path} does not say which tensors are trained: all are assumed to be parameters, "
            "except for integers and the statistics of normalisation layers."
        )
        yield Note(text, Subject.PARAMS)
        yield from _packed(path, found.weights)
    shared = [(place, owner) for place, owner in enumerate(owners) if place != owner]
    if shared:
        pairs = [f"{found.weights[one].name} (as {found.weights[of].name})" for one, of in shared]
        more = f" and {len(shared) - _MOST_NAMED:,} more" if len(shared) > _MOST_NAMED else ""
        named = ", ".join(pairs[:_MOST_NAMED])
        text = f"{path}: shared tensors count once: {named}{more}."
        yield Note(text, Subject.PARAMS)
    yield from (Note(f"{path} {note}", Subject.PARAMS) for note in found.notes)


def _packed(path: str, weights: Sequence[StoredWeight]) -> Iterator[Note]:
    """A note on integers that do not count, but look like the weights of a quantised model."""
    packed = [one for one in weights if _looks_packed(one)]
    if packed:
        count = counted(len(packed), "tensor")
        values = sum(one.size for one in packed)
        named = ", ".join(f"`{one.name}`" for one in packed[:_MOST_NAMED])
        more = f" and {len(packed) - _MOST_NAMED:,} more" if len(packed) > _MOST_NAMED else ""
        text = (
            f"{path} contains {count} of integers ({values:,} values), which may be packed weights "
            f"of a quantised model; they are not counted as parameters: {named}{more}."
        )
        yield Note(text, Subject.PARAMS)


def _looks_packed(weight: StoredWeight) -> bool:
    is_weight = weight.name.rpartition(".")[2].endswith("weight")
    return is_weight and weight.dtype in _PACKED and not _is_parameter(weight)


def _only_weights(path: str) -> Note:
    text = (
        f"{path} contains weights only, so there are no float operations and times; for these, "
        "export the model with torch.export and give the .pt2 file, or record the program."
    )
    return Note(text, Subject.FLOAT_OPS | Subject.TIME)


def tensors_of(stored: Mapping[str, StoredWeight]) -> Tensors:
    """The table of tensors by the names of their ops; values are read on request."""
    names = sorted(stored)
    return Tensors(
        name=Strings(names),
        dtype=Strings([stored[name].dtype for name in names]),
        shape=Shapes.of([stored[name].shape for name in names]),
        read=partial(_values, stored),
    )


def _values(stored: Mapping[str, StoredWeight], name: str) -> Values:
    return stored[name].values()


def _distributed(path: str) -> StoredWeights:
    found = weights_of(path, distributed_checkpoint.read(path))
    note = "does not say which tensors are shared: each of them counts."
    return replace(found, notes=[*found.notes, note])


# The readers of files of weights, by what they start with.
_READERS: tuple[tuple[Callable[[Content], bool], Callable[[str], StoredWeights]], ...] = (
    (lambda content: torch_files.is_safetensors(content.head), safetensors.read),
    (torch_files.is_distributed_checkpoint, _distributed),
    (torch_files.is_checkpoint, lambda path: weights_of(path, torch_checkpoint.read(path))),
)


def _read_file(content: Content) -> StoredWeights:
    content.require_readable()
    path, head = content.path, content.head
    read = next((read for looks_like, read in _READERS if looks_like(content)), None)
    if read is None:
        raise InputError(path, "is not a file of weights; fetch it again.")
    if not head.startswith(bytes(read_span(path, 0, min(len(head), 2)))):
        raise InputError(path, "is gzipped; unpack it first.")
    return read(path)
