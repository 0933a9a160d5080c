"""What the variables of a running program are for: parameters, values of optimizers, or state.

TensorFlow only knows whether a variable is trainable. The objects that own the others are found
among those that Python's garbage collector tracks: optimizers keep slots, iterations and learning
rates; metrics and random generators keep state that is not part of a model.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

from tfprof.model.ops import OPTIMIZER_VARIABLE, STATE_VARIABLE, TRAINABLE_VARIABLE

_FRAMEWORKS = ("tensorflow", "keras", "tf_keras")

# What objects of a class are, by the name of a base class: variables, or owners of variables with
# this type.
_VARIABLE = "variable"
_ROLES = {
    "Variable": _VARIABLE,
    "BaseOptimizer": OPTIMIZER_VARIABLE,  # Keras 3
    "_BaseOptimizer": OPTIMIZER_VARIABLE,  # Keras 2
    "Optimizer": OPTIMIZER_VARIABLE,  # TensorFlow 1
    "OptimizerV2": OPTIMIZER_VARIABLE,  # Keras 2, legacy
    "Metric": STATE_VARIABLE,
    "SeedGenerator": STATE_VARIABLE,
    "Generator": STATE_VARIABLE,
    "CollectiveReplicaLauncher": STATE_VARIABLE,  # of `tf.distribute`
}
# Where objects without `variables` keep their variable.
_ATTRIBUTES = ("state", "_ordering_token")


class VariableRoles:
    """The types of variables, by their handles; variables are looked up while they exist."""

    def __init__(self) -> None:
        self._types: dict[int, str] = {}
        self._handles: list[Any] = []  # kept, so that no other object gets the same id
        self._optimizers: dict[str, None] = {}
        self._copies: set[int] = set()  # variables of further replicas

    def learn(self, graphs: Iterable[Any]) -> None:
        """Find the types of the variables that `graphs` capture, unless they are known."""
        new = {id(handle): handle for graph in graphs for handle in captured(graph)}
        new = {key: handle for key, handle in new.items() if key not in self._types}
        if new:
            found = self._types_of_all()
            self._handles += new.values()
            self._types |= {key: found.get(key, "") for key in new}

    def _types_of_all(self) -> dict[int, str]:
        """The types of all variables that exist, by the id of the handle."""
        live = _live_objects()
        found: dict[int, str] = {}
        # A Keras variable may have been frozen after its TensorFlow variable was created.
        for variable in sorted(live[_VARIABLE], key=_is_of_keras):
            role = TRAINABLE_VARIABLE if getattr(variable, "trainable", False) else ""
            handles = _handles(variable)
            found |= dict.fromkeys(handles, role)
            self._copies.update(handles[1:])
        names = [getattr(owner, "name", None) for owner in live[OPTIMIZER_VARIABLE]]
        self._optimizers |= dict.fromkeys(name for name in names if isinstance(name, str))
        for role in (OPTIMIZER_VARIABLE, STATE_VARIABLE):
            for owner in live[role]:
                for variable in _owned(owner):
                    found |= dict.fromkeys(_handles(variable), role)
                    self._copies.update(_handles(variable)[1:])
        return found

    def type_of(self, handle: Any) -> str:
        """The type of the variable with this handle; empty for a variable that is not trained."""
        return self._types.get(id(handle), "")

    def is_copy(self, handle: Any) -> bool:
        """Whether the variable with this handle is that of a replica other than the first."""
        return id(handle) in self._copies

    def clear(self) -> None:
        """Drop the handles."""
        self._copies.clear()
        self._types.clear()
        self._handles.clear()

    @property
    def optimizers(self) -> list[str]:
        """The names of the optimizers that were found."""
        return list(self._optimizers)


def captured(graph: Any) -> Iterator[Any]:
    """The handles of variables that a graph captures from outside any graph."""
    for outside, _ in getattr(graph, "captures", ()):
        # Symbolic tensors have a graph.
        if getattr(outside, "dtype", None) == "resource" and not hasattr(outside, "graph"):
            yield outside


def _live_objects() -> dict[str, list[Any]]:
    """All variables and owners of variables, by their role."""
    role_of: dict[type, str] = {}
    found: dict[str, list[Any]] = {role: [] for role in _ROLES.values()}
    for thing in gc.get_objects():
        kind = type(thing)
        role = role_of.get(kind)
        if role is None:
            role = role_of[kind] = _role(kind)
        if role:
            found[role].append(thing)
    return found


def _role(kind: type) -> str:
    """What objects of this class are: `_VARIABLE`, the type of what they own, or neither."""
    for base in kind.__mro__:
        is_of_framework = str(base.__module__).partition(".")[0] in _FRAMEWORKS
        if is_of_framework and base.__name__ in _ROLES:
            return _ROLES[base.__name__]
    return ""


def _is_of_keras(variable: Any) -> bool:
    return hasattr(variable, "_value")


def _owned(owner: Any) -> list[Any]:
    """The variables of an optimizer, metric, random generator or the like."""
    with suppress(Exception):  # it may be only partly initialised
        found = getattr(owner, "variables", None)
        if callable(found):
            found = found()
        if found is not None:
            return list(found)
        kept = (getattr(owner, name, None) for name in _ATTRIBUTES)
        return [variable for variable in kept if variable is not None]
    return []


def _handles(variable: Any) -> list[int]:
    """The ids of the handles of a variable, one for each replica."""
    with suppress(Exception):
        variable = getattr(variable, "_value", variable)
        return [id(one.handle) for one in getattr(variable, "values", (variable,))]
    return []
