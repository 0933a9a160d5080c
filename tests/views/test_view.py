"""The rows of an answer."""

from asking import ask
from build import op, profile
from tfprof.columns import ints
from tfprof.views.view import single_members


def test_a_row_stands_for_one_op_or_for_none():
    members = single_members(ints([-1, 3, -1, 0]))

    assert [members[row].tolist() for row in range(4)] == [[], [3], [], [0]]


def test_an_answer_is_as_long_as_its_rows():
    assert len(ask("scope", profile(op("a/b")))) == 3
