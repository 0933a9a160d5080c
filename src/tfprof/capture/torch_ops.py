"""Records the ops that a PyTorch module calls, with shapes, arguments, modules and code lines."""

from __future__ import annotations

import json
import linecache
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, TypeAlias

from tfprof.capture.runners import is_runner
from tfprof.capture.torch_places import CalledModules
from tfprof.columns import Shape
from tfprof.frameworks import torch
from tfprof.model.code import Frame
from tfprof.model.ops import NOT_A_GRADIENT, UNKNOWN_FORWARD, Phase
from tfprof.sources.module_places import NOWHERE
from tfprof.sources.torch_modules import FreeNames
from tfprof.views.code import is_installed

# PyTorch's own types are not used: it is imported only when needed.
Tensor: TypeAlias = Any
Module: TypeAlias = Any
Maker: TypeAlias = int | str  # a row of `Calls.ops`, or the op of a parameter or buffer

_BACKWARD_SCOPE = "backward"
_ACCUMULATES = "torch::autograd::AccumulateGrad"
_PLAIN = (bool, int, float, str)


@dataclass(frozen=True, slots=True)
class CalledOp:
    """An op that was called."""

    kind: str
    place: int  # of the module that called it, as in `CalledModules`
    parts: tuple[str, ...]  # of its name below that of the module
    inputs: Sequence[tuple[Maker, int]]  # what made its tensors, and their outputs
    stated_inputs: Sequence[Shape]  # by position in the op's schema
    outputs: Sequence[Shape]
    attributes: Mapping[str, str]  # JSON
    stack: int  # a row of `Calls.stacks`
    phase: Phase
    forward: int  # a row of `Calls.ops`, or a negative number as in `Conventions.forward_of`


class _OwnLines:
    """The calls of the program's own code, outermost first."""

    def __init__(self) -> None:
        self._known: dict[tuple[Any, int], Frame | None] = {}

    def frames(self) -> tuple[Frame, ...]:
        found = []
        frame = sys._getframe(1)  # noqa: SLF001 -- `inspect.stack` reads the text of all lines
        while frame is not None:
            own = self._own(frame.f_code, frame.f_lineno)
            if own is not None:
                found.append(own)
            frame = frame.f_back  # type: ignore[assignment]
        return tuple(reversed(found))

    def _own(self, code: Any, line: int) -> Frame | None:
        key = (code, line)
        if key not in self._known:
            file = code.co_filename
            is_other = file.startswith("<") or is_installed(file) or is_runner(file, code.co_name)
            text = "" if is_other else linecache.getline(file, line).strip()
            first = code.co_firstlineno
            self._known[key] = None if is_other else Frame(file, line, code.co_name, text, first)
        return self._known[key]


@dataclass(slots=True, eq=False)
class Calls:
    """The ops that a module called, in order."""

    modules: CalledModules
    weights: Mapping[str, str]  # the ops of parameters and buffers, by path
    ops: list[CalledOp] = field(default_factory=list)
    stacks: dict[tuple[Frame, ...], int] = field(default_factory=dict)
    output_shapes: dict[int, Shape] = field(default_factory=dict)  # of modules, by place
    is_backward: bool = False
    last_line: str = ""  # the program's own line that called the last op
    _made: dict[int, tuple[Maker, int]] = field(default_factory=dict)  # by identity of a tensor
    _kept: list[Tensor] = field(default_factory=list)  # so that identities stay unique
    _of_node: dict[int, int] = field(default_factory=dict)  # the op of each autograd node
    _lines: _OwnLines = field(default_factory=_OwnLines)

    def give(self, path: str, tensor: Tensor) -> None:
        """State that a tensor is the parameter or buffer at `path`."""
        self._made[id(tensor)] = (self.weights[path], 0)
        self._kept.append(tensor)

    @contextmanager
    def recorded(self, module: Module) -> Iterator[None]:
        """Record the ops that `module` and those inside it call in this context."""
        hooks = []
        try:
            for one in module.modules():
                hooks.append(one.register_forward_pre_hook(self._enter))
                hooks.append(one.register_forward_hook(self._leave, always_call=True))
            with _dispatching(self._see):
                yield
        finally:
            for hook in hooks:
                hook.remove()

    def names(self, free: FreeNames) -> list[str]:
        """The names of the ops."""
        scopes = [*self.modules.scopes(), self.modules.root]
        return [free.take("", scopes[op.place], *op.parts) for op in self.ops]

    def _enter(self, module: Module, _inputs: Any) -> None:
        self.modules.enter(module)

    def _leave(self, _module: Module, _inputs: Any, output: Any) -> None:
        place = self.modules.leave()
        shapes = list(_shapes(output))
        if place != NOWHERE and shapes:
            self.output_shapes.setdefault(place, shapes[0])

    def _see(self, function: Any, arguments: Sequence[Any], output: Any) -> None:
        kind = function._schema.name  # noqa: SLF001 -- there is no other way to the name
        if kind.startswith("prim::"):
            return
        node = torch()._C._current_autograd_node() if self.is_backward else None  # noqa: SLF001
        if node is not None and node.name() == _ACCUMULATES:
            return
        forward, place, parts = self._place(node, kind)
        frames = self._lines.frames() if forward < 0 else None
        stack = self.ops[forward].stack if frames is None else self._stack(frames)
        known = (self._made.get(id(tensor)) for tensor in tensors(arguments))
        self.ops.append(
            CalledOp(
                kind=kind,
                place=place,
                parts=parts,
                inputs=[made for made in known if made is not None],
                stated_inputs=_stated(arguments),
                outputs=list(_shapes(output)),
                attributes=dict(_attributes(function, arguments)),
                stack=stack,
                phase=Phase.BACKWARD if self.is_backward else Phase.FORWARD,
                forward=forward,
            )
        )
        for slot, tensor in enumerate(tensors(output)):
            self._made[id(tensor)] = (len(self.ops) - 1, slot)
            self._kept.append(tensor)
        if self.modules.place != NOWHERE or not self.is_backward:
            # Autograd numbers its nodes; the node of an op is made just before the op is called.
            number = torch().autograd._get_sequence_nr() - 1  # noqa: SLF001
            self._of_node.setdefault(number, len(self.ops) - 1)

    def _place(self, node: Any, kind: str) -> tuple[int, int, tuple[str, ...]]:
        """The forward op, the place of the module and the last parts of the name of an op."""
        place = self.modules.place
        if not self.is_backward or place != NOWHERE:  # checkpoints run modules again
            return NOT_A_GRADIENT, place, (kind,)
        forward = -1 if node is None else self._of_node.get(node._sequence_nr(), -1)  # noqa: SLF001
        if forward < 0:
            return UNKNOWN_FORWARD, NOWHERE, (_BACKWARD_SCOPE, kind)
        return forward, self.ops[forward].place, (node.name(), kind)

    def _stack(self, frames: tuple[Frame, ...]) -> int:
        if frames:
            self.last_line = f"{frames[-1].file}:{frames[-1].line}"
        return self.stacks.setdefault(frames, len(self.stacks))


@contextmanager
def _dispatching(see: Callable[[Any, Sequence[Any], Any], None]) -> Iterator[None]:
    """Call `see` with each op, all its arguments in the order of the schema, and its result."""
    from torch._subclasses import fake_tensor  # noqa: PLC0415 -- optional
    from torch.utils._python_dispatch import TorchDispatchMode  # noqa: PLC0415

    def dispatch(
        _mode: Any, function: Any, _types: Any, given: Any = (), keywords: Any = None
    ) -> Any:
        if _reads_value(function) and not isinstance(given[0], fake_tensor.FakeTensor):
            with fake_tensor.unset_fake_temporarily():
                return function(*given)
        result = function(*given, **(keywords or {}))
        see(function, _in_order(function, given, keywords or {}), result)
        return result

    kind = type("_Recorder", (TorchDispatchMode,), {"__torch_dispatch__": dispatch})
    with kind():
        yield


def _reads_value(function: Any) -> bool:
    """Whether an op returns the value of a tensor to Python."""
    return bool(function._schema.name == "aten::_local_scalar_dense")  # noqa: SLF001


def _in_order(function: Any, given: Sequence[Any], keywords: Mapping[str, Any]) -> list[Any]:
    schema = function._schema.arguments  # noqa: SLF001
    return [
        given[place] if place < len(given) else keywords.get(one.name, one.default_value)
        for place, one in enumerate(schema)
    ]


def _is_tensor(value: Any) -> bool:
    return isinstance(value, torch().Tensor)


def tensors(value: Any) -> Iterator[Tensor]:
    """The tensors in lists, mappings and data classes, however nested."""
    if _is_tensor(value):
        yield value
    elif isinstance(value, list | tuple):
        yield from (tensor for one in value for tensor in tensors(one))
    elif isinstance(value, Mapping):
        yield from tensors(list(value.values()))
    elif is_dataclass(value):
        yield from tensors([getattr(value, part.name) for part in fields(value)])


def _shape(tensor: Tensor) -> Shape:
    """The shape of a tensor; a size that depends on values is unknown."""
    return tuple(size if type(size) is int else -1 for size in tensor.shape)


def _shapes(output: Any) -> Iterator[Shape]:
    yield from map(_shape, tensors(output))


def _stated(arguments: Sequence[Any]) -> list[Shape]:
    """The shapes of arguments up to the last tensor; a list of tensors is as many of them."""
    found = list(_shapes_of(arguments))
    while found and found[-1] is None:
        found.pop()
    return found


def _shapes_of(arguments: Sequence[Any]) -> Iterator[Shape]:
    for value in arguments:
        is_list = isinstance(value, list | tuple)
        if is_list and value and all(one is None or _is_tensor(one) for one in value):
            yield from (None if one is None else _shape(one) for one in value)
        else:
            yield _shape(value) if _is_tensor(value) else None


def _attributes(function: Any, arguments: Sequence[Any]) -> Iterator[tuple[str, str]]:
    """The arguments that are plain values or lists of them, as JSON."""
    for argument, value in zip(function._schema.arguments, arguments, strict=True):  # noqa: SLF001
        is_list = isinstance(value, list | tuple)
        if isinstance(value, _PLAIN) or (is_list and all(type(one) in _PLAIN for one in value)):
            yield argument.name, json.dumps(value)
