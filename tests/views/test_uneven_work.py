"""A rank that has more work than the others is named."""

import pytest

from h200 import ddp, gpt
from tfprof.advisor import uneven_work


def test_the_rank_with_twice_the_work_is_named():
    table = ddp().ranks()

    [found] = table.times.uneven

    assert found.recording == "rank2"
    assert found.when == "in all steps"
    assert found.excess["float operations"] == pytest.approx(1, abs=0.002)  # not the optimizer's
    assert found.excess["accelerator time"] > 0.15
    assert "rank2 has more work than the others in all steps: 100% more float" in str(table)


def test_of_two_ranks_the_one_with_more_work_is_named():
    table = ddp().ranks(rank=(0, 2))

    [found] = table.times.uneven

    assert (found.recording, found.than, found.when) == ("rank2", "rank0", "in all steps")
    assert found.excess["float operations"] == pytest.approx(1, abs=0.002)
    assert "rank2 has more work than rank0 in all steps: 100% more float" in str(table)


def test_of_two_ranks_with_the_same_work_none_is_named():
    assert ddp().ranks(rank=(0, 1)).times.uneven == ()


def test_the_adviser_names_it():
    [found] = uneven_work.check(ddp().columns)

    assert found.sentence.startswith("rank2 has more work than the others in all steps")
    assert "rank2" in found.command


def test_ranks_are_chosen_by_number():
    rows = ddp().ranks(rank=(1, 3))

    assert [one.rank for one in rows] == [3, 1]


def test_ranks_with_the_same_work_are_not_named():
    assert ddp().ranks(rank=(0, 1, 3)).times.uneven == ()
    assert list(uneven_work.check(gpt().columns)) == []
