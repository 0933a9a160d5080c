import pytest
from baseline import Baseline, Count, compare


def test_what_takes_as_much_as_before_passes():
    held = {"load": Count(1e9, 30_000.0), "import": Count(5e8)}

    comparison = compare(held, held)

    assert not comparison.has_grown
    assert comparison.report.endswith("Nothing takes clearly more than the baseline.")


def test_what_takes_a_fifth_more_is_named_with_how_much_and_what_to_do():
    comparison = compare({"load": Count(1e9)}, {"load": Count(1.2e9)})

    assert comparison.has_grown
    assert "1,000.0 M →  1,200.0 M  +20.0%" in comparison.report
    assert "more than the baseline: load." in comparison.report
    assert "make bench-baseline" in comparison.report


def test_a_cost_of_each_further_op_counts_even_where_the_whole_hides_it():
    comparison = compare({"load": Count(1e9, 1000.0)}, {"load": Count(1.001e9, 1200.0)})

    assert comparison.has_grown


@pytest.mark.parametrize("per_op", [15.0, -10.0])
def test_a_cost_that_hardly_grows_with_the_ops_may_vary(per_op):
    assert not compare({"op": Count(1e7, 1.0)}, {"op": Count(1e7, per_op)}).has_grown


def test_what_did_not_grow_with_the_ops_and_now_does_has_grown():
    assert compare({"op": Count(1e7, 0.0)}, {"op": Count(1e7, 50.0)}).has_grown


def test_what_takes_less_passes_and_is_named():
    comparison = compare({"load": Count(1e9)}, {"load": Count(5e8)})

    assert not comparison.has_grown
    assert "Takes less: load." in comparison.report


def test_work_the_baseline_does_not_know_is_no_pass():
    comparison = compare({"load": Count(1.0)}, {"load": Count(1.0), "timeline": Count(1.0)})

    assert comparison.has_grown
    assert "Only on one side: timeline." in comparison.report


def test_a_baseline_is_read_as_it_was_written(tmp_path):
    baseline = Baseline({"Python": "3.11"}, {"load": Count(1e9, 2.5), "import": Count(3.0)})

    baseline.write(tmp_path / "baseline.json")

    assert Baseline.read(tmp_path / "baseline.json") == baseline
