"""A view laid out as nested slices."""

from build import op, profile, run
from tfprof.options import Options
from tfprof.views import scope
from tfprof.views.nested import nested


def slices(view):
    """Each slice as (name, depth, start, duration)."""
    found = nested(view)
    columns = (found.row, found.depth, found.start, found.duration)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return [(view.name[row], *rest) for row, *rest in rows]


def test_children_are_placed_side_by_side_inside_their_parent():
    p = profile(run("a", micros=2), run("a/b", micros=3), run("a/c", micros=4), run("d", micros=5))

    assert slices(scope.build(p, Options())) == [
        ("_TFProfRoot", 0, 0, 14),
        ("a", 1, 0, 9),
        ("a/b", 2, 0, 3),
        ("a/c", 2, 3, 4),
        ("d", 1, 9, 5),
    ]


def test_a_row_that_took_no_time_is_left_out_with_everything_below_it():
    p = profile(op("a/b"), run("c", micros=5))

    assert slices(scope.build(p, Options())) == [("_TFProfRoot", 0, 0, 5), ("c", 1, 0, 5)]


def test_the_root_has_a_slice_even_if_nothing_took_time():
    assert slices(scope.build(profile(op("a")), Options())) == [("_TFProfRoot", 0, 0, 0)]


def test_siblings_are_in_the_order_of_the_view():
    p = profile(run("a", micros=1), run("b", micros=2))

    assert slices(scope.build(p, Options(order_by="micros"))) == [
        ("_TFProfRoot", 0, 0, 3),
        ("b", 1, 0, 2),
        ("a", 1, 2, 1),
    ]
