"""Calls PyTorch modules with tensors that have shapes but no values."""

from __future__ import annotations

import logging
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from tfprof.capture.torch_ops import Calls, Module, Tensor, tensors
from tfprof.errors import CaptureError, OptionError
from tfprof.frameworks import torch

# What to do about a module that cannot be called without values.
RECORD = "record a run instead, with tfprof.capture"

# Where modules keep their parameters, buffers and parts.
_REGISTERED = ("_parameters", "_buffers", "_modules")
_SMALL = 1000  # elements of a tensor


def call(
    module: Module,
    calls: Calls,
    weights: Mapping[str, Tensor],
    inputs: Sequence[Any],
    keywords: Mapping[str, Any],
    *,
    is_backward: bool,
) -> None:
    """Call the module, and its backward pass, with tensors that have no values."""
    tree = torch().utils._pytree  # noqa: SLF001 -- there is no public one
    given = (tuple(inputs), dict(keywords))
    with ExitStack() as stack:
        stack.enter_context(_unchanged(module))
        _replace_kept(module, lambda one: one.detach().clone() if _has_values(one) else one)
        device = _device(module, given)
        fake = stack.enter_context(_without_values(module, calls, device))
        _replace_kept(module, lambda one: one if _has_values(one) else fake(one))
        fakes = {path: fake(one) for path, one in weights.items()}
        for path, tensor in fakes.items():
            calls.give(path, tensor)
        given = tree.tree_map_only(torch().Tensor, fake, given)
        with calls.recorded(module):
            output = torch().func.functional_call(module, fakes, *given)
        if not is_backward:
            return
        ends = [one for one in tensors(output) if one.requires_grad]
        if not ends:
            raise CaptureError(
                f"no output of {type(module).__name__} requires a gradient, so it has no backward "
                "pass: load it without `backward`."
            )
        gradients = [torch().ones_like(end) for end in ends]
        calls.is_backward = True
        with calls.recorded(module):
            torch().autograd.backward(ends, gradients)


def _device(module: Module, given: Any) -> Any:
    """The device of tensors that have none: that of the others."""
    known = (one.device for one in (*module.parameters(), *module.buffers(), *tensors(given)))
    return next((device for device in known if device.type != "meta"), "cpu")


@contextmanager
def _unchanged(module: Module) -> Iterator[None]:
    """Restore the attributes of all modules, some of which keep tensors for the next call."""
    saved = [(one, dict(one.__dict__)) for one in module.modules()]
    containers = [
        (value, base(value))
        for _, attributes in saved
        for value in attributes.values()
        if (base := _base(value)) is not None
    ]
    try:
        yield
    finally:
        for one, attributes in saved:
            one.__dict__.clear()
            one.__dict__.update(attributes)
        for container, content in containers:
            _refill(container, content)


def _base(value: Any) -> Any:
    """The plain type of a container, if it is one; types derived from it may refuse changes."""
    return next((one for one in (OrderedDict, dict, list, set) if isinstance(value, one)), None)


def _refill(container: Any, content: Any) -> None:
    base = type(content)
    base.clear(container)
    if isinstance(content, dict):
        for key, value in content.items():
            base.__setitem__(container, key, value)
    else:
        add = base.extend if base is list else base.update
        add(container, content)


def _replace_kept(module: Module, other: Callable[[Tensor], Tensor]) -> None:
    """Replace tensors that are neither parameters nor buffers, so that no call changes them."""
    for one in module.modules():
        kept = {name: value for name, value in one.__dict__.items() if name not in _REGISTERED}
        _replace_in(one.__dict__, kept, other)
        for container in kept.values():
            if isinstance(container, dict):
                _replace_in(container, container, other)
            elif isinstance(container, list):
                _replace_in(container, dict(enumerate(container)), other)


def _replace_in(container: Any, content: Mapping[Any, Any], other: Callable[[Any], Any]) -> None:
    base = _base(container)
    for key, value in list(content.items()):
        if isinstance(value, torch().Tensor):
            base.__setitem__(container, key, other(value))


def _has_values(tensor: Tensor) -> bool:
    """Whether a tensor keeps its values: modules decide by small ones."""
    return bool(tensor.device.type == "cpu" and tensor.numel() <= _SMALL)


@contextmanager
def _without_values(module: Module, calls: Calls, device: Any) -> Iterator[Any]:
    """A function that makes tensors without values; errors say where values were needed."""
    from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: PLC0415 -- optional

    mode = FakeTensorMode(allow_non_fake_inputs=True)
    attention = torch().backends.mha
    was_fast = attention.get_fastpath_enabled()
    try:
        with ExitStack() as stack:
            # The fast path of transformer layers is one op that cannot run without values.
            attention.set_fastpath_enabled(False)
            if "torch._dynamo" in sys.modules:  # a module inside may be compiled
                stack.enter_context(torch().compiler.set_stance("force_eager"))
            stack.enter_context(_unlogged(FakeTensorMode.__module__))
            stack.enter_context(mode)
            yield lambda tensor: _fake(mode, tensor, device)
    except (CaptureError, OptionError, KeyboardInterrupt):
        raise
    except Exception as error:
        raise CaptureError(_explained(module, calls, error)) from error
    finally:
        attention.set_fastpath_enabled(was_fast)


@contextmanager
def _unlogged(name: str) -> Iterator[None]:
    """Keep PyTorch from also logging errors with their traces, which the error message has."""
    logger = logging.getLogger(name)
    was_disabled, logger.disabled = logger.disabled, True
    try:
        yield
    finally:
        logger.disabled = was_disabled


def _fake(mode: Any, tensor: Tensor, device: Any) -> Tensor:
    """A tensor of the same shape without values; one on no device is taken to be on `device`."""
    if tensor.device.type != "meta":
        return mode.from_tensor(tensor, static_shapes=True)
    empty = torch().empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device=device)
    return empty.requires_grad_(tensor.requires_grad)


def _explained(module: Module, calls: Calls, error: Exception) -> str:
    """What failed and where, in one line."""
    where = f" after {calls.last_line}" if calls.last_line else ""
    kind = type(error).__name__
    if any(part in kind for part in ("DataDependent", "DynamicOutputShape")):
        return (
            f"{type(module).__name__}.forward{where} needs the values of tensors, which tfprof "
            f"does not compute: {RECORD}."
        )
    first = str(error).strip().partition("\n")[0] or kind
    return (
        f"{type(module).__name__}.forward fails{where} when it is called without values "
        f"({kind}: {first}): check the inputs, or {RECORD}."
    )
