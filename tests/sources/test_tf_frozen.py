"""Frozen graphs: constants that were variables count as parameters."""

import pytest

from sources.shape_programs import const, inferred, op
from sources.tf_files import graph, read
from tfprof.measures.numbers import EVERYTHING, per_op

DECLARED = {"shape": {"dim": [{"size": -1}, {"size": 3}]}}
X = op("x", "Placeholder", shape=DECLARED)
OLD = [const("w", [[1.0] * 4] * 3, "f4"), op("w/read", "Identity", ["w"])]
NAME = "dense/MatMul/ReadVariableOp"
NEW = [
    const(f"{NAME}/resource", [[1.0] * 4] * 3, "f4"),
    op(NAME, "Identity", [f"{NAME}/resource"]),
]


def params(*nodes, **options):
    profile = read(graph(*nodes), **options)
    return int(per_op(profile, EVERYTHING)["params"].sum())


@pytest.mark.parametrize(("weights", "name"), [(OLD, "w/read"), (NEW, NAME)])
def test_constants_that_were_variables_count_as_parameters_and_inputs_do_not(weights, name):
    notes = []
    nodes = [X, *weights, op("y", "MatMul", ["x", name])]

    profile = read(graph(*nodes), notes=notes)

    numbers = per_op(profile, EVERYTHING)
    assert int(numbers["params"].sum()) == 12
    assert int(numbers["float_ops"].sum()) == 2 * 3 * 4
    assert notes == [
        (
            "graph.pb: the inputs accept any batch size; everything is counted for a batch of 1. "
            "Set another batch size with --batch_size."
        )
    ]


@pytest.mark.parametrize(
    "nodes",
    [
        [*OLD, op("v", "VariableV2", shape={"shape": {"dim": [{"size": 5}]}})],
        [OLD[0], op("other", "Identity", ["w"])],
        [op("w", "Const"), op("r/read", "Identity", ["x"]), op("alone", "Identity")],
    ],
    ids=["has variables", "read by another name", "no constant is read"],
)
def test_other_graphs_are_read_as_before(nodes):
    fixed = op("x", "Placeholder", shape={"shape": {"dim": [{"size": 2}, {"size": 3}]}})

    assert params(fixed, *nodes) == 6 + 5 * (len(nodes) == 3 and nodes[2].op == "VariableV2")


def test_the_shapes_of_large_constants_are_read_without_their_values():
    large = const("w", [[1] * 100] * 100)
    nodes = [X, large, op("w/read", "Identity", ["w"]), op("y", "Fill", ["w/read", "x"])]

    found = inferred(*nodes)

    assert found["w/read"] == (100, 100)
    assert found["y"] == []


def test_damaged_constants_have_no_shape():
    damaged = op("w", "Const", value={"s": b"text"})

    assert inferred(X, damaged, op("y", "Neg", ["w"]))["y"] in ([], None)
