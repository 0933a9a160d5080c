"""The modules of a recording of PyTorch: the file `modules.json`."""

import gzip
import json
import shutil

import pytest

import tfprof
from formats.kineto_traces import trace_of
from h200 import GPT
from kineto_programs import END, module, op, python
from tfprof.model.notes import Note, Subject
from tfprof.sources.torch_modules_file import (
    RecordedModule,
    RecordedModules,
    RecordedSlot,
    RecordedWeight,
    StatedFacts,
    encoded,
)

FOUND = RecordedModules(
    [
        RecordedModule("Net", "", "Net", "Net_0"),
        RecordedModule("Net", "wte", "Embedding", "Embedding_0"),
        RecordedModule("Net", "head", "Linear", "Linear_0"),
        RecordedModule("Loss", "", "Loss", "Loss_0"),
    ],
    [
        RecordedWeight("Net", "wte.weight", (5, 4), "float32", True, True),
        RecordedWeight("Net", "head.weight", (5, 4), "float32", True, True, same_as=0),
        RecordedWeight("Net", "head.bias", (5,), "float32", True, False),
        RecordedWeight("Net", "count", (), "int64", False, False),
    ],
    [RecordedSlot("Net", "wte.weight", "exp_avg", (5, 4), "float32")],
    [Note("2 modules are unknown.", Subject.PARAMS)],
)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "modules.json"
    path.write_bytes(encoded(FOUND))
    return path


def test_parameters_are_read_without_a_trace(file):
    profile = tfprof.load(file)
    row = profile.layers(select="params,trainable_params,slots")["Net"]

    assert profile.files[0].kind == "modules"
    assert (row["total_params"], row["total_trainable_params"]) == (25, 20)
    assert profile.scope(select="slots")["_TFProfRoot"]["total_slots"] == 20
    assert "Net/optimizer/exp_avg/wte/weight" in profile.columns.ops.name
    assert "2 modules are unknown." in profile.notes


def test_modules_are_layers_with_their_classes(file):
    rows = tfprof.load(file).layers(select="params,layer_class", max_depth=9)

    assert rows["Net/head"]["layer_class"] == ["Linear"]
    assert rows["Net/wte"]["total_params"] == 20
    assert rows["Net/head"]["total_params"] == 5  # the weight is that of `wte`


def test_modules_of_a_trace_have_the_paths_of_the_file_beside_it(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        shutil.copy(GPT, tmp_path / folder / "trace.json.gz")
        modules = [RecordedModule("GPT", "", "GPT", "GPT_0")]
        modules.append(RecordedModule("GPT", f"of_{folder}", "Linear", "Linear_16"))
        (tmp_path / folder / "modules.json").write_bytes(encoded(RecordedModules(modules)))

    names = list(tfprof.load(tmp_path / "b", tmp_path / "a").columns.ops.name)

    assert "GPT/of_a/aten::linear" in names
    assert "GPT/of_b/aten::linear" in names
    assert "GPT/Block_0/Attention_0/Linear_0/aten::linear" in names  # is not in the file


def test_calls_of_a_trace_have_the_lines_of_the_file_beside_it(tmp_path):
    trace = trace_of(
        python("train.py(1): main", 0, 99),
        python("train.py(9): forward", 10, 50),
        python("<built-in method relu>", 20, 10),
        op("aten::relu", 21, 5),
        op("aten::add", 40, 5),
        python("torch/nn/functional.py(7): gelu", 50, 9),
        op("aten::gelu", 51, 5),
        END,
        baseTimeNanoseconds=10**18,
    )
    frames = [("train.py", 4, "main"), ("train.py", 11, "forward"), ("other.py", 5, "forward")]
    starts = [10**18 + micros * 1000 for micros in (10, 20, 50)]
    found = RecordedModules(lines=StatedFacts(frames, starts, [0, 1, 2]))
    (tmp_path / "trace.json.gz").write_bytes(gzip.compress(trace))
    (tmp_path / "modules.json").write_bytes(encoded(found))

    columns = tfprof.load(tmp_path).columns

    assert {
        columns.ops.kind[row]: [frame.line for frame in columns.code.stack(code)]
        for row, code in enumerate(columns.ops.code.tolist())
    } == {
        "aten::relu": [4, 11],
        "aten::add": [4, 9],  # of its own line nothing is known
        "aten::gelu": [4],  # the line is in another file
    }


def test_calls_of_a_trace_have_the_modules_of_the_file_beside_it(tmp_path):
    calls = [module("Parametrized_0", start, 9) for start in (0, 10, 20)]
    ops = [op("aten::relu", start + 1, 5) for start in (0, 10, 20)]
    trace = trace_of(*calls, *ops, op("aten::add", 10, 9), END, baseTimeNanoseconds=10**18)
    found = RecordedModules(
        [
            RecordedModule("Net", "a", "Parametrized", "Parametrized_0"),
            RecordedModule("Net", "b", "Parametrized", "Parametrized_1"),
        ],
        names=StatedFacts(["Parametrized_1"], [10**18 + 10_000], [0]),
    )
    (tmp_path / "trace.json.gz").write_bytes(gzip.compress(trace))
    (tmp_path / "modules.json").write_bytes(encoded(found))

    rows = tfprof.load(tmp_path).scope(select="occurrence", max_depth=9)

    assert rows["Net/a/aten::relu"]["runs"] == 2
    assert rows["Net/b/aten::add/aten::relu"]["runs"] == 1


def test_modules_of_another_trace_are_not_used(tmp_path):
    path = tmp_path / "modules.json"
    path.write_bytes(encoded(FOUND))

    profile = tfprof.load(GPT, path)

    assert "GPT/Linear_16/aten::linear" in profile.columns.ops.name
    assert any("do not match the names and shapes" in note for note in profile.notes)


def changed(part, **values):
    return [json.loads(encoded(FOUND))[part][0] | values]


@pytest.mark.parametrize(
    "change",
    [
        {"modules": 3},
        {"modules": [{}]},
        {"modules": changed("modules", path=4)},
        {"weights": changed("weights", same_as=0)},
        {"weights": changed("weights", same_as=1.0)},
        {"weights": changed("weights", shape=[-1])},
        {"weights": changed("weights", shape=[1 << 70])},
        {"weights": changed("weights", place=["cuda:0", -1, 4])},
        {"weights": changed("weights", place=[0, 4, 4])},
        {"slots": changed("slots", place=["cuda:0", 4, 1.5])},
        {"slots": changed("slots", place=["cuda:0", 4, 4, 4])},
        {"slots": changed("slots", shape="4")},
        {"slots": changed("slots", name=None)},
        {"version": "two"},
        {"notes": ["text"]},
        {"lines": 3},
        {"lines": {"values": [["a.py", 1]]}},
        {"lines": {"values": [["a.py", -1, "f"]]}},
        {"lines": {"values": [["a.py", 1, "f"]], "start_ns": [1], "place": [1]}},
        {"lines": {"values": [["a.py", 1, "f"]], "start_ns": [1 << 70], "place": [0]}},
        {"lines": {"values": [["a.py", 1, "f"]], "start_ns": [1.5], "place": [0]}},
        {"lines": {"values": [["a.py", 1, "f"]], "start_ns": [1], "place": []}},
        {"lines": {"values": [["a.py", 1, "f"]], "start_ns": [2, 1], "place": [0, 0]}},
        {"inputs": {"values": [["[]"]], "start_ns": [1], "place": [0]}},
        {"inputs": {"values": [["[]", 3]], "start_ns": [1], "place": [0]}},
        {"usual_step_ns": "1"},
        {"usual_step_ns": -1},
        {"names": {"values": [1]}},
        {"names": {"values": ["Net_1"], "start_ns": [1], "place": [1]}},
    ],
)
def test_a_damaged_file_is_refused_in_one_line(file, change):
    file.write_text(json.dumps(json.loads(file.read_text()) | change))

    with pytest.raises(tfprof.InputError, match=r"is damaged: .*; record again"):
        tfprof.load(file)


def test_a_file_of_a_later_version_is_refused(file):
    file.write_text(json.dumps(json.loads(file.read_text()) | {"version": 2}))

    with pytest.raises(tfprof.InputError, match="upgrade tfprof"):
        tfprof.load(file)
