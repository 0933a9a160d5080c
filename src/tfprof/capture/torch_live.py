"""The modules and optimizers of a live PyTorch program, also those that it deletes.

Modules are not found with hooks on their calls, because these change how programs are compiled.
Instead, the interpreter is asked for all modules when the recording ends, and modules that are
deleted before are described then: `Module` and `Optimizer` get a method `__del__`, which is always
removed.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, NamedTuple, TypeAlias

from tfprof.capture.torch_places import module_paths
from tfprof.frameworks import torch
from tfprof.model.between_files import TensorPlace

Module: TypeAlias = Any
Tensor: TypeAlias = Any

# A program that makes more models than this while it is recorded has a note.
MOST_DELETED = 1000

# The attributes in which modules have the model that they only wrap.
_WRAPPED = ("module", "_orig_mod", "_forward_module")


class ModuleFacts(NamedTuple):
    """A module: the addresses of it and its class, its paths in the model, its class's name."""

    identity: tuple[int, int]
    paths: tuple[str, ...]  # see `module_paths`
    kind: str


class WeightFacts(NamedTuple):
    """A parameter or buffer; equal addresses in one model are the same tensor."""

    address: int
    path: str
    shape: tuple[int, ...]
    dtype: str
    is_parameter: bool
    is_trained: bool
    place: TensorPlace = TensorPlace()


class ModelFacts(NamedTuple):
    """A module that is not inside another one, and everything in it."""

    modules: list[ModuleFacts]
    wrappers: list[tuple[int, int]]  # the identities of modules around it that only wrap it
    weights: list[WeightFacts]
    is_alive: bool

    @property
    def kind(self) -> str:
        """The class of the model."""
        return self.modules[0].kind


class SlotFacts(NamedTuple):
    """A tensor that an optimizer keeps for the parameter at an address."""

    address: int
    name: str
    shape: tuple[int, ...]
    dtype: str
    place: TensorPlace = TensorPlace()


class LiveModules:
    """Describes the models and optimizers of a program; `release` must be called at the end."""

    def __init__(self) -> None:
        self.is_full = False  # some deleted models were not described
        # By the addresses of the module and its class; another module may get the same address.
        self._deleted: dict[tuple[int, int], ModelFacts] = {}
        self._emptied: list[Module] = []
        self._inside: set[int] = set()  # addresses of modules of models that are being deleted
        self._slots: dict[int, list[SlotFacts]] = {}  # by the address of an optimizer's state
        self._classes = (torch().nn.Module, torch().optim.Optimizer)
        for kind, note in zip(
            self._classes, (self._note_module, self._note_optimizer), strict=True
        ):
            if "__del__" not in vars(kind):
                kind.__del__ = _quiet(note)

    def release(self) -> None:
        """Remove the methods that note deleted objects."""
        for kind in self._classes:
            if getattr(vars(kind).get("__del__"), "is_of_tfprof", False):
                del kind.__del__
        self._emptied.clear()

    def models(self) -> list[ModelFacts]:
        """The models that were deleted while the program was recorded, and those that exist."""
        alive = [
            one
            for one in _objects(self._classes[0])
            if "_modules" in vars(one) and not hasattr(one, "_is_replica")
        ]
        inside = {id(part) for one in alive for part in one._modules.values()}  # noqa: SLF001
        roots = [one for one in alive if id(one) not in inside]
        return [*self._deleted.values(), *(_described(root, is_alive=True) for root in roots)]

    def slots(self) -> list[SlotFacts]:
        """The tensors that optimizers keep; one that wraps another has the same state."""
        alive = {id(one.state): list(_kept(one)) for one in _objects(self._classes[1])}
        return [slot for slots in (self._slots | alive).values() for slot in slots]

    def trained(self) -> set[int]:
        """The addresses of the parameters of optimizers that exist."""
        groups = [group for one in _objects(self._classes[1]) for group in one.param_groups]
        return {id(parameter) for group in groups for parameter in group["params"]}

    def _note_module(self, module: Module) -> None:
        """Describe a model that is about to be deleted; its modules follow."""
        if id(module) in self._inside:
            self._inside.discard(id(module))
            return
        if getattr(module, "_is_replica", False):  # of DataParallel, in each step
            return
        identity = _identity(module)
        if len(self._deleted) >= MOST_DELETED and identity not in self._deleted:
            self.is_full = True
            return
        self._deleted[identity] = described = _described(module, is_alive=False)
        if len(described.modules) == 1 and not described.wrappers and not described.weights:
            # The profiler knows modules by address: what gets the address of a deleted loss would
            # count as that loss. So all that it holds is freed, but not its address.
            module.__dict__.clear()
            self._emptied.append(module)
            return
        self._inside.update(id(part) for part in module.modules() if part is not module)

    def _note_optimizer(self, optimizer: Any) -> None:
        if len(self._slots) < MOST_DELETED or id(optimizer.state) in self._slots:
            self._slots[id(optimizer.state)] = list(_kept(optimizer))


def _quiet(note: Callable[[Any], None]) -> Callable[[Any], None]:
    def __del__(self: Any) -> None:  # noqa: N807 -- becomes that method
        with suppress(Exception):  # an object that was not initialised
            note(self)

    __del__.is_of_tfprof = True  # type: ignore[attr-defined]
    return __del__


def _objects(kind: type) -> list[Any]:
    """All objects of a class or its subclasses; does not ask objects that pretend to be one."""
    return [one for one in gc.get_objects() if issubclass(type(one), kind)]


def _unwrapped(module: Module) -> Iterator[Module]:
    """The module, and if it only wraps a model, as `DistributedDataParallel` does, that model."""
    yield module
    parts = module._modules  # noqa: SLF001 -- the public iterators skip what is None
    is_wrapper = len(parts) == 1 and next(iter(parts)) in _WRAPPED
    if is_wrapper and not module._parameters and not module._buffers:  # noqa: SLF001
        yield from _unwrapped(next(iter(parts.values())))


def _described(module: Module, *, is_alive: bool) -> ModelFacts:
    *wrappers, model = _unwrapped(module)
    modules = [
        ModuleFacts(_identity(one), paths, type(one).__name__) for one, paths in module_paths(model)
    ]
    return ModelFacts(modules, list(map(_identity, wrappers)), list(_weights(model)), is_alive)


def _identity(module: Module) -> tuple[int, int]:
    return id(module), id(type(module))


def _weights(model: Module) -> Iterator[WeightFacts]:
    is_lazy = torch().nn.parameter.is_lazy
    parameters = model.named_parameters(remove_duplicate=False)
    buffers = model.named_buffers(remove_duplicate=False)
    for named, is_parameter in ((parameters, True), (buffers, False)):
        for path, tensor in named:
            if not is_lazy(tensor):
                shape, dtype = _type(tensor)
                is_trained = is_parameter and tensor.requires_grad
                yield WeightFacts(
                    id(tensor), path, shape, dtype, is_parameter, is_trained, _place(tensor)
                )


def _kept(optimizer: Any) -> Iterator[SlotFacts]:
    for parameter, state in optimizer.state.items():
        for name, value in state.items():
            if isinstance(value, torch().Tensor):
                yield SlotFacts(id(parameter), str(name), *_type(value), _place(value))


def _type(tensor: Tensor) -> tuple[tuple[int, ...], str]:
    return tuple(tensor.shape), str(tensor.dtype).removeprefix("torch.")


def _place(tensor: Tensor) -> TensorPlace:
    """Where a tensor is, unknown for those without values; of a distributed one, its own part."""
    with suppress(Exception):  # tensors of other classes may have no storage
        own: Any = getattr(tensor, "_local_tensor", tensor)
        storage = own.untyped_storage()
        return TensorPlace(str(storage.device), storage.data_ptr(), storage.nbytes())
    return TensorPlace()
