"""Tensors in the pickles that PyTorch writes, as inert values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, NamedTuple, TypeAlias

from tfprof.formats.inert_pickle import Made, Persistent, PickleError, Symbol
from tfprof.formats.tensor_types import named_type
from tfprof.formats.weights import Place, StoredWeight, is_shape, is_size

# The types of PyTorch's storages, and of its types where their names differ.
_STORAGES: Final = {
    "DoubleStorage": "float64",
    "FloatStorage": "float32",
    "HalfStorage": "float16",
    "BFloat16Storage": "bfloat16",
    "LongStorage": "int64",
    "IntStorage": "int32",
    "ShortStorage": "int16",
    "CharStorage": "int8",
    "ByteStorage": "uint8",
    "BoolStorage": "bool",
    "ComplexFloatStorage": "complex64",
    "ComplexDoubleStorage": "complex128",
    "QInt8Storage": "qint8",
    "QUInt8Storage": "quint8",
    "QInt32Storage": "qint32",
    "UntypedStorage": "uint8",
}
_WIDTHS: Final = {"float8_e8m0fnu": 1, "complex32": 4}  # of types that have no readable values

_DEEPEST: Final = 8  # calls in calls


class Storage(NamedTuple):
    """The storage that a reference describes: its key in the file, type and number of values."""

    key: str
    dtype: str
    length: int


Args: TypeAlias = tuple[object, ...]
PlaceOf: TypeAlias = Callable[[Storage], Place]


def storage_of(value: object) -> Storage | None:
    """The storage that `value` refers to, or None."""
    match value:
        case Persistent(("storage", Symbol(_, kind), str(key), _, count, *_)) if is_size(count):
            return Storage(key, _STORAGES.get(kind, kind), count)
    return None


def tensor_of(value: object, place_of: PlaceOf, depth: int = 0) -> StoredWeight | None:
    """The tensor that `value` describes, without a name, or None if it is something else.

    `place_of` has the values of a storage. Raises `PickleError` if the tensor is not possible.
    """
    match value:
        case Made(Symbol() as maker, tuple(args)) if maker in _MAKERS and depth < _DEEPEST:
            return _MAKERS[maker](args, place_of, depth + 1)
    return None


def maker_of(value: Made) -> str:
    """The name of the function or class that would make an object; empty if it has none."""
    return value.maker.name if isinstance(value.maker, Symbol) else ""


def is_unknown_tensor(value: Made) -> bool:
    """Whether an object is a tensor that is not read, such as a sparse one."""
    is_of_torch = isinstance(value.maker, Symbol) and value.maker.module.startswith("torch")
    return is_of_torch and maker_of(value).startswith("_rebuild_")


def _of_storage(args: Args, place_of: PlaceOf, _: int) -> StoredWeight | None:
    """A tensor of a storage, an offset, a shape and strides."""
    match args:
        case (held, offset, shape, strides, *more) if (storage := storage_of(held)) is not None:
            return _as_stored(tensor_in(storage, place_of, offset, shape, strides), more)
    return None


def _with_type(args: Args, place_of: PlaceOf, _: int) -> StoredWeight | None:
    """The same, with a type that differs from that of the storage."""
    match args:
        case (held, offset, shape, strides, _, _, Symbol(_, dtype), *more) if (
            storage := storage_of(held)
        ) is not None:
            length = _width(storage.dtype) * storage.length // _width(dtype)
            storage = Storage(storage.key, dtype, length)
            return _as_stored(tensor_in(storage, place_of, offset, shape, strides), more)
    return None


def _as_stored(tensor: StoredWeight, more: Sequence[object]) -> StoredWeight:
    """The tensor; without values if the stored ones are conjugates or negatives of them."""
    flags = [one for one in more if isinstance(one, dict) and (one.get("conj") or one.get("neg"))]
    if flags and tensor.place is not None:
        return replace(tensor, place=tensor.place._replace(is_readable=False))
    return tensor


def _without_storage(args: Args, _: PlaceOf, __: int) -> StoredWeight | None:
    match args:
        case (Symbol(_, dtype), shape, *_):
            return StoredWeight("", dtype, _shape(shape))
    return None


def _wrapped(args: Args, _: PlaceOf, __: int) -> StoredWeight | None:
    """A tensor that stands for others, such as the shards of a `DTensor`: its type and shape."""
    match args:
        case (_, Symbol(_, dtype), shape, *_):
            return StoredWeight("", dtype, _shape(shape))
    return None


def _of_tensor(args: Args, place_of: PlaceOf, depth: int) -> StoredWeight | None:
    """A parameter of a tensor, and whether it is trained."""
    match args:
        case (inner, is_trained, *_) if (tensor := tensor_of(inner, place_of, depth)) is not None:
            return replace(tensor, is_frozen=is_trained is False)
    return None


def _of_subclass(args: Args, place_of: PlaceOf, depth: int) -> StoredWeight | None:
    """A tensor of another class, of the function that makes the tensor and its arguments."""
    match args:
        case (function, _, tuple(inner), *_):
            return tensor_of(Made(function, inner), place_of, depth)
    return None


# The functions whose calls make tensors.
_MAKERS: Final = {
    Symbol("torch._utils", "_rebuild_tensor"): _of_storage,
    Symbol("torch._utils", "_rebuild_tensor_v2"): _of_storage,
    Symbol("torch._utils", "_rebuild_qtensor"): _of_storage,
    Symbol("torch._utils", "_rebuild_tensor_v3"): _with_type,
    Symbol("torch._utils", "_rebuild_meta_tensor_no_storage"): _without_storage,
    Symbol("torch._utils", "_rebuild_wrapper_subclass"): _wrapped,
    Symbol("torch._utils", "_rebuild_parameter"): _of_tensor,
    Symbol("torch._utils", "_rebuild_parameter_with_state"): _of_tensor,
    Symbol("torch._tensor", "_rebuild_from_type_v2"): _of_subclass,
}


def tensor_in(
    storage: Storage,
    place_of: PlaceOf,
    offset: object,
    shape: object,
    strides: object,
) -> StoredWeight:
    """A tensor in a storage; it may be a part of it."""
    sizes = _shape(shape)
    steps = _strides(strides, len(sizes))
    if not is_size(offset):
        raise PickleError("has a tensor at an impossible place")
    pairs = list(zip(sizes, steps, strict=True))
    span = 1 + sum((size - 1) * step for size, step in pairs) if all(sizes) else 0
    if offset + span > storage.length:
        raise PickleError("has a tensor that is larger than its values")
    width = _width(storage.dtype)
    whole = place_of(storage)
    place = whole._replace(start=whole.start + offset * width, size=span * width)
    is_usual = steps == _usual(sizes) or not span
    return StoredWeight("", storage.dtype, sizes, place, () if is_usual else steps)


def _usual(sizes: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of a tensor whose values are in the usual order."""
    steps = [1]
    for size in reversed(sizes[1:]):
        steps.append(steps[-1] * size)
    return tuple(reversed(steps[: len(sizes)]))


def shape_of(value: object) -> tuple[int, ...] | None:
    """The sizes in a `torch.Size`, or None if this is something else."""
    return _shape(value) if isinstance(value, Made) and maker_of(value) == "Size" else None


def _shape(value: object) -> tuple[int, ...]:
    """The sizes in a tuple, a list or a `torch.Size`."""
    match value:
        case Made(Symbol("torch", "Size"), (inner,)):
            value = inner
    if not is_shape(value):
        raise PickleError("has a tensor with an impossible shape")
    return tuple(value)


def _strides(value: object, rank: int) -> tuple[int, ...]:
    if not isinstance(value, tuple) or len(value) != rank or not all(map(is_size, value)):
        raise PickleError("has a tensor with impossible strides")
    return value


def _width(dtype: str) -> int:
    """The bytes of a value; 1 for types that are not known."""
    kind = named_type(dtype)
    return kind.stored.itemsize if kind.stored is not None else _WIDTHS.get(dtype, 1)
