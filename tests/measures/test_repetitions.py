"""Which recordings are repeated runs, and which are parts of one run."""

import numpy as np

from build import op, profile, run
from tfprof.measures.repetitions import RunSteps, runs_in, runs_of_recordings


def recorded(**steps_of):
    """Recordings with these steps; `rank_1` stands for a label that ends in the rank."""
    return profile(
        op("a"),
        *(
            run(
                "a", 10 * (1 + place), step, start=1 + 100 * step, recording=label.replace("_", ":")
            )
            for place, (label, steps) in enumerate(steps_of.items())
            for step in steps
        ),
    )


def test_recordings_of_the_same_steps_are_runs():
    found = recorded(first=[1, 2, 3], second=[1, 2, 3], third=[3, 4])

    assert runs_of_recordings(found).tolist() == [0, 1, 2]
    assert runs_in(found) == 3


def test_recordings_of_other_steps_are_of_one_run():
    found = recorded(first=[1, 2], later=[11, 12], again=[1, 2], again_later=[11, 12])

    assert runs_of_recordings(found).tolist() == [0, 0, 1, 1]


def test_ranks_are_of_one_run_and_may_be_repeated():
    found = recorded(rank_0=[1, 2], rank_1=[1, 2], again_0=[1, 2], again_1=[1, 2])

    assert runs_of_recordings(found).tolist() == [0, 0, 1, 1]


def test_a_step_of_several_ranks_is_one_step_with_their_average():
    found = recorded(rank_0=[1, 2], rank_1=[1, 2])
    steps = RunSteps.of(found, np.arange(4))

    assert steps.run.tolist() == [0, 0]
    assert steps.of_step(1).tolist() == [1, 3]
    assert steps.means(np.array([10, 20, 30, 40])).tolist() == [20, 30]


def test_some_steps_are_taken_from_the_first_to_the_last():
    found = recorded(first=range(10), second=range(10))
    steps = RunSteps.of(found, np.arange(20)).spread(4)

    assert steps.run.tolist() == [0, 0, 1, 1]
    assert steps.rows.tolist() == [0, 6, 13, 19]
    assert steps.place.tolist() == [0, 1, 2, 3]


def test_a_profile_without_recordings_has_no_runs():
    assert runs_in(profile(op("a"))) == 0
