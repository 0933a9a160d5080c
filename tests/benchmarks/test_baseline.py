import pytest
from baseline import Baseline, Count, compare

pytestmark = pytest.mark.dist


def test_equal_counts_pass():
    held = {"load": Count(1e9, 30_000.0), "import": Count(5e8)}

    comparison = compare(held, held)

    assert not comparison.has_grown
    assert comparison.report.endswith("All counts are within the tolerance of the baseline.")


def test_a_count_that_grew_by_a_fifth_is_reported_with_its_growth_and_what_to_do():
    comparison = compare({"load": Count(1e9)}, {"load": Count(1.2e9)})

    assert comparison.has_grown
    assert "1,000.0 M →  1,200.0 M  +20.0%" in comparison.report
    assert "more instructions than the baseline: load." in comparison.report
    assert "make bench-baseline" in comparison.report


def test_a_higher_cost_per_op_counts_as_growth_even_if_the_total_hardly_changes():
    comparison = compare({"load": Count(1e9, 1000.0)}, {"load": Count(1.001e9, 1200.0)})

    assert comparison.has_grown


@pytest.mark.parametrize("per_op", [15.0, -10.0])
def test_small_costs_per_op_may_vary(per_op):
    assert not compare({"op": Count(1e7, 1.0)}, {"op": Count(1e7, per_op)}).has_grown


def test_a_new_cost_per_op_counts_as_growth():
    assert compare({"op": Count(1e7, 0.0)}, {"op": Count(1e7, 50.0)}).has_grown


def test_a_count_that_shrank_passes_and_is_reported():
    comparison = compare({"load": Count(1e9)}, {"load": Count(5e8)})

    assert not comparison.has_grown
    assert "Fewer instructions: load." in comparison.report


def test_a_task_missing_from_the_baseline_fails():
    comparison = compare({"load": Count(1.0)}, {"load": Count(1.0), "timeline": Count(1.0)})

    assert comparison.has_grown
    assert "Not in both: timeline." in comparison.report


def test_a_baseline_is_read_back_as_written(tmp_path):
    baseline = Baseline({"Python": "3.11"}, {"load": Count(1e9, 2.5), "import": Count(3.0)})

    baseline.write(tmp_path / "baseline.json")

    assert Baseline.read(tmp_path / "baseline.json") == baseline
