"""What an answer can tell of its rows besides numbers."""

from asking import ask
from build import CPU, GPU, op, profile, run
from tfprof.columns import ints
from tfprof.views.view import single_members


def test_an_op_goes_by_its_kind_its_device_and_its_logged_types():
    p = profile(op("a", "MatMul", types=["mine", "_trainable"]), run("a", device=CPU))

    assert ask("scope", p).types(1) == [CPU, "MatMul", "_trainable", "mine"]


def test_the_types_of_many_ops_are_gathered():
    p = profile(op("a", "Add", types=["x"]), op("b", "Add", types=["y", "x"]))

    assert ask("op", p).types(1) == ["Add", "x", "y"]


def test_an_op_that_ran_has_its_device():
    assert ask("scope", profile(op("a"), run("a", device=GPU))).devices(1) == [GPU]


def test_an_op_that_never_ran_has_a_nameless_device():
    assert ask("scope", profile(op("a"))).devices(1) == [""]


def test_a_row_that_stands_for_no_op_has_no_device():
    assert ask("scope", profile(op("a/b"))).devices(1) == []


def test_the_devices_of_many_ops_are_each_named_once_and_in_order():
    runs = run("c", device=GPU), run("a", device=CPU), run("d", device=CPU)
    p = profile(*(op(name, "Add") for name in "abcd"), *runs)

    assert ask("op", p).devices(1) == ["", CPU, GPU]


def test_an_input_has_the_shape_of_its_source():
    p = profile(op("a", inputs=["x", "y"]), op("x", outputs=[(2, 3)]), op("y", outputs=[()]))

    assert ask("graph", p).input_shapes(0) == [(2, 3), ()]


def test_an_input_of_any_slot_has_the_shape_of_the_first():
    p = profile(op("a", inputs=["x:1"]), op("x", outputs=[(2,), (3,)]))

    assert ask("graph", p).input_shapes(0) == [(2,)]


def test_an_input_that_is_only_waited_for_is_an_input_too():
    p = profile(op("a", inputs=["x", "^y"]), op("x", outputs=[(2,)]), op("y", outputs=[(3,)]))

    assert ask("graph", p).input_shapes(0) == [(2,), (3,)]


def test_an_input_may_have_no_shape():
    p = profile(op("a", inputs=["x", "y", "gone"]), op("x", outputs=[None]), op("y"))

    assert ask("graph", p).input_shapes(0) == [None, None, None]


def test_an_input_may_have_an_unknown_side():
    p = profile(op("a", inputs=["x"]), op("x", outputs=[(-1, 8)]))

    assert ask("graph", p).input_shapes(0) == [(-1, 8)]


def test_a_row_stands_for_one_op_or_for_none():
    members = single_members(ints([-1, 3, -1, 0]))

    assert [members[row].tolist() for row in range(4)] == [[], [3], [], [0]]


def test_an_answer_is_as_long_as_its_rows():
    assert len(ask("scope", profile(op("a/b")))) == 3
