"""Recognises frozen graphs, in which constants have replaced the variables."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tfprof.columns import Coded, Ints
from tfprof.formats.graph_def import GraphColumns

_VARIABLES = frozenset(
    ("AutoReloadVariable", "ReadVariableOp", "VarHandleOp", "Variable", "VariableV2")
)
_READ = "/read"  # TensorFlow 1 reads the variable `w` with the op `w/read`
_HANDLE = "/resource"  # TensorFlow 2 replaces the handle of a variable by such a constant


def weights(graph: GraphColumns) -> list[int]:
    """The rows of the constants that were variables; empty if the graph is not frozen.

    A graph is frozen if it has no variables, and an `Identity` reads a constant as a variable was
    read: the `Identity` is named `w/read` and the constant `w` (`tf.compat.v1.graph_util`), or the
    constant is named `…/ReadVariableOp/resource` (`convert_variables_to_constants_v2`). In such a
    graph, all constants that have these names and are read in this way were variables.
    """
    kinds = set(graph.op.values)
    if kinds & _VARIABLES or not {"Const", "Identity"} <= kinds:
        return []
    if not (read := set(_read(graph))):
        return []
    constants = {graph.name[row]: row for row in _rows(graph.op, "Const").tolist()}
    return sorted(constants[name] for name in read & constants.keys())


def _read(graph: GraphColumns) -> Iterator[str]:
    """The names of ops that an `Identity` reads as if they were variables."""
    for row in _rows(graph.op, "Identity").tolist():
        first = int(graph.input_offsets[row])
        if first == int(graph.input_offsets[row + 1]):
            continue
        source = graph.input_name[first]
        was_handle = source.endswith(_HANDLE) and "ReadVariableOp" in source.split("/")[-2]
        if was_handle or graph.name[row] == source + _READ:
            yield source


def _rows(kinds: Coded, wanted: str) -> Ints:
    codes = [code for code, kind in enumerate(kinds.values) if kind == wanted]
    return np.flatnonzero(np.isin(kinds.codes, codes))
