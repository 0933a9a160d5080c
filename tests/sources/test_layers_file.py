"""The layers of a recording: the file `layers.json`."""

import json

import pytest

import tfprof
from tfprof.model.layers import Layer
from tfprof.model.notes import Note, Subject
from tfprof.sources.layers_file import RecordedLayers, UnreadWeight, encoded

NESTED = {"name": "a", "parent": -1, "class": "", "shape": None}
FOUND = RecordedLayers(
    [Layer("net", -1, "Functional"), Layer("dense", 0, "Dense", (-1, 3))],
    {"net_1/dense_1/variable": 1},
    [UnreadWeight(1, "dense/bias", (3,), is_trainable=True), UnreadWeight(0, "seed", (2,), False)],
)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "layers.json"
    path.write_bytes(encoded(FOUND))
    return path


def test_a_file_of_layers_is_read_without_any_other_file(file):
    profile = tfprof.load(file)

    assert list(profile.columns.layers.name) == ["net", "net/dense"]
    assert profile.files[0].kind == "layers"
    assert profile.files[0].facts == {"layers": 2}
    row = profile.layers()["net/dense"]
    assert (row["layer_class"], row["output_shape"]) == (["Dense"], [-1, 3])


def test_weights_that_no_function_read_are_parameters(file):
    answer = tfprof.load(file).layers(select="params,trainable_params")

    assert answer["net"]["total_params"] == 5
    assert answer["net/dense"]["params"] == 3
    assert answer["net/dense"]["trainable_params"] == 3


def test_a_file_states_how_often_ops_run_and_notes(tmp_path):
    graph = tmp_path / "graph.pbtxt"
    graph.write_text('node { name: "a" op: "NoOp" } node { name: "b" op: "NoOp" }')
    note = Note("counted for 8 examples.", Subject.FLOAT_OPS)
    path = tmp_path / "layers.json"
    path.write_bytes(encoded(RecordedLayers(repeats={"b": 7, "not_in_the_graph": 2}, notes=[note])))

    profile = tfprof.load(graph, path)

    assert profile.columns.ops.repeats.tolist() == [1, 7]
    assert note in profile.flops().notes
    assert note not in profile.scope(select="params").notes


@pytest.mark.parametrize(
    "change",
    [
        {"repeats": {"a": -2}},
        {"repeats": {"a": 1 << 50}},
        {"notes": ["text"]},
        {"layers": [{"name": "a", "parent": 0, "class": "", "shape": None}]},
        {"weights": {"w": 2}},
        {"weights": {"w": -1}},
        {"unread": [{"layer": 5, "name": "w", "shape": [1], "is_trainable": True}]},
        {"layers": 3},
        {"layers": [{"name": "a"}]},
        {"version": "two"},
        {"version": None},
        {"weights": {"w": float("inf")}},
        {"weights": [1]},
        {"layers": [{"name": "a", "parent": -1, "class": "", "shape": [2**70]}]},
        {"layers": [{"name": "a", "parent": -1, "class": "", "shape": 4}]},
        {"layers": [NESTED | {"parent": at - 1} for at in range(200)]},
        {"unread": [{"layer": 0, "name": "w", "shape": [-2], "is_trainable": True}]},
    ],
)
def test_a_damaged_file_is_refused(file, change):
    file.write_text(json.dumps(json.loads(file.read_text()) | change))

    with pytest.raises(tfprof.InputError, match="is damaged"):
        tfprof.load(file)


def test_a_file_that_was_cut_short_is_refused(file):
    file.write_text(file.read_text()[:200])

    with pytest.raises(tfprof.InputError, match="is damaged"):
        tfprof.load(file)


def test_a_file_of_a_later_version_asks_for_an_upgrade(file):
    file.write_text(json.dumps(json.loads(file.read_text()) | {"version": 2}))

    with pytest.raises(tfprof.InputError, match="upgrade tfprof"):
        tfprof.load(file)


def test_a_deeply_nested_file_is_refused(file):
    file.write_text(
        file.read_text().replace('"weights": {', '"odd": ' + "[" * 100_000 + ', "w": {')
    )

    with pytest.raises(tfprof.InputError):
        tfprof.load(file)


def test_many_layers_of_the_same_name_get_numbers_in_linear_time(file):
    layers = [Layer("same")] * 20_000
    file.write_bytes(encoded(RecordedLayers(layers, {}, [])))

    assert tfprof.load(file).columns.layers.name[-1].startswith("same#")
