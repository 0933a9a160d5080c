"""Warm-up steps: which of the first steps are left out of averages, and why."""

from dataclasses import replace

import numpy as np
import pytest

import tfprof
from build import op, profile, run
from fleet_stores import stored
from formats.kineto_traces import event, trace_of
from kineto_programs import END, annotation
from kineto_programs import op as torch_op
from tfprof.budgets.check import check
from tfprof.budgets.file import budgets_in
from tfprof.columns import ints
from tfprof.errors import OptionError
from tfprof.measures.numbers import chosen_steps
from tfprof.measures.run_sums import LoadedRuns
from tfprof.measures.warm_up import notes, warm_up_steps
from tfprof.model.recordings import ALL_STEPS, Chosen

LATER = [10, 11, 9, 12, 10]


def recorded(walls, setups=(), *facts, recording="here"):
    """A profile whose steps last so many microseconds, some of them to set things up."""
    runs = [
        run("a", wall, step=step, start=1000 * (step + 1), recording=recording)
        for step, wall in enumerate(walls)
    ]
    return exact(profile(*facts, *runs), setups)


def exact(found, setups=()):
    setup = ints([1000 * (setups[n] if n < len(setups) else 0) for n in range(len(found.steps))])
    nothing = np.zeros(len(found.recordings), np.bool_)
    return replace(
        found,
        steps=replace(found.steps, setup_ns=setup),
        recordings=replace(found.recordings, counts_whole_micros=nothing),
    )


@pytest.mark.parametrize(
    ("walls", "setups", "warm"),
    [
        ([10, *LATER], [], []),
        ([90, 10, 10, 10], [], [0]),
        ([90, 90, 10, 10, 10], [], [0, 1]),
        ([90, 10, 10], [], []),  # too few steps to tell from their times alone
        ([45, *LATER], [], []),  # not by a wide margin
        ([10, 90, 10, 10, 10], [], []),  # only the first steps warm up
        ([90, 10, 10, 90, 10, 90], [], []),  # later steps may be as long
        ([20, *LATER], [10], [0]),
        ([20, 10], [10], [0]),
        ([10, *LATER], [2], [0]),  # a fifth of its time
        ([1000, *LATER], [6], [0]),  # half the time of a later step
        ([100, 50, *LATER], [50, 20], [0, 1]),
        ([20, 20, 20, 20], [10, 9, 10, 9], []),  # all steps do the same
        ([20, 20, 20], [10, 10, 0], []),  # the step in the middle is no warm-up on its own
        ([10, 20, 10, 10], [0, 15], []),
        ([20], [20], []),
        ([20, 20], [20, 20], []),
    ],
)
def test_warm_up_is_what_the_first_steps_do_and_later_ones_do_not(walls, setups, warm):
    assert warm_up_steps(recorded(walls, setups)).tolist() == warm


def test_a_first_step_with_more_work_is_no_warm_up():
    more = [run("a", 0, step=0, start=1000) for _ in range(9)]
    p = exact(
        profile(
            op("a", float_ops=100),
            *more,
            *(run("a", wall, step=n, start=1000 * n + 1000) for n, wall in enumerate([90, *LATER])),
        )
    )

    assert warm_up_steps(p).tolist() == []


def test_steps_that_were_given_one_by_one_all_count():
    p = profile(*(run("a", wall, step=step) for step, wall in enumerate([900, *LATER])))

    assert p.counts_whole_micros
    assert warm_up_steps(p).tolist() == []
    assert chosen_steps(p, Chosen()).tolist() == [0, 1, 2, 3, 4, 5]


def test_each_process_warms_up_on_its_own():
    runs = [
        run("a", 90 if (name, step) == ("y", 0) else 10, step=step, start=1000 * step + 1000,
            recording=name)
        for name in "xy"
        for step in range(5)
    ]  # fmt: skip

    assert warm_up_steps(exact(profile(*runs))).tolist() == [5]


def test_averages_leave_out_warm_up_unless_all_steps_are_chosen():
    answer = tfprof.Profile(recorded([90, 10, 10, 10])).scope

    assert answer(select=["micros"])["a"]["micros"] == 10
    assert answer(select=["micros"], step="all")["a"]["micros"] == 30
    assert answer(select=["micros"], step=0)["a"]["micros"] == 90


def test_a_note_says_what_is_left_out_and_why():
    p = recorded([90, 10, 10, 10], [20])
    scope = tfprof.Profile(p).scope
    (note,) = notes(p)

    assert note == (
        "step 0 is left out as warm-up, because it took 90us, 9.0 times as long as later steps, "
        "20us of it to trace, compile, tune or load code or reserve memory; -step all includes "
        "it."
    )
    assert note in scope(select=["micros"]).notes
    assert note not in scope(select=["micros"], step="all").notes
    assert note not in scope(select=["micros"], step=0).notes
    assert note in tfprof.Profile(p).advise().notes
    assert note in tfprof.Profile(p).flops().notes


def test_several_warm_up_steps_are_one_note():
    (note,) = notes(recorded([100, 90, 10, 10, 10]))

    assert note.startswith("steps 0 and 1 are left out as warm-up, because step 0 took 100us, ")
    assert note.endswith("; -step all includes them.")


def test_both_sides_of_a_comparison_leave_out_warm_up_and_one_note_says_so():
    sides = [tfprof.Profile(recorded([90, 10, 10, 10])) for _ in range(2)]

    found = tfprof.diff(*sides).scope(select=["micros"])

    assert found.compared.summary.steps == (3, 3)
    assert found.compared.view.before("nanos")[0] == 10_000
    assert sum("warm-up" in note for note in found.compared.notes) == 1


def test_a_budget_is_checked_without_warm_up():
    p = tfprof.Profile(recorded([90, 10, 10, 10]))

    found = check(p, budgets_in("b", "[model]\nop_runs = 1"))

    assert found.is_met
    assert any("warm-up" in note for note in found.notes)


def test_the_list_of_steps_has_all_of_them():
    assert [step.step for step in tfprof.Profile(recorded([90, 10, 10, 10])).step_times()] == [
        *range(4)
    ]


def test_a_step_is_a_number_or_all():
    with pytest.raises(OptionError, match="takes a number or all, not `some`"):
        tfprof.Profile(recorded(LATER)).scope(step="some")


def test_all_steps_are_chosen_by_number_too():
    p = recorded([90, 10, 10, 10])

    assert chosen_steps(p, Chosen(ALL_STEPS)).tolist() == [0, 1, 2, 3]
    assert LoadedRuns(p).totals("runs", None).tolist() == [4]


# Traces of PyTorch.


def trace(*events):
    """Five steps of 10 µs, each with an op, and more events."""
    steps = [annotation(f"ProfilerStep#{n}", 100 * n, 90) for n in range(5)]
    return trace_of(
        *steps, *(torch_op("aten::mm", 100 * n + 5, 60) for n in range(5)), *events, END
    )


def setup_of(path):
    return (tfprof.load(path).columns.steps.setup_ns // 1000).tolist()


def call(name, ts, dur, cat="cuda_runtime"):
    return event(name, cat=cat, ts=ts, dur=dur, tid=1)


@pytest.mark.parametrize(
    ("name", "category"),
    [
        ("cudaMalloc", "cuda_runtime"),
        ("hipMalloc", "cuda_runtime"),
        ("cudaFuncGetAttributes", "cuda_runtime"),
        ("cudaGraphInstantiateWithFlags", "cuda_runtime"),
        ("cuModuleLoadData", "cuda_driver"),
        ("cuLibraryLoadData", "cuda_driver"),
        ("Lazy Function Loading", "overhead"),
        ("_compile.compile_inner (dynamo_timed)", "user_annotation"),
        ("CachingAutotuner.benchmark_all_configs (dynamo_timed)", "cpu_op"),
        ("triton/compiler/compiler.py(226): compile", "python_function"),
    ],
)
def test_a_trace_states_when_pytorch_set_things_up(tmp_path, name, category):
    path = tmp_path / "trace.json"
    path.write_bytes(trace(call(name, 10, 40, category)))

    assert setup_of(path) == [40, 0, 0, 0, 0]
    assert warm_up_steps(tfprof.load(path).columns).tolist() == [0]


@pytest.mark.parametrize(
    ("name", "category"),
    [
        ("cudaMallocAsync", "cuda_runtime"),
        ("cudaLaunchKernel", "cuda_runtime"),
        ("cudaMalloc", "user_annotation"),
        ("TorchDynamo Cache Lookup", "cpu_op"),
        ("Torch-Compiled Region: 0/0", "cpu_op"),
    ],
)
def test_what_every_step_does_is_no_setup(tmp_path, name, category):
    path = tmp_path / "trace.json"
    path.write_bytes(trace(call(name, 10, 40, category)))

    assert setup_of(path) == [0, 0, 0, 0, 0]


def test_setup_inside_of_setup_counts_once(tmp_path):
    path = tmp_path / "trace.json"
    events = (
        call("cudaFuncGetAttributes", 10, 40),
        call("Lazy Function Loading", 20, 10, "overhead"),
    )
    path.write_bytes(trace(*events, call("cudaMalloc", 45, 15)))

    assert setup_of(path) == [50, 0, 0, 0, 0]


def test_what_all_steps_set_up_is_no_warm_up(tmp_path):
    path = tmp_path / "trace.json"
    path.write_bytes(trace(*(call("cudaMalloc", 100 * n + 10, 40) for n in range(5))))

    assert setup_of(path) == [40] * 5
    assert warm_up_steps(tfprof.load(path).columns).tolist() == []


def test_a_store_and_a_saved_profile_have_the_same_warm_up(tmp_path):
    path = tmp_path / "trace.json"
    path.write_bytes(trace(call("cudaMalloc", 10, 40)))
    loaded = tfprof.load(path)
    loaded.save(tmp_path / "saved.tfprof")

    for other in (stored(tmp_path / "store", [path]), tfprof.load(tmp_path / "saved.tfprof")):
        assert warm_up_steps(other.columns).tolist() == [0]
        assert [*notes(other.columns)] == [*notes(loaded.columns)]
        for step in (-1, "all", 2):
            asked = {"select": ["micros", "occurrence"], "step": step, "max_depth": 9}
            assert other.scope(**asked).to_dict()["rows"] == loaded.scope(**asked).to_dict()["rows"]
