"""Finds the variables among the ops of a flattened graph, and their shapes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from tfprof.columns import Coded, Ints, Ragged, Shape, Shapes, Strings, ints
from tfprof.model.ops import OutputShapes
from tfprof.sources.tf_attributes import EncodedAttributes

# Their `shape` attribute is the shape of the parameters. Placeholders also have this attribute.
_VARIABLES = ("VarHandleOp", "VariableV2", "Variable")
_HANDLES = ("Placeholder", "PlaceholderWithDefault", "_Arg")  # may be handles of variables
_READS = ("ReadVariableOp",)
# The shared name that TensorFlow gives to variables that are not shared.
_ANONYMOUS = b"cd2c89b7-88b7-44c8-ad83-06c2a9158347"
# The state of Keras layers that draw random numbers.
_SEED_STATE = re.compile(r"(?:.*/)?seed_generator_state(?:_\d+)?", re.DOTALL)


def is_parameter(name: str) -> bool:
    """Whether a variable of this name is a parameter: random number generators also have state."""
    return _SEED_STATE.fullmatch(name) is None


@dataclass(slots=True, eq=False)
class Variables:
    """Finds the variables among ops, each once, and ignores other placeholders."""

    kind: Coded
    inputs: Ragged
    outputs: OutputShapes
    node: Strings
    attributes: EncodedAttributes
    unknown: list[str] = field(default_factory=list)  # of unknown shape; filled by `shapes`

    def shapes(self, stated: Shapes) -> Shapes:
        """The shape of each op's parameters, from the `shape` attributes of all ops."""
        found: dict[int, Shape] = {}
        seen: set[tuple[str, bytes | str]] = set()
        for row in self._of_kinds(_VARIABLES).tolist():
            key = self._identity(row)
            if key not in seen and is_parameter(self.node[row]):
                found[row] = stated[row]
            seen.add(key)
        found |= self._handles()
        codes = Shapes.of([None, *found.values()])
        column = np.zeros(len(stated), np.int64)  # code 0 is "no shape"
        column[list(found)] = codes.codes[1:]
        return Shapes(ints(column), codes.values)

    def _identity(self, row: int) -> tuple[str, bytes | str]:
        """A key that is equal for ops that refer to the same variable."""
        ((container, shared),) = self.attributes.encoded_values(
            ints([row]), ("container", "shared_name")
        )
        # An encoded text attribute has a tag and a length before the text.
        if shared and len(shared) > 2 and not shared.endswith(_ANONYMOUS):
            return "shared", (container or b"") + shared
        if shared and shared.endswith(_ANONYMOUS):
            return "row", str(row)
        return "node", self.node[row]

    def _handles(self) -> dict[int, Shape]:
        """The placeholders that are handles of variables, because an op reads a variable there."""
        is_handle = np.zeros(len(self.kind), np.bool_)
        is_handle[self._of_kinds(_HANDLES)] = True
        found: dict[int, Shape] = {}
        for row in self._of_kinds(_READS).tolist():
            sources = self.inputs[row]
            if len(sources) and is_handle[sources[0]]:
                shape = self.outputs.of(row, 0)
                if found.get(int(sources[0])) is None:
                    found[int(sources[0])] = shape
        self.unknown = [self.node[row] for row, shape in found.items() if _is_open(shape)]
        return found

    def _of_kinds(self, kinds: Iterable[str]) -> Ints:
        codes = [code for code, kind in enumerate(self.kind.values) if kind in kinds]
        return np.flatnonzero(np.isin(self.kind.codes, codes))


def _is_open(shape: Shape) -> bool:
    return shape is None or min(shape, default=0) < 0
