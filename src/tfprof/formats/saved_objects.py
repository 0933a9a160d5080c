"""The objects of a SavedModel: its variables, and the functions of its signatures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Self

from tfprof.columns import Shape
from tfprof.formats.messages import Message
from tfprof.formats.object_graph import Objects

_SIGNATURES: Final = "signatures"
# Keras lists the variables of a model in these attributes of the root.
_LISTED: Final = "variables"
_TRAINABLE: Final = "trainable_variables"
# Attributes that do not lead to variables of the model. Keras repeats them in `_all_variables`;
# `_state_var` is the state of a random number generator.
_OTHERS: Final = frozenset(
    {_SIGNATURES, "keras_api", "metrics", "_metrics", "_all_variables", "_state_var"}
)
# An attribute that all Keras layers have.
_OF_LAYERS: Final = "_inbound_nodes"


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of the program."""

    name: str
    is_trainable: bool
    shape: Shape


@dataclass(frozen=True, slots=True, eq=False)
class SavedObjects:
    """The objects of a program, by id; checkpoints use the same ids."""

    variables: dict[int, Variable] = field(default_factory=dict)  # including those of optimizers
    model_variables: tuple[int, ...] = ()  # the ids of those that belong to the model
    # Function names and the ids of the objects passed after the function's own arguments.
    bound: dict[str, list[int]] = field(default_factory=dict)
    signatures: dict[str, str] = field(default_factory=dict)  # and the functions that they call

    @classmethod
    def of(cls, message: Message) -> Self:
        """Decode a SavedObjectGraph."""
        objects = Objects(message.nodes)
        variables = {
            number: _variable(node.variable)
            for number, node in enumerate(message.nodes)
            if node.HasField("variable")
        }
        listed, trainable = objects.attribute(_LISTED), objects.attribute(_TRAINABLE)
        if listed is None or trainable is None:
            own = objects.of_model(_OTHERS)
        else:
            own = set(listed.values())
            variables = _trainable(variables, set(trainable.values()))
        functions = objects.attribute(_SIGNATURES) or {}
        bound = {
            name: list(function.bound_inputs)
            for name, function in message.concrete_functions.items()
        }
        own &= variables.keys() - _repeated(objects, variables, set().union(*bound.values()))
        return cls(
            variables=variables,
            model_variables=tuple(sorted(own)),
            bound=bound,
            signatures={
                name: message.nodes[number].bare_concrete_function.concrete_function_name
                for name, number in functions.items()
            },
        )

    def unread(self, signature: str, read: Mapping[str, int]) -> list[int]:
        """The model's variables that are not in `read`, except those of other signatures only.

        `read` has the names of ops that are variables, and the ids of their objects if known.
        """
        numbers = set(read.values())
        known = numbers | self._bound_elsewhere(signature)
        # A variable that is read may be in the file again under another id.
        others = self.variables.keys() & numbers - set(self.model_variables)
        names = {self.variables[number].name for number in others}
        names |= {name for name, number in read.items() if number < 0}
        return [
            number
            for number in self.model_variables
            if number not in known and self.variables[number].name not in names
        ]

    def _bound_elsewhere(self, signature: str) -> set[int]:
        """The objects bound to the functions of other signatures, but not to this one's."""
        bound = {name: set(self.bound.get(called, ())) for name, called in self.signatures.items()}
        own = bound.pop(signature, set())
        return set().union(*bound.values()) - own


def _variable(message: Message) -> Variable:
    shape = message.shape
    dims = None if shape.unknown_rank else tuple(dim.size for dim in shape.dim)
    return Variable(message.name, message.trainable, dims)


def _trainable(variables: Mapping[int, Variable], trainable: set[int]) -> dict[int, Variable]:
    """The variables as listed: those of frozen layers are only missing from the list."""
    return {
        number: replace(variable, is_trainable=number in trainable)
        for number, variable in variables.items()
    }


def _repeated(objects: Objects, variables: Mapping[int, Variable], bound: set[int]) -> set[int]:
    """The objects that repeat a variable that functions use under another id.

    A program may store a weight of a Keras layer and the variable inside it; they have the same
    name and shape, and functions are bound to one of them.
    """
    of_layers = {
        number
        for attributes in objects.children
        if _OF_LAYERS in attributes
        for number in attributes.values()
    }
    used = {(variables[number], number in of_layers) for number in bound & variables.keys()}
    return {
        number
        for number, variable in variables.items()
        if number not in bound and (variable, number not in of_layers) in used
    }
