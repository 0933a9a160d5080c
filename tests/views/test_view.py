"""The rows of a view."""

from asking import ask
from build import op, profile
from tfprof.columns import ints
from tfprof.views.view import single_members


def test_a_row_has_one_op_or_none():
    members = single_members(ints([-1, 3, -1, 0]))

    assert [members[row].tolist() for row in range(4)] == [[], [3], [], [0]]


def test_the_length_of_a_view_is_its_number_of_rows():
    assert len(ask("scope", profile(op("a/b")))) == 3
