"""Which ops are counted, from which shapes, and how the others are reported."""

from dataclasses import replace
from itertools import product
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from floors import checked, floor
from tfprof.measures import flops
from tfprof.measures.flop_rules import registry
from tfprof.measures.flop_rules.registry import OpFacts, UnknownShape, no_arithmetic, rule_of
from tfprof.model.builder import OpColumns, ProfileBuilder
from tfprof.model.ops import OutputShapes


class Attributes:
    """A reader of attributes that are given as dictionaries."""

    def __init__(self, values):
        self.values = values

    def get(self, position, name):
        return self.values[position].get(name)

    def encoded(self, _):
        return {}

    def encoded_values(self, positions, names):
        return [tuple(repr(self.get(at, name)).encode() for name in names) for at in positions]


def op(name, kind, *, inputs=(), outputs=(), seen=(), logged=0, attributes=(), stated=()):
    """An op for `profile`; an input is a name, `name:slot`, or `^name` for a control edge."""
    edges = [edge(text) for text in inputs]
    return name, kind, edges, outputs, seen, logged, dict(attributes), stated


def edge(text):
    name, _, slot = text.partition(":")
    return (name[1:], -1) if name.startswith("^") else (name, int(slot or 0))


def profile(*ops, counts_float_ops=True):
    builder = ProfileBuilder(counts_float_ops=counts_float_ops)
    columns = zip(*ops, strict=True) if ops else [()] * 8
    names, kinds, inputs, outputs, seen, logged, attributes, stated = columns
    reader = Attributes(attributes)
    added = OpColumns.of(names, kinds, inputs, [None] * len(ops), outputs, attributes=reader)
    builder.add_ops(replace(added, stated_inputs=OutputShapes.of_rows(stated)))
    for row, shapes in enumerate(seen):
        if shapes:
            builder.see_outputs([row], OutputShapes.of_rows([shapes]))
        if logged[row]:
            builder.set_float_ops([row], [logged[row]])
    return builder.build()


def squared(*, outputs=(), seen=(), slot=0):
    """The count for the square of one output of an op, None if it is not counted."""
    source = op("a", "Source", outputs=outputs, seen=seen)
    found = flops.count(profile(source, op("b", "Square", inputs=[f"a:{slot}"])))
    return int(found.per_run[1]) if found.is_counted[1] else None


def test_a_profile_without_ops_has_no_float_ops():
    found = flops.count(profile())

    assert found.per_run.tolist() == []
    assert found.uncounted_kinds() == []


def test_an_op_is_counted_from_the_stated_shapes():
    assert squared(outputs=[(2, 3)]) == 6


def test_an_input_has_the_shape_of_the_output_slot_it_comes_from():
    assert squared(outputs=[(2, 3), (5,)], slot=1) == 5


def test_a_slot_that_does_not_exist_has_no_shape():
    assert squared(outputs=[(2, 3)], slot=1) is None


def test_a_dim_of_zero_counts_as_zero():
    assert squared(outputs=[(0, 3)]) == 0


def test_a_control_edge_is_not_an_input():
    found = flops.count(
        profile(
            op("a", "Source", outputs=[(2, 3)]),
            op("b", "AddN", inputs=["^c", "a", "a", "^c"]),
            op("c", "NoOp"),
        )
    )

    assert found.per_run.tolist() == [0, 6, 0]


def test_an_input_from_an_undefined_op_has_no_shape():
    found = flops.count(profile(op("b", "Square", inputs=["a"])))

    assert found.without_shape.tolist() == [True]


def test_a_missing_input_has_no_shape():
    found = flops.count(profile(op("b", "Square")))

    assert found.without_shape.tolist() == [True]


def test_an_op_with_an_unknown_dim_is_not_counted():
    assert squared(outputs=[(-1, 3)]) is None


def test_an_op_with_an_unknown_rank_is_not_counted():
    assert squared(outputs=[None]) is None


def test_an_unknown_dim_is_filled_in_from_a_run():
    assert squared(outputs=[(-1, 3)], seen=[(4, 3)]) == 12


def test_an_unknown_rank_is_filled_in_from_a_run():
    assert squared(outputs=[None], seen=[(4, 3)]) == 12


def test_an_unknown_rank_can_be_filled_in_by_a_scalar():
    assert squared(outputs=[None], seen=[()]) == 1


def test_outputs_missing_from_the_graph_are_filled_in_from_a_run():
    assert squared(seen=[(4, 3), (5,)], slot=1) == 5


def test_a_stated_shape_takes_precedence_over_a_seen_one():
    assert squared(outputs=[(2, 3)], seen=[(4, 3)]) == 6


def test_a_seen_shape_of_another_rank_is_ignored():
    assert squared(outputs=[(-1, 3)], seen=[(4, 3, 1)]) is None


def test_a_seen_shape_with_another_dim_is_ignored():
    assert squared(outputs=[(-1, 3)], seen=[(4, 5)]) is None


def test_a_seen_shape_that_is_unknown_is_ignored():
    assert squared(outputs=[(-1, 3)], seen=[(-1, 3)]) is None
    assert squared(outputs=[(-1, 3)], seen=[None]) is None


def test_a_run_that_saw_fewer_outputs_than_the_graph_states_is_ignored():
    assert squared(outputs=[(-1,), (-1,)], seen=[(4,)]) is None


def test_stated_inputs_take_precedence_over_edges():
    source = op("a", "Source", outputs=[(5, 5)])
    product = op("b", "MatMul", inputs=["a", "a"], stated=[(2, 3), (3, 4)], outputs=[(2, 4)])

    found = flops.count(profile(source, product))

    assert found.per_run[1] == 2 * 2 * 3 * 4


def test_an_op_with_an_unknown_stated_input_is_not_counted():
    found = flops.count(profile(op("b", "MatMul", stated=[None, (3, 4)], outputs=[(2, 4)])))

    assert found.without_shape.tolist() == [True]


def test_an_op_can_be_counted_from_its_seen_output():
    found = flops.count(profile(op("a", "Mul", outputs=[(-1, 3)], seen=[(4, 3)])))

    assert found.per_run.tolist() == [12]


def test_a_logged_number_takes_precedence_over_counting():
    found = flops.count(profile(op("a", "Mul", outputs=[(2, 3)], logged=100)))

    assert found.per_run.tolist() == [100]
    assert found.is_logged.tolist() == [True]
    assert found.is_counted.tolist() == [False]


def test_a_logged_number_needs_neither_rule_nor_shape():
    found = flops.count(profile(op("a", "Gelu", logged=100), op("b", "Mul", logged=7)))

    assert found.per_run.tolist() == [100, 7]
    assert not found.without_rule.any()
    assert not found.without_shape.any()


def test_nothing_is_counted_if_counting_is_turned_off():
    found = flops.count(
        profile(
            op("a", "Mul", outputs=[(2, 3)]),
            op("b", "Mul", logged=7),
            op("c", "Gelu"),
            counts_float_ops=False,
        )
    )

    assert found.per_run.tolist() == [0, 7, 0]
    assert found.is_logged.tolist() == [False, True, False]
    assert not (found.is_counted | found.without_rule | found.without_shape).any()


def test_each_op_is_either_logged_or_counted_or_lacks_a_rule_or_a_shape():
    found = flops.count(
        profile(
            op("a", "Mul", logged=7),
            op("b", "Mul", outputs=[(2,)]),
            op("c", "Identity"),
            op("d", "Gelu"),
            op("e", "Mul"),
        )
    )

    assert found.is_logged.tolist() == [True, False, False, False, False]
    assert found.is_counted.tolist() == [False, True, True, False, False]
    assert found.without_rule.tolist() == [False, False, False, True, False]
    assert found.without_shape.tolist() == [False, False, False, False, True]


def test_a_count_beyond_64_bits_is_dropped():
    sides = [(2**31, 2**31), (2**31, 2**32), (2**62,) * 40]
    found = flops.count(profile(*(op(str(n), "Mul", outputs=[s]) for n, s in enumerate(sides))))

    assert found.per_run.tolist() == [2**62, 0, 0]
    assert found.without_shape.tolist() == [False, True, True]


def test_kinds_without_a_rule_are_listed_most_frequent_first_then_by_name():
    found = flops.count(
        profile(
            op("a", "Swish"),
            op("b", "Gelu"),
            op("c", "Mish"),
            op("d", "Mish"),
            op("e", "Const"),
            op("f", "Mul"),
        )
    )

    assert found.uncounted_kinds() == [("Mish", 2), ("Gelu", 1), ("Swish", 1)]
    assert found.shapeless_kinds() == [("Mul", 1)]


def test_only_kinds_of_the_chosen_ops_are_listed():
    found = flops.count(
        profile(op("a", "Swish"), op("b", "Gelu"), op("c", "Mul"), op("d", "Square"))
    )
    chosen = np.array([True, False, True, False])

    assert found.uncounted_kinds(chosen) == [("Swish", 1)]
    assert found.shapeless_kinds(chosen) == [("Mul", 1)]


class SingleOpTensors:
    """The shapes of one op at a time, read directly from the columns."""

    def __init__(self, ops):
        self.ops = ops

    def edges(self, op):
        inputs = self.ops.inputs
        here = inputs.of(op)
        edges = zip(inputs.source[here].tolist(), inputs.slot[here].tolist(), strict=True)
        return [(source, slot) for source, slot in edges if slot >= 0]

    def input_count(self, op):
        return self.ops.stated_inputs.count(op) or len(self.edges(op))

    def input(self, op, position):
        if self.ops.stated_inputs.count(op):
            shape = self.ops.stated_inputs.of(op, position)
            return None if shape is None or min(shape, default=0) < 0 else shape
        edges = self.edges(op)
        source, slot = edges[position] if 0 <= position < len(edges) else (-1, 0)
        return None if source < 0 else self.output(source, slot)

    def output(self, op, slot):
        outputs, seen_outputs = self.ops.outputs, self.ops.seen_outputs
        stated, seen = outputs.of(op, slot), seen_outputs.of(op, slot)
        if stated is not None and min(stated, default=0) >= 0:
            return stated
        if seen is None or min(seen, default=0) < 0:
            return None
        if outputs.count(op) not in (0, seen_outputs.count(op)):
            return None
        if stated is None:
            return seen
        fits = len(stated) == len(seen) and all(
            dim in (-1, there) for dim, there in zip(stated, seen, strict=True)
        )
        return seen if fits else None


def counted_alone(built, row):
    """The float ops of one op by itself, None if it has no rule or a shape is unknown."""
    ops = built.ops
    rule = rule_of(ops.kind[row])
    try:
        number = rule and rule(OpFacts(ops.kind[row], row, SingleOpTensors(ops), ops.origins))
    except (UnknownShape, OverflowError):
        return None
    number = getattr(number, "float_ops", number)
    return number if number is not None and 0 <= number < 2**63 else None


KINDS = (
    *("Square", "Mul", "AddN", "Sum", "MatMul", "MaxPool", "Conv2DBackpropInput", "Const", "Op"),
    *("Einsum", "_FusedMatMul", "FusedBatchNormV3", "ApplyMomentum", "CudnnRNN", "RandomUniform"),
)
SHAPES = (
    *(None, (), (0,), (2,), (3,), (2, 3), (3, 2), (-1, 3), (-1, -1), (1, 2, 2, 3), (1, 2, 3, 2)),
    *((2**59,), (2**60,), (2**30, 2), (2**30 - 1, 2), (2**15, 1, 1, 1), (-1, 2**62)),
    *((1,) * 7, (1,) * 8, (2,) * 8, (-1,) + (2,) * 7),
)
ATTRIBUTES = (
    *({}, {"transpose_a": True}, {"transpose_a": 0}, {"ksize": (1, 2, 2, 1)}, {"ksize": (True,)}),
    *({"equation": "a,a->"}, {"equation": "...a->..."}, {"fused_ops": ("Relu",)}),
    *({"use_nesterov": True}, {"is_training": False}, {"fused_ops": ("Unheard",)}),
    *({"strides": (1, 2, 2, 1)}, {"strides": (1, 1, 2, 1), "data_format": "NCHW"}),
)
NAMES = "abcdefghij"
sources = [*NAMES, *(f"{name}:1" for name in NAMES), "^a", "gone"]
shapes = st.lists(st.sampled_from(SHAPES), max_size=2)
traits = st.tuples(
    st.sampled_from(list(product(KINDS, ATTRIBUTES, (0, 0, 7)))),
    st.lists(st.sampled_from(sources), max_size=3),
    shapes,
    shapes,
    st.just([]) | st.lists(st.sampled_from(SHAPES), max_size=3),
)


@floor(0.05)  # measured: 0.4
@given(st.lists(traits, max_size=len(NAMES)), st.sampled_from([1, 3]))
def test_ops_counted_together_get_the_same_numbers_as_alone(drawn, few):
    built = profile(
        *(
            op(n, kind, inputs=i, outputs=o, seen=s, logged=a, attributes=b, stated=t)
            for n, ((kind, b, a), i, o, s, t) in zip(NAMES, drawn, strict=False)
        )
    )

    with mock.patch.object(flops, "_FEW", few):
        found = flops.count(built)

    checked(found.is_counted.any())
    for row, logged in enumerate(built.ops.logged_float_ops.tolist()):
        alone = counted_alone(built, row)
        has_rule = rule_of(built.ops.kind[row]) is not None
        assert found.per_run[row] == (logged or alone or 0)
        assert found.is_logged[row] == (logged != 0)
        assert found.is_counted[row] == (not logged and alone is not None)
        assert found.without_rule[row] == (not logged and not has_rule)
        assert found.without_shape[row] == (not logged and has_rule and alone is None)


@pytest.fixture
def called_rows(monkeypatch):
    """Registers the kind `Asks` and returns a list of the rows its rule is called for."""
    rows = []

    def rule(op):
        rows.append(op.row)
        if op.input(0) == (2,):
            return 7
        return sum(op.sizes("ksize"))

    monkeypatch.setattr(registry, "_rules", {"Source": no_arithmetic, "Asks": rule})
    return rows


def test_ops_with_the_same_answers_are_counted_once(called_rows):
    cases = product("xy", [(1, 2), (3, 4)], range(20))
    asking = [
        op(f"op{row:02}", "Asks", inputs=[source], attributes={"ksize": window})
        for row, (source, window, _) in enumerate(cases)
    ]
    sources = [op("x", "Source", outputs=[(2,)]), op("y", "Source", outputs=[(3,)])]

    found = flops.count(profile(*asking, *sources))

    assert found.per_run.tolist() == [7] * 40 + [3] * 20 + [7] * 20 + [0, 0]
    assert len(called_rows) == 3  # the rule does not query the windows of ops that take `x`
