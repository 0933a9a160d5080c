"""Answers as data frames: plain columns, whole numbers, and no root unless requested."""

from pathlib import Path

import pytest

import tfprof
from build import op, profile, run
from tfprof.api import Profile

GPU = Path(__file__).parent.parent / "samples" / "tensorflow" / "gpu_synth"


@pytest.fixture(scope="module")
def gpu():
    return tfprof.load(*(GPU / f"{name}.gz" for name in ("graph.pb", "run_meta_0", "tfprof_log")))


def nested():
    return Profile(profile(op("net", shape=(1,)), op("net/w", shape=(3,)), op("b", shape=(4,))))


def test_a_view_has_own_total_and_share_of_each_number():
    frame = nested().scope(select="params", order_by="name").to_dataframe()

    assert list(frame.columns) == [
        *("name", "depth", "parent", "shape", "params", "total_params", "share_params")
    ]
    assert frame["name"].tolist() == ["b", "net", "net/w"]
    assert frame["params"].tolist() == [4, 1, 3]
    assert frame["total_params"].tolist() == [4, 4, 3]
    assert frame["share_params"].tolist() == [0.5, 0.5, 0.375]


def test_the_root_is_there_only_if_requested():
    answer = nested().scope(select="params")

    assert "_TFProfRoot" not in set(answer.to_dataframe()["name"])
    assert answer.to_dataframe(root=True)["name"][0] == "_TFProfRoot"


def test_integers_stay_integers_even_if_some_are_missing():
    answer = nested().scope(select="params", order_by="name")

    assert answer.to_dataframe()["params"].dtype == "int64"
    frame = answer.to_dataframe(root=True)
    assert frame["params"].dtype == "Int64"
    assert frame["params"].isna().tolist() == [True, False, False, False]
    assert frame["total_params"].dtype == "int64"


def test_the_share_in_a_flat_view_is_that_of_the_row_alone():
    p = Profile(profile(op("a", "Mul", float_ops=3), op("b", "Add", float_ops=1)))

    frame = p.op(select="float_ops", order_by="float_ops").to_dataframe()

    assert frame["share_float_ops"].tolist() == [0.75, 0.25]


def test_the_share_of_a_time_is_exact():
    p = Profile(profile(op("a"), op("b"), run("a", 1), run("b", 3)))

    frame = p.scope(select="micros", order_by="name").to_dataframe()

    assert frame["share_micros"].tolist() == [0.25, 0.75]


def test_an_answer_without_rows_has_its_columns():
    frame = nested().scope(select="params", show_name_regexes=["nothing"]).to_dataframe()

    assert len(frame) == 0
    assert "share_params" in frame.columns


def test_layers_have_columns_by_phase(gpu):
    frame = gpu.layers(select="float_ops,forward_float_ops").to_dataframe()

    assert {"total_float_ops", "share_float_ops", "total_forward_float_ops"} <= set(frame.columns)


def test_the_ledger_has_a_row_per_kind_with_shares(gpu):
    ledger = gpu.flops()

    frame = ledger.to_dataframe()

    assert frame["float_ops"].sum() == ledger.float_ops
    assert frame["macs"].sum() == ledger.macs
    assert frame["share_float_ops"].sum() == pytest.approx(1)
    assert {frame[name].dtype.name for name in ("float_ops", "macs", "forward", "ops")} == {"int64"}


def test_memory_has_a_row_per_allocator_and_holder(gpu):
    memory = gpu.memory(max_rows=-1)

    frame = memory.to_dataframe()

    kinds = frame[(frame["by"] == "op") & (frame["allocator"] == memory.allocators[0].allocator)]
    assert kinds["bytes"].sum() == memory.allocators[0].peak_bytes
    assert kinds["share"].sum() == pytest.approx(1)
    assert frame["bytes"].dtype == "int64"


def test_advice_has_a_row_per_finding(gpu):
    advice = gpu.advise()

    frame = advice.to_dataframe()

    assert len(frame) == len(advice)
    assert list(frame.columns) == [
        *("checker", "sentence", "gain", "of", "unit", "share", "ops", "command")
    ]
    assert frame["command"][0].startswith("op ")


def test_advice_without_findings_has_its_columns(gpu):
    frame = gpu.advise(["JobChecker"]).to_dataframe()

    assert len(frame) == 0
    assert "gain" in frame.columns
