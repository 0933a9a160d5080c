"""Counts PyTorch modules: calls them with tensors that have shapes but no values."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tfprof.capture.torch_fakes import RECORD, call
from tfprof.capture.torch_ops import Calls, Module, Tensor
from tfprof.capture.torch_places import CalledModules
from tfprof.columns import Coded, Ints, Strings, ints, offsets_of
from tfprof.errors import CaptureError, OptionError
from tfprof.frameworks import torch
from tfprof.model.attributes import AttributeTable
from tfprof.model.builder import OpColumns, ProfileBuilder
from tfprof.model.layers import NO_LAYER, Layer
from tfprof.model.notes import Note, Subject
from tfprof.model.ops import STATE_VARIABLE, TRAINABLE_VARIABLE, OutputShapes
from tfprof.model.stated import StatedFacts
from tfprof.sources.module_places import NOWHERE
from tfprof.sources.saved_attributes import SavedAttributes
from tfprof.sources.torch_modules import FreeNames, scope_of
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

    modules: CalledModules
    weights: Mapping[str, Tensor]  # each parameter and buffer once, by path
    free: FreeNames
    names: Mapping[str, str]  # the op of each weight, by path
    calls: Calls | None  # None if it was not called

    def add(self, builder: ProfileBuilder) -> None:
        """Add ops for weights and calls, and a layer for each module."""
        self._add_weights(builder)
        called: dict[str, int] = {}  # the place of each op
        if self.calls is not None:
            names = self.calls.names(self.free)
            _add_calls(self.calls, names, builder)
            places = {name: op.place for name, op in zip(names, self.calls.ops, strict=True)}
            called = {name: place for name, place in places.items() if place != NOWHERE}
        self._add_layers(called, builder)
        if self.calls is None:
            text = (
                f"{self.modules.root} was not called, so only its parameters are known: for float "
                "ops, pass an example of its inputs, tfprof.load(module, inputs)."
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

    def _add_layers(self, called: Mapping[str, int], builder: ProfileBuilder) -> None:
        """Add a layer for each module, and for each place of a module that several call."""
        modules, scopes = self.modules, self.modules.scopes()
        layers = _Layers()
        for path, kind in zip(modules.paths, modules.classes, strict=True):
            above, _, name = path.rpartition(".")
            around = scope_of(above, modules.root) if path else ""
            layers.add(scope_of(path, modules.root), around, name or modules.root, kind)
        shapes = {} if self.calls is None else self.calls.output_shapes
        for place, scope in enumerate(scopes):
            module = modules.module[place]
            row = layers.below(scope, modules.classes[module])
            home = layers.rows[scope_of(modules.paths[module], modules.root)]
            layers.found[row] = layers.found[row]._replace(
                output_shape=shapes.get(place),
                home=NO_LAYER if home == row else home,
                calls=modules.calls[place],
            )
        ids = builder.add_layers(layers.found)
        owners = {self.names[path]: path.rpartition(".")[0] for path in self.weights}
        owners = {name: scope_of(path, modules.root) for name, path in owners.items()}
        owners |= {name: scopes[place] for name, place in called.items()}
        builder.set_layer(
            builder.ids(owners), ids[[layers.rows[scope] for scope in owners.values()]]
        )


class _Layers:
    """Layers by scope."""

    def __init__(self) -> None:
        self.found: list[Layer] = []
        self.rows: dict[str, int] = {}

    def add(self, scope: str, above: str, name: str, kind: str = "") -> int:
        """Add a layer below the one with the scope `above`, and return its row."""
        self.rows[scope] = len(self.found)
        self.found.append(Layer(name, self.rows.get(above, NO_LAYER), kind))
        return self.rows[scope]

    def below(self, scope: str, kind: str) -> int:
        """The row of a scope; it and the lists of modules around it are added if they are new."""
        if scope not in self.rows:
            above, _, name = scope.rpartition("/")
            if above:
                self.below(above, "")
            self.add(scope, above, name, kind)
        return self.rows[scope]


def _add_calls(calls: Calls, names: Sequence[str], builder: ProfileBuilder) -> None:
    ops = calls.ops
    columns = OpColumns.of(
        names,
        [op.kind for op in ops],
        [
            [(names[maker] if isinstance(maker, int) else maker, slot) for maker, slot in op.inputs]
            for op in ops
        ],
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
    modules = CalledModules(module)
    weights = dict(_weights(module))
    free = FreeNames()
    names = {path: free.take("", scope_of(path, modules.root)) for path in weights}
    arguments, is_backward = _arguments(module, inputs, keywords)
    calls = None
    if inputs or arguments or not _parameters(module):
        calls = Calls(modules, names)
        call(module, calls, weights, inputs, arguments, is_backward=is_backward)
    return CountedModule(modules, weights, free, names, calls)


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
