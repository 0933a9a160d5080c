"""Files given together must define the same model."""

import shutil

import pytest

import tfprof
from sources.tf_files import CPU, graph, node, op_log, run_metadata, shape, stats, unpacked_model
from tfprof.errors import OptionError

VARIABLE = "VariableV2"


def variable(name, *dims):
    return node(name, VARIABLE, shape={"shape": shape(*dims)})


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Write graphs to files in the current folder."""
    monkeypatch.chdir(tmp_path)

    def write(**graphs):
        for name, nodes in graphs.items():
            (tmp_path / name).write_bytes(graph(*nodes))

    return write


def refusal(*paths):
    with pytest.raises(OptionError) as caught:
        tfprof.load(*paths)
    return str(caught.value)


def names(*paths):
    return list(tfprof.load(*paths).columns.ops.name)


def test_two_graphs_with_different_ops_are_two_models(written):
    written(one=[node("a"), node("b")], two=[node("b"), node("c"), node("d")])

    assert refusal("one", "two") == (
        "one and two define different models: they share 1 of 2 and 3 ops; ask about one at a time."
    )


def test_two_graphs_without_a_common_op_are_two_models(written):
    written(one=[node("a")], two=[node("b")])

    assert "they share 0 of 1 and 1 ops" in refusal("one", "two")


def test_two_graphs_with_an_op_of_different_kinds_are_two_models(written):
    written(one=[node("a", "Add")], two=[node("a", "Mul"), node("b")])

    assert refusal("one", "two") == (
        "one and two define different models: `a` is Add in the first and Mul in the second; "
        "ask about one at a time."
    )


def test_two_graphs_with_a_variable_of_different_shapes_are_two_models(written):
    written(one=[variable("w", 3, 4)], two=[variable("w", 3, 8)])

    assert "`w` is 3x4 in the first and 3x8 in the second" in refusal("one", "two")


def test_a_part_of_a_graph_may_be_given_with_the_graph(written):
    written(whole=[node("a"), node("b"), node("c")], part=[node("b")])

    assert names("whole", "part") == names("part", "whole") == ["a", "b", "c"]


def test_graphs_split_by_device_are_one_model(written):
    written(
        cpu=[node("a"), node("send", "_Send", ["a"])],
        gpu=[node("receive", "_Recv"), node("b", "NoOp", ["receive"])],
    )

    assert names("cpu", "gpu") == ["a", "b", "receive", "send"]


def test_two_runs_of_a_program_may_differ_in_a_few_ops(written):
    common = [node(f"op_{number}") for number in range(30)]
    written(monday=[*common, node("one")], tuesday=[*common, node("two")])

    assert len(names("monday", "tuesday")) == 32


def test_placeholders_may_have_different_batch_sizes(written):
    written(
        one=[node("x", "Placeholder", shape={"shape": shape(1, 4)})],
        two=[node("x", "Placeholder", shape={"shape": shape(32, 4)})],
    )

    assert names("one", "two") == ["x"]


def test_runs_and_logs_do_not_define_a_model(written, tmp_path):
    written(one=[node("a")])
    (tmp_path / "run").write_bytes(run_metadata((CPU, [stats("b")])))
    (tmp_path / "log").write_bytes(op_log({"name": "c", "types": ["x"]}))

    assert names("one", "run", "log") == ["a", "b"]


def test_saved_profiles_of_one_model_may_be_given_together(written):
    written(one=[node("a"), variable("w", 2)])
    tfprof.load("one").save("monday.tfprof")
    shutil.copy("monday.tfprof", "tuesday.tfprof")

    assert names("monday.tfprof", "tuesday.tfprof") == ["a", "w"]


@pytest.mark.parametrize("format_name", ["tfprof", "profile_proto"])
def test_saved_profiles_of_two_models_are_refused(written, format_name):
    written(one=[variable("w", 2)], two=[variable("v", 3)])
    for name in ("one", "two"):
        tfprof.load(name).save(f"{name}.saved", format_name)

    assert refusal("one.saved", "two.saved").startswith(
        "one.saved and two.saved define different models: "
    )


@pytest.mark.usefixtures("written")
def test_two_saved_models_are_two_models(tmp_path):
    unpacked_model(tmp_path / "a")
    unpacked_model(tmp_path / "b")

    assert refusal("a", "b") == "a and b are 2 models: ask about one at a time."


def test_a_saved_model_and_another_graph_are_two_models(written, tmp_path):
    written(other=[node("somewhere/else")])
    unpacked_model(tmp_path / "a")

    assert "define different models" in refusal("a", "other")
