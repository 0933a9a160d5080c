"""An op log that is written from Python gives ops their types and float ops."""

import pytest

import tfprof
from sources.tf_files import graph, node
from tfprof import OpLog, OptionError


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "graph.pb"
    path.write_bytes(graph(node("pool_logit/DW", "VariableV2"), node("conv/DW", "VariableV2")))
    return path


def test_types_of_a_list_can_be_accounted_by(model, tmp_path):
    log = tmp_path / "types.log"
    OpLog().add("pool_logit/DW", types=["pool_logit"]).write(log)

    answer = tfprof.load(model, log).scope(account_type_regexes=["pool_logit"])

    assert [row["name"] for row in answer] == ["_TFProfRoot", "pool_logit", "pool_logit/DW"]


def test_an_op_can_be_spoken_of_again(model, tmp_path):
    log = OpLog().add("conv/DW", types=["a"], float_ops=5)
    log.add("conv/DW", types=["b", "a"]).write(tmp_path / "types.log")

    ops = tfprof.load(model, tmp_path / "types.log").columns.ops

    assert len(log) == 1
    assert ops.types.of(0) == ["VariableV2", "a", "b"]
    assert ops.logged_float_ops.tolist() == [5, 0]


@pytest.mark.parametrize(
    ("name", "said", "trouble"),
    [
        ("", {}, "needs the name"),
        ("a", {"types": "conv"}, r"types is a list; write types=\['conv'\]"),
        ("a", {"float_ops": -1}, "from 0 to"),
        ("a", {"float_ops": 2**63}, "from 0 to"),
    ],
)
def test_what_cannot_be_said_is_refused(name, said, trouble):
    with pytest.raises(OptionError, match=trouble):
        OpLog().add(name, **said)


def test_a_log_of_nothing_writes_no_file_that_reads_as_one(tmp_path):
    with pytest.raises(OptionError, match="says nothing"):
        OpLog().write(tmp_path / "types.log")

    assert not (tmp_path / "types.log").exists()
