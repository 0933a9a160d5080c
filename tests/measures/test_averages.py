"""Averages over steps, for recordings other than RunMetadata."""

from dataclasses import replace

import numpy as np
import pytest

import tfprof
from build import GPU, GPU_STREAM, op, profile, run
from tfprof.columns import Strings, ints
from tfprof.measures.averages import in_parts, quotients
from tfprof.measures.numbers import per_op
from tfprof.model.recordings import Chosen


def exact(*facts):
    """A profile whose recordings have exact times, such as those of TensorFlow 2."""
    found = profile(*facts)
    nothing = np.zeros(len(found.recordings), np.bool_)
    return replace(found, recordings=replace(found.recordings, counts_whole_micros=nothing))


def numbers(p, key, chosen=Chosen()):  # noqa: B008 -- it is immutable
    """One number of each op, in name order."""
    return per_op(p, chosen)[key].tolist()


def test_an_op_is_averaged_over_all_steps():
    p = exact(run("rare", 8, step=1), *(run("usual", 5, step=step) for step in range(4)))

    assert numbers(p, "micros") == [2, 5]


def test_the_sum_over_all_ops_is_the_op_time_of_an_average_step():
    p = exact(run("a", 4, step=0), run("b", 2, step=0), run("a", 8, step=1))

    assert sum(numbers(p, "nanos")) == (4_000 + 2_000 + 8_000) // 2


def test_rounding_errors_of_nanoseconds_do_not_add_up():
    names = [f"net/{number}" for number in range(30)]
    p = exact(
        *(run(name, 0.1, step=0) for name in names), run("net/0", 0, step=1), run("z", step=2)
    )

    assert sum(numbers(p, "nanos")[:-1]) == 30 * 100 // 3


def test_a_chosen_step_is_not_averaged():
    p = exact(run("a", 4, step=0), run("b", 4, step=0), run("b", 8, step=1))

    assert numbers(p, "micros", Chosen(step=0)) == [4, 4]
    assert numbers(p, "micros", Chosen(step=1)) == [0, 8]


def test_memory_is_averaged_over_all_steps():
    p = exact(run("a", step=0, memory={"requested": 10}), run("b", step=1))

    assert numbers(p, "bytes") == [5, 0]


def test_a_negative_average_stays_negative():
    p = exact(run("a", step=0, memory={"residual": -10}), run("b", step=1))

    assert numbers(p, "residual_bytes") == [-5, 0]


def test_the_kernels_and_launches_of_an_op_are_averaged_alike():
    p = exact(
        run("a", 2, step=0, device=GPU), run("a", 8, step=0, device=GPU_STREAM), run("b", step=1)
    )

    assert numbers(p, "cpu_micros")[0] == 1
    assert numbers(p, "accelerator_micros")[0] == 4


def rows(p, kind, **options):
    """The rows of an answer by name."""
    answer = getattr(tfprof.Profile(p), kind)(max_depth=100, **options).to_dict()
    return {row["name"]: row for row in answer["rows"]}


def test_runs_of_an_average_step_are_exact():
    names = [f"net/{name}" for name in "abcde"]
    p = exact(
        *(run(name, step=0) for name in names),
        *(run("net/a", step=step) for step in (1, 2)),
        run("z", step=2),
    )

    found = rows(p, "scope", select=["occurrence"])

    assert found["net/a"]["runs"] == 1
    assert found["net/b"]["runs"] == 1 / 3
    assert found["net"]["total_runs"] == 7 / 3
    assert found["_TFProfRoot"]["total_runs"] == 8 / 3


def test_runs_have_a_fraction_in_text_and_in_what_is_hidden():
    p = exact(run("net/a", step=0), run("net/b", step=0), run("net/b", step=1))
    asked = {"select": ["occurrence"], "hide_name_regexes": ["net/b"]}

    answer = tfprof.Profile(p).scope(max_depth=5, **asked)

    assert "_TFProfRoot (--/1.5|--/3)" in answer.table
    assert "net/a (0.5/0.5|1/1)" in answer.table
    assert answer.to_dict()["hidden"]["runs"] == 1


def test_a_row_reaches_min_occurrence_if_its_average_does():
    p = exact(run("a", step=0), run("a", step=0), run("a", step=1), run("b", step=1))

    assert [*rows(p, "scope", min_occurrence=1)] == ["_TFProfRoot", "a"]
    assert [*rows(p, "scope", min_occurrence=2)] == ["_TFProfRoot"]


def test_float_ops_of_any_ops_add_up_exactly():
    # Every other op is of one kind. Rounded op by op, all of them would be rounded alike.
    of_kinds = [(f"{number:02}", "AB"[number % 2]) for number in range(40)]
    p = exact(
        *(op(name, kind=kind, float_ops=1) for name, kind in of_kinds),
        *(run(name, step=0) for name, _ in of_kinds),
        run("idle", step=1),
    )

    by_kind = rows(p, "op", select=["float_ops"])

    assert by_kind["A"]["float_ops"] == by_kind["B"]["float_ops"] == 10


def test_times_of_a_kind_are_rounded_once():
    # Each op of kind A follows a shorter one: its share of the rounding error is always the same.
    of_kinds = [(f"{number:02}", "AB"[number % 2]) for number in range(40)]
    p = exact(
        *(op(name, kind=kind) for name, kind in of_kinds),
        *(run(name, 0.6 if kind == "A" else 0.4) for name, kind in of_kinds),
    )

    found = tfprof.Profile(p).op(select=["cpu_micros"]).view

    assert sorted(found.own["cpu_micros"].tolist()) == [0, 8, 12]


def test_sums_too_large_for_parts_are_rounded_op_by_op():
    totals, counts = np.array([2**61, 5]), np.array([3, 7])

    found = in_parts(totals, counts)

    assert found.per == 1
    assert found.column.tolist() == [2**61 // 3 + 1, 1]


def test_float_ops_are_those_of_all_runs_divided_by_all_steps():
    p = exact(
        op("a", float_ops=10),
        op("b", float_ops=10),
        op("never", float_ops=10),
        run("a", step=0),
        run("a", step=0, start=1),
        run("a", step=1),
        run("b", step=1),
    )

    assert numbers(p, "float_ops") == [15, 5, 10]


def test_float_ops_of_many_runs_do_not_overflow():
    runs, steps, once = np.array([4_000_001]), np.array([4]), np.array([10**12])

    assert quotients(runs, steps, once).tolist() == [1_000_000 * 10**12 + 10**12 // 4]


# Several recordings.


def test_what_every_host_does_is_averaged_over_the_hosts():
    p = exact(run("a", 4, recording="x"), run("a", 8, recording="y"))

    assert numbers(p, "micros") == [6]


def test_what_one_host_does_is_not_divided_by_the_other_hosts():
    p = exact(
        run("a", 4, recording="x"),
        run("a", 6, recording="y", step=0),
        run("a", 8, recording="y", step=1),
        run("only_y", 4, recording="y", step=1),
    )

    assert numbers(p, "micros") == [6, 2]


def of_pytorch(p, ranks):
    count = len(p.recordings)
    of_rank = replace(p.recordings, framework=Strings(["pytorch"] * count), rank=ints(ranks))
    return replace(p, recordings=of_rank)


def test_what_only_one_of_the_traces_of_a_process_has_is_averaged_over_all_of_them():
    p = exact(
        run("a", 4, recording="x", step=0),
        run("a", 4, recording="x", step=1),
        run("a", 4, recording="y", step=6),
        run("a", 4, recording="y", step=7),
        run("only_y", 8, recording="y", step=6),
    )

    assert numbers(of_pytorch(p, [-1, -1]), "micros") == [4, 2]
    assert numbers(of_pytorch(p, [3, 3]), "micros") == [4, 2]
    assert numbers(of_pytorch(p, [0, 1]), "micros") == [4, 4]


def test_traces_with_a_step_in_common_are_of_several_processes():
    p = exact(
        run("a", 4, recording="x", step=0),
        run("a", 4, recording="y", step=0),
        run("only_y", 4, recording="y", step=0),
    )

    assert numbers(of_pytorch(p, [-1, -1]), "micros") == [4, 4]


def test_an_op_that_a_host_ran_in_another_step_counts_as_zero_there():
    p = exact(
        run("a", 4, recording="x", step=0),
        run("a", 8, recording="y", step=1),
        run("b", recording="x", step=1),
        run("b", recording="y", step=0),
    )

    assert numbers(p, "micros", Chosen(step=0))[0] == 2
    assert numbers(p, "micros", Chosen(step=0, recording=("x",)))[0] == 4


@pytest.mark.parametrize("step", [-1, 0])
def test_run_metadata_is_averaged_over_the_steps_in_which_an_op_was_seen(step):
    p = profile(run("rare", 8, step=0), run("usual", 5, step=0), run("usual", 5, step=1))

    assert numbers(p, "micros", Chosen(step=step)) == [8, 5]
