"""The benchmark of comparisons."""

import pytest
from diff_speed import VIEWS, Row, measured, shortfalls, table
from phases import Measure

pytestmark = pytest.mark.dist


def row(ops, seconds, peak_mb=90.0):
    return Row(ops, "scope", Measure(seconds, peak_mb), Measure(0.5, 80.0))


def test_each_view_is_measured_beside_the_views_of_both_sides():
    rows = list(measured(300, 1))

    assert [one.view for one in rows] == list(VIEWS)
    assert all(side.seconds > 0 and side.peak_mb > 10 for one in rows for side in one[2:])


@pytest.mark.parametrize(
    ("rows", "missed"),
    [
        ([row(10_000, 0.3), row(100_000, 2.9)], []),
        ([row(100_000, 3.1)], ["takes 3.1 s, not 3 s"]),
        ([row(100_000, 1.0, 601.0)], ["takes 601 MB, not 600 MB"]),
        ([row(10_000, 0.2), row(100_000, 2.8)], ["takes 14.0 times as long as a tenth"]),
        ([row(1_000_000, 30.0)], []),
    ],
)
def test_missed_targets_are_listed(rows, missed):
    found = list(shortfalls(rows))

    assert len(found) == len(missed)
    assert all(part in text for part, text in zip(missed, found, strict=True))


def test_the_table_has_the_ratio_of_times():
    assert table([row(100_000, 1.0)]).endswith("| 100,000 | scope | 1.00 | 90 | 0.50 | 80 | 2.00 |")
