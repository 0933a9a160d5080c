import pytest
from measure import Row
from phases import Measure
from report import size_table, targets_table
from tasks import TASKS
from verdicts import verdicts

pytestmark = pytest.mark.dist


def row(ops, ours, original=None, *, task="load", same=None):
    return Row(ops, task, Measure(*ours), original and Measure(*original), same)


def only(*rows):
    (verdict,) = verdicts(rows)
    return verdict


def test_a_target_is_checked_at_the_size_that_it_is_for():
    verdict = only(row(10**5, (1.0, 100.0), (10.0, 600.0)), row(10**6, (1.0, 100.0), (50.0, 700.0)))

    assert (verdict.ops, verdict.times_faster, verdict.times_smaller) == (10**6, 50.0, 7.0)
    assert verdict.shortfalls == []


def test_if_that_size_was_not_measured_the_largest_is_checked():
    assert only(row(1000, (1.0, 100.0)), row(10_000, (2.0, 100.0))).ops == 10_000


def test_a_missed_target_says_by_how_much():
    verdict = only(row(10**6, (1.0, 100.0), (5.0, 250.0)))

    assert verdict.shortfalls == ["speed by 4.00 times", "memory by 2.00 times"]


def test_growth_is_that_of_tfprof_between_the_largest_sizes_ten_times_apart():
    verdict = only(*(row(10**n, (seconds, 10.0)) for n, seconds in ((4, 1.0), (5, 2.0), (6, 40.0))))

    assert verdict.growth == 20.0
    assert verdict.shortfalls == ["growth by 1.54 times"]


def test_without_sizes_ten_times_apart_growth_is_unknown():
    assert only(row(1000, (1.0, 10.0)), row(2000, (9.0, 10.0))).growth is None


def test_a_limit_in_seconds_is_checked_besides_the_ratio():
    verdict = only(row(10**6, (0.2, 1.0), (100.0, 9.0), task="further op view"))

    assert verdict.shortfalls == ["seconds by 2.00 times"]


def test_every_task_has_a_target():
    assert all(task.times_faster > 1 for task in TASKS)


def test_the_table_of_targets_names_those_missed():
    rows = [row(10**6, (1.0, 100.0), (5.0, 600.0)), row(10**5, (0.1, 50.0))]

    assert targets_table(verdicts(rows)).splitlines()[-1] == (
        "| load | 1,000,000 | 5.0 | 20 | 6.0 | 10.0 | 2.0 | **not met**: speed by 4.00 times |"
    )


def test_a_target_that_was_not_measured_is_not_called_met():
    assert targets_table(verdicts([row(10**6, (1.0, 100.0))])).endswith(
        "| met as far as measured |"
    )


@pytest.mark.parametrize(("same", "shown"), [(True, "yes"), (False, "**NO**"), (None, "-")])
def test_the_table_of_a_size_shows_both_profilers_and_whether_they_agree(same, shown):
    table = size_table([row(1000, (0.0123, 40.2), (2.46, 1234.0), same=same)])

    assert table.splitlines()[-1] == f"| load | 12 ms | 2.5 s | 200 | 40 | 1,234 | 30.7 | {shown} |"
