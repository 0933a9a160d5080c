"""Steps and ranks leave warm-up steps out of what they say of usual steps."""

from kineto_programs import annotation, kernel, launch, loaded, op


def warming(tmp_path):
    """Five steps of 100 us, the first of which takes a second."""
    events, at = [], 0.0
    for step, took in enumerate((1e6, 100, 100, 100, 100)):
        events += [
            annotation(f"ProfilerStep#{step}", at, took),
            op("aten::mm", at + 1, 5),
            launch(step + 1, at + 2),
            kernel("gemm", step + 1, at + 10, 50),
        ]
        at += took
    return loaded(tmp_path, *events)


def test_warm_up_steps_are_listed_but_not_summarised(tmp_path):
    table = warming(tmp_path).step_times()

    assert [step.is_warm_up for step in table] == [True, False, False, False, False]
    assert (table.summaries[0].steps, table.summaries[0].p90_ns) == (4, 100_000)
    assert "warm-up" in table.report
    assert any("left out as warm-up" in note for note in table.notes)


def test_a_warm_up_step_that_is_asked_for_is_shown_like_others(tmp_path):
    (step,) = warming(tmp_path).step_times(step=0)

    assert step.wall_ns == 1_000_000_000


def test_ranks_compare_steps_without_warm_up_unless_all_are_asked_for(tmp_path):
    profile = warming(tmp_path)

    assert [one.steps for one in profile.ranks()] == [4]
    assert [one.steps for one in profile.ranks(step="all")] == [5]
    assert any("left out as warm-up" in note for note in profile.ranks().notes)


def test_the_utilization_is_that_of_the_steps_after_warm_up(tmp_path):
    (finding,) = warming(tmp_path).advise(["AcceleratorUtilizationChecker"])[
        "AcceleratorUtilizationChecker"
    ]

    assert finding.sentence == "cuda:0 was busy for 50% of 4 steps."
