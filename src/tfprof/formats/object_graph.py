"""The objects of a V2 checkpoint: the names of its variables, and those of optimizers.

SavedModels store their objects in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from tfprof.errors import InputError
from tfprof.formats.messages import DecodeError, Message, decode

OBJECT_GRAPH: Final = "_CHECKPOINTABLE_OBJECT_GRAPH"
"""The tensor of a checkpoint that contains the graph of its objects."""

_ATTRIBUTE: Final = "/.ATTRIBUTES/"  # ends the path of an object in a key

_STEPS: Final = frozenset({"_iterations", "iter", "iterations"})
_RATES: Final = frozenset({"_learning_rate", "learning_rate", "_variables"})
_OPTIMIZER: Final = "optimizer"
_TRAINED: Final = "_trainable_variables"  # of an optimizer: the parameters that it updates

# An archive of Keras contains these variables a second time, in other objects.
_COPIES: Final = "_all_variables"


class Owner(Enum):
    """The kind of object that a variable belongs to."""

    MODEL = "model"
    OPTIMIZER = "optimizer"
    METRIC = "metric"


@dataclass(frozen=True, slots=True)
class ObjectVariable:
    """A variable of an object."""

    key: str
    """Its name in the checkpoint."""
    path: str
    """The attributes that lead to it from the root: `model/layer_with_weights-0/kernel`."""
    full_name: str
    """Its own name: `dense/kernel`; not necessarily unique."""
    owner: Owner
    is_trainable: bool | None
    """None if unknown."""


def object_keys(path: str, data: bytes) -> list[str]:
    """The key of the first variable of each object, empty for other objects.

    Here and below, `data` is the tensor `OBJECT_GRAPH` of the checkpoint at `path`.
    """
    nodes = _nodes(path, data)
    return [node.attributes[0].checkpoint_key if node.attributes else "" for node in nodes]


def object_variables(path: str, data: bytes) -> Iterator[ObjectVariable]:
    """Every variable once, in the order of the objects."""
    objects = Objects(_nodes(path, data))
    trained = objects.trained()
    of_model = objects.of_model() | trained
    copies = objects.copies()
    for number, node in enumerate(objects.nodes):
        for saved in node.attributes if number not in copies else ():
            key = saved.checkpoint_key
            path = key.partition(_ATTRIBUTE)[0]
            owner = Owner.MODEL if number in of_model else Owner.OPTIMIZER
            if path.startswith("keras_api/metrics/"):
                owner = Owner.METRIC
            yield ObjectVariable(
                key, path, saved.full_name, owner, number in trained if trained else None
            )


def _nodes(path: str, data: bytes) -> list[Message]:
    try:
        return list(decode("tensorflow.TrackableObjectGraph", data).nodes)
    except DecodeError:
        trouble = "is damaged: its list of variables cannot be read; save it again or fetch it"
        raise InputError(path, f"{trouble} again.") from None


class Objects:
    """The objects by number; the first is the root."""

    def __init__(self, nodes: Sequence[Message]) -> None:
        self.nodes = nodes
        self.children = [
            {
                child.local_name: child.node_id
                for child in node.children
                if 0 <= child.node_id < len(nodes)
            }
            for node in nodes
        ]

    def of_model(self, others: frozenset[str] = frozenset()) -> set[int]:
        """The objects that can be reached without passing through an optimizer.

        `others` are attributes that do not lead to objects of the model either.
        """
        slots = {slot.slot_variable_node_id for node in self.nodes for slot in node.slot_variables}
        named = {names[name] for names in self.children for name in names.keys() & others}
        return self._below([0], set(self._optimizers()) | slots | named)

    def attribute(self, name: str) -> dict[str, int] | None:
        """The attributes of an attribute of the root, or the elements if it is a list."""
        number = self.children[0].get(name) if self.children else None
        return None if number is None else self.children[number]

    def trained(self) -> set[int]:
        """The variables that are known to be trainable."""
        lists = [self.children[number].get(_TRAINED) for number in self._optimizers()]
        if self.children:
            lists.append(self.children[0].get("trainable_variables"))
        return self._below([number for number in lists if number is not None], set())

    def copies(self) -> set[int]:
        """The variables that repeat others."""
        root = self.children[0] if self.children else {}
        return self._below([root[_COPIES]], set()) if {_COPIES, "variables"} <= set(root) else set()

    def _optimizers(self) -> Iterator[int]:
        for number, node in enumerate(self.nodes):
            names = self.children[number].keys()
            if node.slot_variables or (names & _STEPS and names & _RATES):
                yield number
            if _OPTIMIZER in names:
                yield self.children[number][_OPTIMIZER]

    def _below(self, start: list[int], excluded: set[int]) -> set[int]:
        """The objects that can be reached from `start`, without those in `excluded`."""
        found: set[int] = set()
        waiting = list(start)
        while waiting:
            number = waiting.pop()
            if number < len(self.nodes) and number not in found and number not in excluded:
                found.add(number)
                waiting += self.children[number].values()
        return found
