"""Traces of several ranks: what all do is averaged over the ranks, also if their shapes differ."""

import pytest

import tfprof
from h200 import RANKS, ddp
from kineto_programs import kernel, launch, loaded, module, op


def trace(folder, rank, *events):
    """The path of the trace of a rank."""
    folder = folder / f"rank{rank}"
    folder.mkdir()
    loaded(folder, *events, distributedInfo={"rank": rank})
    return folder / "trace.json"


def product(rows, start=10, took=10):
    """A product with this many rows: `2 * rows * 8 * 4` float operations."""
    shapes = {"Input Dims": [[rows, 8], [8, 4]], "Input type": ["float", "float"]}
    return op("aten::mm", start, took, **shapes)


@pytest.fixture
def unequal(tmp_path):
    """Two ranks, of which the second has three times the work, and therefore another kernel."""
    return [
        trace(
            tmp_path,
            rank,
            module("Net_0", 0, 100),
            product(rows, took=10 * rows),
            launch(1, 11),
            kernel(name, 1, 50, 20 * rows),
        )
        for rank, (rows, name) in enumerate([(1, "small_gemm"), (3, "large_gemm")])
    ]


def total(profile, number, **options):
    return profile.scope(select=number, **options)["_TFProfRoot"][f"total_{number}"]


def test_other_shapes_in_another_recording_are_another_op(unequal):
    profile = tfprof.load(*unequal)

    assert list(profile.columns.ops.name) == [
        "Net/aten::mm",
        "Net/aten::mm#2",
        "Net/aten::mm#2/large_gemm",
        "Net/aten::mm/small_gemm",
    ]


def test_the_numbers_of_ranks_with_other_shapes_are_averaged(unequal):
    profile = tfprof.load(*unequal)

    assert total(profile, "float_ops") == 2 * 2 * 8 * 4
    assert total(profile, "accelerator_micros") == 40
    assert total(profile, "cpu_micros") == 20
    for rank, rows in enumerate((1, 3)):
        assert total(profile, "float_ops", rank=[rank]) == 2 * rows * 8 * 4
        assert total(profile, "accelerator_micros", rank=[rank]) == 20 * rows
        assert total(profile, "cpu_micros", rank=[rank]) == 10 * rows


def test_a_module_that_runs_on_one_rank_is_not_divided_by_the_others(tmp_path):
    paths = [
        trace(tmp_path, rank, module(name, 0, 100), product(1, took=30))
        for rank, name in enumerate(["First_0", "Second_0"])
    ]

    profile = tfprof.load(*paths)

    assert total(profile, "cpu_micros") == 60
    assert total(profile, "float_ops") == 2 * 2 * 8 * 4


@pytest.mark.parametrize("number", ["float_ops", "accelerator_micros", "cpu_micros"])
def test_totals_are_the_average_of_the_ranks(number):
    of_ranks = [total(ddp(), number, rank=[rank]) for rank in range(4)]

    assert len(set(of_ranks)) > 1
    assert total(ddp(), number) == pytest.approx(sum(of_ranks) / 4, rel=1e-6)


def test_saved_ranks_are_the_same_as_their_traces(tmp_path):
    saved = [tmp_path / f"{rank}.tfprof" for rank in range(4)]
    for path, trace_path in zip(saved, RANKS, strict=True):
        tfprof.load(trace_path).save(path)

    together = tfprof.load(*saved)

    assert list(together.columns.ops.name) == list(ddp().columns.ops.name)
    assert (together.columns.phase == ddp().columns.phase).all()
    for kind in ("scope", "graph", "op", "layers"):
        for options in ({}, {"rank": [2]}):
            found, expected = (
                getattr(profile, kind)(select="micros,float_ops,occurrence", **options).to_dict()
                for profile in (together, ddp())
            )
            assert found["rows"] == expected["rows"]


def test_several_ranks_can_be_saved_together(tmp_path):
    tfprof.load(*RANKS[:2]).save(tmp_path / "first.tfprof")
    tfprof.load(*RANKS[2:]).save(tmp_path / "last.tfprof")

    together = tfprof.load(tmp_path / "first.tfprof", tmp_path / "last.tfprof")

    assert total(together, "float_ops") == total(ddp(), "float_ops")
    assert list(together.columns.ops.name) == list(ddp().columns.ops.name)


def window(folder, name, *events, **header):
    """The path of one of several traces of a process."""
    path = folder / name
    path.mkdir()
    loaded(path, *events, **header)
    return path / "trace.json"


def test_an_op_in_one_of_two_traces_of_a_rank_is_averaged_over_the_steps_of_both(tmp_path):
    header = {"distributedInfo": {"rank": 1, "world_size": 2}}
    profile = tfprof.load(
        window(tmp_path, "a", module("Net_0", 0, 100), product(1), **header),
        window(
            tmp_path,
            "b",
            module("Net_0", 0, 100),
            product(1),
            module("Head_0", 30, 50),
            product(1, start=40),
            **header,
        ),
    )

    assert total(profile, "float_ops") == 1.5 * 2 * 8 * 4
    assert profile.scope()["Net"]["total_cpu_micros"] == 15


def test_modules_have_the_same_names_in_all_traces_whichever_thread_calls_first(tmp_path):
    def model(tid, first):
        return [
            module(f"{'AB'[tid]}_0", 0, 100, tid=tid),
            *(module(f"Linear_{number}", at, 10, tid=tid) for number, at in first),
            *(event_at(tid, at) for _, at in first),
        ]

    def event_at(tid, at):
        return op("aten::relu", at + 1, 2, tid=tid)

    one = window(tmp_path, "one", *model(0, [(0, 10), (1, 30)]), *model(1, [(2, 50)]))
    two = window(tmp_path, "two", *model(0, [(1, 30), (2, 50)]), *model(1, [(0, 10)]))

    assert list(tfprof.load(one, two).columns.ops.name) == [
        "A/Linear_0/aten::relu",
        "A/Linear_1/aten::relu",
        "B/Linear_2/aten::relu",
    ]


def test_a_module_that_only_the_second_trace_has_gets_a_name_of_its_own(tmp_path):
    def trace_of(name, *numbers):
        calls = [
            one
            for place, number in enumerate(numbers)
            for one in (
                module(f"Linear_{number}", 10 + 20 * place, 10),
                op(f"aten::relu{place}", 12 + 20 * place, 2),
            )
        ]
        return window(tmp_path, name, module("Net_0", 0, 100), *calls)

    profile = tfprof.load(trace_of("one", 1, 2), trace_of("two", 0, 1, 2))

    assert list(profile.columns.ops.name) == [
        "Net/Linear_0/aten::relu2",
        "Net/Linear_1/aten::relu0",
        "Net/Linear_2/aten::relu1",
    ]
