"""Op logs written from Python give ops types and float ops."""

import pytest

import tfprof
from sources.tf_files import graph, node
from tfprof import OpLog, OptionError


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "graph.pb"
    path.write_bytes(graph(node("pool_logit/DW", "VariableV2"), node("conv/DW", "VariableV2")))
    return path


def test_types_from_an_op_log_can_be_matched_by_account_type_regexes(model, tmp_path):
    log = tmp_path / "types.log"
    OpLog().add("pool_logit/DW", types=["pool_logit"]).write(log)

    answer = tfprof.load(model, log).scope(account_type_regexes=["pool_logit"])

    assert [row["name"] for row in answer] == ["_TFProfRoot", "pool_logit", "pool_logit/DW"]


def test_an_op_can_be_added_again(model, tmp_path):
    log = OpLog().add("conv/DW", types=["a"], float_ops=5)
    log.add("conv/DW", types=["b", "a"]).write(tmp_path / "types.log")

    ops = tfprof.load(model, tmp_path / "types.log").columns.ops

    assert len(log) == 1
    assert ops.types.of(0) == ["VariableV2", "a", "b"]
    assert ops.logged_float_ops.tolist() == [5, 0]


@pytest.mark.parametrize(
    ("name", "entry", "error"),
    [
        ("", {}, "name of an op is empty"),
        ("a", {"types": "conv"}, r"types must be a list: write types=\['conv'\]"),
        ("a", {"float_ops": -1}, "between 0 and"),
        ("a", {"float_ops": 2**63}, "between 0 and"),
    ],
)
def test_invalid_entries_are_rejected(name, entry, error):
    with pytest.raises(OptionError, match=error):
        OpLog().add(name, **entry)


def test_an_empty_log_is_not_written(tmp_path):
    with pytest.raises(OptionError, match="is empty"):
        OpLog().write(tmp_path / "types.log")

    assert not (tmp_path / "types.log").exists()
