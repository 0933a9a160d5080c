"""Call stacks share their common calls, so that each stack is a single row."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tfprof.model.code import CodeTreeBuilder, Frame

MAIN = Frame("main.py", 10, "main", "train()", 1)
TRAIN = Frame("train.py", 20, "train", "loss()", -1)
LOSS = Frame("loss.py", 30, "loss", "", -1)
STACKS = st.lists(st.lists(st.sampled_from([MAIN, TRAIN, LOSS]), max_size=5), max_size=8)


def test_a_stack_is_the_row_of_its_innermost_call():
    tree = CodeTreeBuilder()
    row = tree.add([MAIN, TRAIN])

    assert tree.build().stack(row) == [MAIN, TRAIN]
    assert tree.build().frame(row) == TRAIN


def test_stacks_share_their_outer_calls():
    tree = CodeTreeBuilder()
    tree.add([MAIN, TRAIN])
    tree.add([MAIN, LOSS])

    assert tree.build().caller.tolist() == [-1, 0, 0]


def test_equal_stacks_have_the_same_row():
    tree = CodeTreeBuilder()

    assert tree.add([MAIN, TRAIN]) == tree.add([MAIN, TRAIN])


def test_a_frame_with_another_caller_has_another_row():
    tree = CodeTreeBuilder()

    assert tree.add([MAIN, LOSS]) != tree.add([TRAIN, LOSS])


def test_recursive_calls_are_nested():
    tree = CodeTreeBuilder()
    row = tree.add([MAIN, MAIN, MAIN])

    assert tree.build().stack(row) == [MAIN, MAIN, MAIN]


def test_an_empty_stack_has_no_row():
    tree = CodeTreeBuilder()

    assert tree.add([]) == -1
    assert len(tree.build()) == 0
    assert tree.build().stack(-1) == []


@settings(max_examples=50)
@given(STACKS)
def test_every_stack_can_be_restored_from_its_row(stacks):
    tree = CodeTreeBuilder()
    rows = [tree.add(stack) for stack in stacks]
    built = tree.build()

    assert [built.stack(row) for row in rows] == stacks
    assert len(built) == len({tuple(s[: n + 1]) for s in stacks for n in range(len(s))})
