"""Execution traces of PyTorch (`ExecutionTraceObserver`): which op made and used which tensor.

Up to schema 1.0.1, members of nodes have other names, and what is an attribute today is a member.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tfprof.errors import InputError, TruncatedError
from tfprof.formats.content import Content

_LARGEST = 1 << 30
_LARGEST_NUMBER = 1 << 62
# A value of a tensor: its id, storage, offset, number of elements, size of an element, device.
_TENSOR_PARTS = 6


@dataclass(frozen=True, slots=True)
class Node:
    """An op or an annotation that ran."""

    id: int  # in the order of starts
    parent: int  # the id of the node that contains it
    record_id: int  # the same number as in a Kineto trace; 0 if it has none
    name: str
    inputs: tuple[int, ...]  # ids of tensors
    outputs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ExecutionTrace:
    """The nodes of a process, in the order of the file."""

    process: str
    nodes: list[Node]


def read(content: Content) -> ExecutionTrace:
    """The trace in a file; raises `InputError`."""
    data, _ = content.read(_LARGEST)
    try:
        found = json.loads(data)
        nodes = [_node(one) for one in found["nodes"]]
        process = str(found.get("pid", ""))
    except (TypeError, KeyError, AttributeError, RecursionError, OverflowError) as error:
        trouble = f"is damaged ({type(error).__name__}: {str(error)[:80]}); record it again."
        raise InputError(content.path, trouble) from None
    except ValueError as error:
        if "Expecting" in str(error) or "Unterminated" in str(error):
            trouble = "ends early or is damaged; was the copy or download cut short?"
            raise TruncatedError(content.path, trouble) from None
        raise InputError(content.path, f"is damaged ({str(error)[:80]}).") from None
    return ExecutionTrace(process, nodes)


def _node(found: dict[str, Any]) -> Node:
    attributes = found.get("attrs", ())
    recorded = (one.get("value", 0) for one in attributes if one.get("name") == "rf_id")
    return Node(
        _number(found["id"]),
        _number(found.get("ctrl_deps", found.get("parent", 0))),
        _number(next(recorded, found.get("rf_id", 0))),
        str(found["name"]),
        tuple(_tensors(_values(found.get("inputs", ())))),
        tuple(_tensors(_values(found.get("outputs", ())))),
    )


def _values(found: Any) -> Any:
    """The values of inputs or outputs, which may have their shapes and types beside them."""
    return found if isinstance(found, (list, tuple)) else found.get("values", ())


def _number(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > _LARGEST_NUMBER:
        raise TypeError(f"`{str(value)[:20]}` is no number of a node")
    return value


def _tensors(values: Any) -> Iterator[int]:
    """The ids of the tensors among values, and in lists of them."""
    for value in values:
        if not isinstance(value, list):
            continue
        if len(value) == _TENSOR_PARTS and isinstance(value[-1], str):
            yield _number(value[0])
        else:
            yield from (_number(one[0]) for one in value if _is_tensor(one))


def _is_tensor(value: Any) -> bool:
    return isinstance(value, list) and len(value) == _TENSOR_PARTS and isinstance(value[-1], str)
