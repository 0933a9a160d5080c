"""The section `timeline` of a report: runs in lanes, and the times of steps."""

from dataclasses import replace

import numpy as np
import pytest

from build import CPU, GPU, GPU_STREAM, copy, op, profile, run
from page_data import unpacked
from tfprof.columns import ints
from tfprof.errors import MissingInputError
from tfprof.model.executions import Waits
from tfprof.page import container, timeline


def section(p, most_runs=timeline.MOST_RUNS):
    """The section as the page has it."""
    times = timeline.measured(p)
    return unpacked(container.pack(timeline.section(p, times, most_runs)))


def wide(column):
    numbers = [int(low) for low in column["low"]]
    for row, high in zip(column["rows"], column["high"], strict=True):
        numbers[row] += int(high) * 2**32
    return numbers


def tracks(found):
    """The runs of each track as (start, duration, op, lane, step), by the title of the track."""
    runs, first = found["runs"], 0
    columns = [wide(runs["start"]), wide(runs["duration"]), runs["op"], runs["lane"], runs["step"]]
    shown = {}
    for track in found["tracks"]:
        rows = [column[first : first + track["count"]] for column in columns]
        starts = np.cumsum(rows[0]) + track["first"]
        group = found["groups"][track["group"]]["name"] if track["group"] >= 0 else ""
        key = (track["recording"], group, track["kind"], track["title"])
        shown[key] = list(zip(starts.tolist(), *rows[1:], strict=True))
        first += track["count"]
    assert first == len(runs["op"])
    return shown


def test_runs_have_the_times_of_the_profile_from_the_start_of_the_first_step():
    p = profile(
        run("a", 2.5, start=100),
        run("b", 1, start=101),
        run("a", 3, step=1, start=9_000_000_000),
    )

    (runs,) = tracks(section(p)).values()
    assert runs == [
        (0, 2_500, 0, 0, 0),
        (1_000, 1_000, 1, 1, 0),
        (8_999_999_900_000, 3_000, 0, 0, 1),
    ]


def test_a_run_may_last_longer_than_a_word_of_nanoseconds():
    p = profile(run("a", 10_000_000, start=100), run("b", 1, start=20_000_000))

    (runs,) = tracks(section(p)).values()
    assert [duration for _, duration, *_ in runs] == [10_000_000_000, 1_000]


def test_tracks_are_grouped_by_the_device_that_they_keep_busy():
    p = profile(
        run("a", 2, start=100, device=GPU),
        run("a", 8, start=101, device=GPU_STREAM),
        run("b", 8, start=101, device=CPU),
        copy("MemcpyH2D", 3, start=90),
    )
    found = section(p)

    assert set(tracks(found)) == {
        (0, CPU, "ops", "ops"),
        (0, CPU, "ops", "launches on gpu:0"),
        (0, "/device:gpu:0", "ops", "stream:all"),
        (0, "/device:gpu:0/memcpy", "transfers", "transfers"),
    }
    groups = [track["group"] for track in found["tracks"]]
    assert groups == sorted(groups)


def test_transfers_and_waits_have_names_instead_of_ops():
    p = profile(run("a", 2, start=100), copy("b", 3, start=90), copy("c", 3, start=95))
    p = replace(p, waits=Waits(ints([0]), ints([92_000]), ints([1_000])))
    found = section(p)

    shown = {kind: runs for (_, _, kind, _), runs in tracks(found).items()}
    names = found["runs"]["names"]
    assert [names[-1 - row[2]] for row in shown["transfers"]] == ["b", "c"]
    assert [names[-1 - row[2]] for row in shown["waits"]] == ["waiting for the next element"]


def test_iterators_of_the_input_pipeline_have_their_own_track():
    p = profile(
        op("Iterator::Batch", "Iterator::Batch"),
        op("a", "MatMul"),
        run("Iterator::Batch", 50, start=100),
        run("a", 10, start=110),
    )
    p_names = [p.ops.name[row] for row in np.flatnonzero(p.ops.is_iterator())]
    shown = {kind: runs for (_, _, kind, _), runs in tracks(section(p)).items()}

    assert p_names == ["Iterator::Batch"]
    assert [(row[2], row[3]) for row in shown["ops"]] == [(1, 0)]
    assert [(row[2], row[3]) for row in shown["iterators"]] == [(0, 0)]


def test_steps_have_the_times_of_the_step_table():
    p = profile(
        *(run("a", 10 + step, step=step, start=100 * step + 100) for step in range(5)),
        run("a", 90, step=5, start=1000, device=GPU_STREAM),
        run("b", 5, step=5, start=1000),
    )
    times, steps = timeline.measured(p), section(p)["steps"]

    for place, step in enumerate(times.steps):
        assert steps["number"][place] == step.step
        assert steps["start"][place] == step.start_ns - times.steps[0].start_ns
        for name in ("wall", "busy", "idle", "input_wait", "op_time"):
            assert steps[name][place] == getattr(step, f"{name}_ns")
        assert {key: values[place] for key, values in steps["phases"].items()} == step.phases
    assert steps["unusual"] == [
        {"step": 5, "causes": list(times.summaries[0].unusual[0].causes)},
    ]
    assert steps["number"][steps["medians"][0]] == times.summaries[0].median_step
    assert steps["whole"] == [1] * 6


def test_steps_have_the_busy_time_of_each_group():
    p = profile(
        run("a", 90, start=1000, device=GPU_STREAM),
        run("b", 5, start=1000),
        run("b", 7, step=1, start=2000),
    )
    found = section(p)
    busy = {
        group["name"]: column
        for group, column in zip(found["groups"], found["steps"]["devices"], strict=True)
    }

    assert busy == {"/device:gpu:0": [90_000, -1], CPU: [5_000, 7_000]}


def test_recordings_have_their_own_groups_and_medians():
    p = profile(
        run("a", 2, start=100, recording="x"),
        run("a", 2, start=150, recording="y"),
        run("a", 4, step=1, start=250, recording="y"),
    )
    found = section(p)

    assert found["recordings"] == ["x", "y"]
    assert [group["recording"] for group in found["groups"]] == [0, 1]
    assert found["steps"]["recording"] == [0, 1, 1]
    assert found["steps"]["medians"] == [0, 1]


def long_recording():
    """Nine steps of two runs; step 4 is the median, and step 7 is unusual."""
    micros = [20, 11, 12, 13, 14, 15, 16, 500, 10]
    return profile(
        *(run("a", micros[step], step=step, start=1000 * step + 1000) for step in range(9)),
        *(run("b", 1, step=step, start=1000 * step + 1001) for step in range(9)),
    )


@pytest.mark.parametrize(
    ("most", "kept"),
    [(2, [4]), (5, [0, 4]), (6, [0, 4, 7]), (9, [0, 4, 7, 8]), (17, [0, 1, 2, 4, 5, 6, 7, 8])],
)
def test_above_the_limit_whole_steps_are_kept_the_most_interesting_first(most, kept):
    p = long_recording()
    found = section(p, most_runs=most)

    (runs,) = tracks(found).values()
    assert sorted({row[4] for row in runs}) == kept
    assert len(runs) == 2 * len(kept)
    assert [step for step in range(9) if found["steps"]["whole"][step]] == kept
    assert len(found["steps"]["wall"]) == 9


def test_the_page_states_what_is_left_out():
    p = long_recording()

    assert section(p)["left_out"] is None
    assert section(p, most_runs=6)["left_out"] == {
        "runs": 12,
        "nanos": (11 + 12 + 13 + 15 + 16 + 10 + 6) * 1000,
        "all_runs": 18,
        "all_nanos": (20 + 11 + 12 + 13 + 14 + 15 + 16 + 500 + 10 + 9) * 1000,
        "steps": 6,
    }


def test_of_a_step_above_the_limit_the_longest_runs_are_kept():
    p = profile(*(run(f"a{place}", 10 + place, start=100 * place + 100) for place in range(8)))
    found = section(p, most_runs=3)

    (runs,) = tracks(found).values()
    assert [row[2] for row in runs] == [5, 6, 7]
    assert found["steps"]["whole"] == [0]
    assert found["left_out"]["runs"] == 5
    assert found["left_out"]["nanos"] == (10 + 11 + 12 + 13 + 14) * 1000


def test_without_runs_there_is_no_timeline():
    with pytest.raises(MissingInputError, match="requires recorded runs: give RunMetadata"):
        timeline.measured(profile(op("a")))


def test_without_times_there_is_no_timeline():
    with pytest.raises(MissingInputError, match="runs have no times"):
        timeline.measured(profile(run("a", start=0)))


def test_recordings_more_than_a_day_apart_are_counted_from_their_own_start():
    day = 24 * 3600 * 10**6
    p = profile(
        *(run("a", 10, start=start, recording="w0") for start in (100, 200)),
        *(run("a", 10, start=day + start, recording="w1") for start in (300, 500)),
    )
    found = section(p)

    assert [track["first"] for track in found["tracks"]] == [0, 0]
    assert found["steps"]["start"] == [0, 0]
    assert found["notes"][-1] == (
        "The recordings are more than a day apart; each is drawn from its own start."
    )


def test_other_recordings_are_counted_from_the_start_of_the_first_one():
    starts = {"w0": 100, "w1": 300, "w2": 20 * 3600 * 10**6}
    p = profile(*(run("a", 10, start=start, recording=name) for name, start in starts.items()))
    found = section(p)

    assert found["steps"]["start"] == [(start - 100) * 1000 for start in starts.values()]
    assert not any("day apart" in note for note in found["notes"])
