"""Counts PyTorch modules: calls them with tensors that have shapes but no values."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tfprof.capture.torch_fakes import RECORD, call
from tfprof.capture.torch_ops import Calls, Module, Tensor
from tfprof.columns import Coded, Ints, Strings, ints, offsets_of
from tfprof.errors import CaptureError, OptionError
from tfprof.frameworks import torch
from tfprof.model.attributes import AttributeTable
from tfprof.model.builder import OpColumns, ProfileBuilder
from tfprof.model.layers import NO_LAYER, Layer
from tfprof.model.notes import Note, Subject
from tfprof.model.ops import STATE_VARIABLE, TRAINABLE_VARIABLE, OutputShapes
from tfprof.model.stated import StatedFacts
from tfprof.sources.saved_attributes import SavedAttributes
from tfprof.sources.torch_modules import FreeNames
from tfprof.sources.torch_weights import BUFFER, PARAMETER

# Modules that only wrap another one, and the attribute that has it.
_WRAPPERS = {
    "OptimizedModule": "_orig_mod",
    "DistributedDataParallel": "module",
    "DataParallel": "module",
}


@dataclass(frozen=True, slots=True, eq=False)
class CountedModule:
    """The parameters, modules and called ops of a module."""

    root: str  # the name of its class
    modules: Mapping[str, str]  # the class of each module, by path; outer ones first
    weights: Mapping[str, Tensor]  # each parameter and buffer once, by path
    names: Mapping[str, str]  # the op of each weight, by path
    calls: Calls | None  # None if it was not called

    def add(self, builder: ProfileBuilder) -> None:
        """Add ops for weights and calls, and a layer for each module."""
        self._add_weights(builder)
        if self.calls is not None:
            _add_calls(self.calls, builder)
        self._add_layers(builder)
        if self.calls is None:
            text = (
                f"{self.root} was not called, so only its parameters are known: for float ops, "
                "pass an example of its inputs, tfprof.load(module, inputs)."
            )
            builder.notes.append(Note(text, Subject.FLOAT_OPS | Subject.OPS))

    def _add_weights(self, builder: ProfileBuilder) -> None:
        is_trained = {path: _is_parameter(one) for path, one in self.weights.items()}
        for kind, wanted in ((PARAMETER, True), (BUFFER, False)):
            paths = [path for path, flag in is_trained.items() if flag is wanted]
            names = [self.names[path] for path in paths]
            shapes = [tuple(self.weights[path].shape) for path in paths]
            columns = OpColumns.variables(names, kind, shapes)
            outputs = OutputShapes.of_rows([[shape] for shape in shapes])
            builder.add_ops(replace(columns, outputs=outputs))
            trained = [self.names[one] for one in paths if self.weights[one].requires_grad]
            builder.add_type(TRAINABLE_VARIABLE, builder.ids(trained if wanted else []))
            builder.add_type(STATE_VARIABLE, builder.ids([] if wanted else names))

    def _add_layers(self, builder: ProfileBuilder) -> None:
        rows = {path: row for row, path in enumerate(self.modules)}
        shapes = {} if self.calls is None else self.calls.output_shapes
        layers = [
            Layer(
                path.rpartition(".")[2] or self.root,
                _parent(path, rows),
                kind,
                shapes.get(path),
            )
            for path, kind in self.modules.items()
        ]
        ids = builder.add_layers(layers)
        owners = {self.names[path]: path.rpartition(".")[0] for path in self.weights}
        called = () if self.calls is None else self.calls.ops
        owners |= {op.name: op.path for op in called if op.path is not None}
        builder.set_layer(builder.ids(owners), ids[[rows[path] for path in owners.values()]])


def _parent(path: str, rows: Mapping[str, int]) -> int:
    return rows[path.rpartition(".")[0]] if path else NO_LAYER


def _add_calls(calls: Calls, builder: ProfileBuilder) -> None:
    ops = calls.ops
    names = [op.name for op in ops]
    columns = OpColumns.of(
        names,
        [op.kind for op in ops],
        [op.inputs for op in ops],
        [None] * len(ops),
        [op.outputs for op in ops],
        attributes=SavedAttributes("the module", _attributes(calls)),
        conventions=StatedFacts(
            ints([op.phase for op in ops]), ints([op.forward for op in ops]), Strings(names)
        ),
    )
    stated = OutputShapes.of_rows([op.stated_inputs for op in ops])
    builder.add_ops(replace(columns, stated_inputs=stated))
    builder.mark_has_code()
    rows = ints([builder.add_stack(frames) for frames in calls.stacks])
    builder.set_code(builder.ids(names), rows[_column(calls)])


def _column(calls: Calls) -> Ints:
    return ints([op.stack for op in calls.ops])


def _attributes(calls: Calls) -> AttributeTable:
    found = [op.attributes for op in calls.ops]
    values = Coded.of([value for one in found for value in one.values()])
    return AttributeTable(
        offsets_of(ints([len(one) for one in found])),
        Coded.of([name for one in found for name in one]),
        values.codes,
        values.values.packed(),
        "json",
    )


def count(module: Module, inputs: Sequence[Any], keywords: Mapping[str, Any]) -> CountedModule:
    """Call a module without values, forward and, with the keyword `backward`, backward.

    Other keywords are arguments of the module. Without any arguments, it is not called.
    """
    module = _unwrapped(module)
    root = type(module).__name__
    paths = {id(one): path for path, one in reversed(list(module.named_modules()))}
    modules = {path: type(one).__name__ for path, one in module.named_modules()}
    weights = dict(_weights(module))
    free = FreeNames(root)
    names = {path: free.take(path) for path in weights}
    arguments, is_backward = _arguments(module, inputs, keywords)
    calls = None
    if inputs or arguments or not _parameters(module):
        calls = Calls(free, paths, names)
        call(module, calls, weights, inputs, arguments, is_backward=is_backward)
    return CountedModule(root, modules, weights, names, calls)


def _unwrapped(module: Module) -> Module:
    attribute = _WRAPPERS.get(type(module).__name__)
    return module if attribute is None else _unwrapped(getattr(module, attribute))


def _weights(module: Module) -> Iterator[tuple[str, Tensor]]:
    """The parameters and buffers, each once."""
    plain = torch().nn.parameter
    for path, tensor in (*module.named_parameters(), *module.named_buffers()):
        if plain.is_lazy(tensor):
            raise CaptureError(
                f"{path} of {type(module).__name__} has no shape yet, because its module is lazy: "
                "call the module once with an example, then load it."
            )
        if hasattr(tensor, "__tensor_flatten__") or tensor.is_quantized:
            raise CaptureError(
                f"{path} of {type(module).__name__} is a {type(tensor).__name__}, which tfprof "
                f"cannot count: load the module before it is converted, or {RECORD}."
            )
        yield path, tensor


def _is_parameter(tensor: Tensor) -> bool:
    return isinstance(tensor, torch().nn.Parameter)


def _arguments(
    module: Module, inputs: Sequence[Any], keywords: Mapping[str, Any]
) -> tuple[dict[str, Any], bool]:
    """The keyword arguments of the module, and whether to count its backward pass."""
    found = dict(keywords)
    accepted = _parameters(module)
    takes_any = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in accepted.values())
    is_backward = False if "backward" in accepted else found.pop("backward", False)
    if not isinstance(is_backward, bool):
        raise OptionError(f"`backward` takes True or False, not {is_backward!r}.")
    unknown = [name for name in found if name not in accepted]
    if unknown and not takes_any:
        raise OptionError(f"{type(module).__name__}.forward has no argument `{unknown[0]}`.")
    if is_backward and not inputs and not found:
        raise OptionError("`backward=True` needs an example of the inputs of the module.")
    return found, is_backward


def _parameters(module: Module) -> Mapping[str, inspect.Parameter]:
    """The arguments of a module."""
    if isinstance(module, torch().jit.ScriptModule):
        raise CaptureError(
            f"{type(module).__name__} is TorchScript, which tfprof cannot call without values: "
            "save it and load the file for its parameters, or load the module it was made from."
        )
    return inspect.signature(module.forward).parameters
