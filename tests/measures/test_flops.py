"""Which ops are counted, from which shapes, and what is said of the others."""

import numpy as np

from tfprof.measures import flops
from tfprof.model.builder import OpColumns, ProfileBuilder
from tfprof.model.ops import OutputShapes


def op(name, kind, *, inputs=(), outputs=(), seen=(), logged=0):
    """An op for `profile`; an input is a name, `name:slot`, or `^name` for a control edge."""
    return name, kind, [edge(text) for text in inputs], outputs, seen, logged


def edge(text):
    name, _, slot = text.partition(":")
    return (name[1:], -1) if name.startswith("^") else (name, int(slot or 0))


def profile(*ops, counts_float_ops=True):
    builder = ProfileBuilder(counts_float_ops=counts_float_ops)
    names, kinds, inputs, outputs, seen, logged = zip(*ops, strict=True) if ops else [()] * 6
    builder.add_ops(OpColumns.of(names, kinds, inputs, [None] * len(ops), outputs))
    for row, shapes in enumerate(seen):
        if shapes:
            builder.see_outputs([row], OutputShapes.of_rows([shapes]))
        if logged[row]:
            builder.set_float_ops([row], [logged[row]])
    return builder.build()


def squared(*, outputs=(), seen=(), slot=0):
    """What is counted for the square of one output of an op, None where nothing is."""
    source = op("a", "Source", outputs=outputs, seen=seen)
    found = flops.count(profile(source, op("b", "Square", inputs=[f"a:{slot}"])))
    return int(found.per_run[1]) if found.is_counted[1] else None


def test_a_profile_without_ops_has_no_float_ops():
    found = flops.count(profile())

    assert found.per_run.tolist() == []
    assert found.uncounted_kinds() == []


def test_an_op_is_counted_from_the_stated_shapes():
    assert squared(outputs=[(2, 3)]) == 6


def test_an_input_has_the_shape_of_the_slot_it_comes_from():
    assert squared(outputs=[(2, 3), (5,)], slot=1) == 5


def test_a_slot_that_its_op_lacks_has_no_shape():
    assert squared(outputs=[(2, 3)], slot=1) is None


def test_a_dim_of_zero_counts_as_zero():
    assert squared(outputs=[(0, 3)]) == 0


def test_a_control_edge_is_no_input():
    found = flops.count(
        profile(
            op("a", "Source", outputs=[(2, 3)]),
            op("b", "AddN", inputs=["^c", "a", "a", "^c"]),
            op("c", "NoOp"),
        )
    )

    assert found.per_run.tolist() == [0, 6, 0]


def test_an_input_from_an_op_nobody_defined_has_no_shape():
    found = flops.count(profile(op("b", "Square", inputs=["a"])))

    assert found.without_shape.tolist() == [True]


def test_an_input_that_is_missing_has_no_shape():
    found = flops.count(profile(op("b", "Square")))

    assert found.without_shape.tolist() == [True]


def test_an_unknown_dim_leaves_an_op_uncounted():
    assert squared(outputs=[(-1, 3)]) is None


def test_an_unknown_rank_leaves_an_op_uncounted():
    assert squared(outputs=[None]) is None


def test_an_unknown_dim_is_filled_by_what_a_run_saw():
    assert squared(outputs=[(-1, 3)], seen=[(4, 3)]) == 12


def test_an_unknown_rank_is_filled_by_what_a_run_saw():
    assert squared(outputs=[None], seen=[(4, 3)]) == 12


def test_a_scalar_can_be_seen():
    assert squared(outputs=[None], seen=[()]) == 1


def test_what_the_graph_leaves_out_is_filled_by_what_a_run_saw():
    assert squared(seen=[(4, 3), (5,)], slot=1) == 5


def test_a_stated_shape_stands_against_what_a_run_saw():
    assert squared(outputs=[(2, 3)], seen=[(4, 3)]) == 6


def test_a_seen_shape_of_another_rank_is_ignored():
    assert squared(outputs=[(-1, 3)], seen=[(4, 3, 1)]) is None


def test_a_seen_shape_with_another_dim_is_ignored():
    assert squared(outputs=[(-1, 3)], seen=[(4, 5)]) is None


def test_a_seen_shape_that_is_itself_unknown_is_ignored():
    assert squared(outputs=[(-1, 3)], seen=[(-1, 3)]) is None
    assert squared(outputs=[(-1, 3)], seen=[None]) is None


def test_a_run_that_saw_fewer_outputs_than_the_graph_states_is_ignored():
    assert squared(outputs=[(-1,), (-1,)], seen=[(4,)]) is None


def test_an_op_can_be_counted_from_its_own_seen_output():
    found = flops.count(profile(op("a", "Mul", outputs=[(-1, 3)], seen=[(4, 3)])))

    assert found.per_run.tolist() == [12]


def test_a_logged_number_wins():
    found = flops.count(profile(op("a", "Mul", outputs=[(2, 3)], logged=100)))

    assert found.per_run.tolist() == [100]
    assert found.is_logged.tolist() == [True]
    assert found.is_counted.tolist() == [False]


def test_a_logged_number_needs_neither_rule_nor_shape():
    found = flops.count(profile(op("a", "Gelu", logged=100), op("b", "Mul", logged=7)))

    assert found.per_run.tolist() == [100, 7]
    assert not found.without_rule.any()
    assert not found.without_shape.any()


def test_nothing_is_counted_where_the_log_alone_is_asked():
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


def test_a_count_beyond_64_bits_is_no_count():
    sides = [(2**31, 2**31), (2**31, 2**32), (2**62,) * 40]
    found = flops.count(profile(*(op(str(n), "Mul", outputs=[s]) for n, s in enumerate(sides))))

    assert found.per_run.tolist() == [2**62, 0, 0]
    assert found.without_shape.tolist() == [False, True, True]


def test_kinds_without_a_rule_are_told_most_frequent_first_then_by_name():
    found = flops.count(
        profile(
            op("a", "Relu"),
            op("b", "Gelu"),
            op("c", "Tanh"),
            op("d", "Tanh"),
            op("e", "Const"),
            op("f", "Mul"),
        )
    )

    assert found.uncounted_kinds() == [("Tanh", 2), ("Gelu", 1), ("Relu", 1)]
    assert found.shapeless_kinds() == [("Mul", 1)]


def test_kinds_are_told_of_the_chosen_ops_alone():
    found = flops.count(
        profile(op("a", "Relu"), op("b", "Gelu"), op("c", "Mul"), op("d", "Square"))
    )
    chosen = np.array([True, False, True, False])

    assert found.uncounted_kinds(chosen) == [("Relu", 1)]
    assert found.shapeless_kinds(chosen) == [("Mul", 1)]
