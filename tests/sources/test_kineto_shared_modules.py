"""Traces of programs in which several modules call the same one."""

import json
from collections import defaultdict
from math import prod

import pytest

import tfprof
from formats.kineto_traces import trace_of
from formats.test_safetensors import written
from kineto_programs import END, kernel, launch, loaded, module, op
from tfprof.sources.torch_modules_file import (
    RecordedModule,
    RecordedModules,
    RecordedWeight,
    encoded,
)

LAYERS = 3


def layer(number, ts, took=10):
    """A layer that calls a module of its own, and one that all layers share."""
    return [
        module(f"Layer_{number}", ts, 90),
        module(f"Linear_{number}", ts + 1, 20),
        op(
            "aten::mm", ts + 2, 15, **{"Input Dims": [[4, 8], [8, 16]], "Input type": ["float"] * 2}
        ),
        launch(2 * number + 1, ts + 5),
        kernel("gemm", 2 * number + 1, ts + 5, 30),
        module("Rotary_0", ts + 40, 40),
        module("Angles_0", ts + 45, 30),
        op("aten::sin", ts + 50, 20),
        launch(2 * number + 2, ts + 55),
        kernel("sin", 2 * number + 2, ts + 55, took + number),
    ]


def network():
    events = [module("Net_0", 0, 1000)]
    for number in range(LAYERS):
        events += layer(number, 100 * number + 10)
    return events


def kernels_of(events):
    """The time of kernels by the chain of the modules around their launches."""
    found = defaultdict(float)
    starts = {one["args"]["correlation"]: one["ts"] for one in events if "Launch" in one["name"]}
    for one in events:
        if one["cat"] == "kernel":
            ts = starts[one["args"]["correlation"]]
            chain = [
                other["name"].removeprefix("nn.Module: ")
                for other in events
                if other["name"].startswith("nn.Module")
                and other["ts"] <= ts <= other["ts"] + other["dur"]
            ]
            for end in range(1, len(chain) + 1):
                found["/".join(chain[:end])] += one["dur"]
    return found


def by_class(chain):
    """The name of a chain of modules: a class with one module has no number."""
    single = ("Net", "Rotary", "Angles")
    parts = (one.partition("_")[0] for one in chain.split("/"))
    names = zip(chain.split("/"), parts, strict=True)
    return "/".join(kind if kind in single else name for name, kind in names)


def test_each_caller_has_what_a_shared_module_did_there(tmp_path):
    events = network()
    rows = loaded(tmp_path, *events).layers(select="accelerator_micros")

    expected = {by_class(chain): took for chain, took in kernels_of(events).items()}
    assert {row["name"]: row["total_accelerator_micros"] for row in rows} == {
        "_TFProfRoot": expected["Net"],
        **expected,
    }
    assert expected["Net/Layer_2/Rotary/Angles"] == 12


def test_totals_count_a_shared_module_once(tmp_path):
    profile = loaded(tmp_path, *network())

    for answer in (profile.layers(select="micros"), profile.scope(select="micros")):
        assert answer["_TFProfRoot"]["total_micros"] == 3 * 30 + 10 + 11 + 12 + 3 * 35


def test_a_module_that_is_called_outside_of_modules_is_where_it_was_first(tmp_path):
    """As by a checkpoint in the backward pass."""
    again = [module("Layer_0", 600, 50), op("aten::relu", 610, 5)]
    profile = loaded(tmp_path, module("Net_0", 0, 500), *layer(0, 10), *again)

    assert "Net/Layer/aten::relu" in profile.columns.ops.name


def recorded(folder, *others, rotary="layers.0.rope"):
    """A recording that states the attributes of the modules."""
    layers = [
        part
        for number in range(LAYERS)
        for part in (
            RecordedModule("Net", f"layers.{number}", "Layer", f"Layer_{number}"),
            RecordedModule("Net", f"layers.{number}.proj", "Linear", f"Linear_{number}"),
        )
    ]
    found = RecordedModules(
        [
            RecordedModule("Net", "", "Net", "Net_0"),
            *layers,
            RecordedModule("Net", rotary, "Rotary", "Rotary_0", others=others),
            RecordedModule("Net", f"{rotary}.angles", "Angles", "Angles_0"),
        ],
        [RecordedWeight("Net", f"{rotary}.scale", (5,), "float32", True, True)],
    )
    (folder / "modules.json").write_bytes(encoded(found))
    (folder / "trace.json").write_bytes(trace_of(*network(), END))
    return tfprof.load(folder)


def test_in_a_recording_a_shared_module_has_the_attribute_of_each_caller(tmp_path):
    profile = recorded(tmp_path, "layers.1.rope", "layers.2.rotary")
    rows = profile.layers(select="accelerator_micros,params", max_depth=9)

    assert rows["Net/layers/1"]["total_accelerator_micros"] == 30 + 11
    assert rows["Net/layers/1/rope/angles"]["total_accelerator_micros"] == 11
    assert rows["Net/layers/2/rotary"]["total_accelerator_micros"] == 12
    parameters = [rows[f"Net/layers/{number}"]["total_params"] for number in range(LAYERS)]
    assert (parameters, rows["_TFProfRoot"]["total_params"]) == ([5, 0, 0], 5)


def test_in_a_recording_a_module_that_its_callers_do_not_have_is_named_by_class(tmp_path):
    profile = recorded(tmp_path, rotary="rope")
    rows = profile.layers(select="accelerator_micros,params", max_depth=9)

    assert rows["Net/layers/2/Rotary/angles"]["total_accelerator_micros"] == 12
    assert rows["Net/rope"]["total_params"] == 5


def test_recordings_from_before_other_attributes_were_noted_are_read(tmp_path):
    recorded(tmp_path)
    path = tmp_path / "modules.json"
    content = json.loads(path.read_bytes())
    for one in content["modules"]:
        del one["others"]
    path.write_text(json.dumps(content))

    rows = tfprof.load(tmp_path).layers(select="accelerator_micros", max_depth=9)

    assert rows["Net/layers/0/rope"]["total_accelerator_micros"] == 10
    assert rows["Net/layers/1/Rotary"]["total_accelerator_micros"] == 11


def linear_in_each_layer():
    events = [module("Net_0", 0, 1000)]
    for number in range(2):
        ts = 100 * number + 10
        for name, shape, at in (("Linear_0", [8, 4], 10), (f"Linear_{number + 1}", [6, 8], 50)):
            dims = {"Input Dims": [[2, shape[1]], shape], "Input type": ["float", "float"]}
            events += [module(name, ts + at, 30), op("aten::linear", ts + at + 5, 20, **dims)]
        events.append(module(f"Layer_{number}", ts, 95))
    return events


@pytest.mark.parametrize("names", [["0"], ["0", "1"]])
def test_a_file_of_weights_names_a_shared_module_in_each_caller(tmp_path, names):
    """Some files have a shared parameter once, others at each of its names."""
    shapes = {f"layers.{name}.shared.weight": [8, 4] for name in names}
    shapes |= {f"layers.{number}.own.weight": [6, 8] for number in range(2)}
    weights = tmp_path / "model.safetensors"
    header, end = {}, 0
    for name, shape in shapes.items():
        begin, end = end, end + 4 * prod(shape)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, end]}
    written(weights, header, bytes(end))
    trace = tmp_path / "trace.json"
    trace.write_bytes(trace_of(*linear_in_each_layer(), END))

    rows = tfprof.load(trace, weights).layers(select="micros", max_depth=9)

    assert [rows[f"Net/layers/{number}"]["total_micros"] for number in range(2)] == [40, 40]
    assert rows["Net/layers/0/shared"]["total_micros"] == 20
    second = "shared" if len(names) > 1 else "Linear_0"
    assert rows[f"Net/layers/1/{second}"]["total_micros"] == 20


def test_the_summary_of_a_file_counts_a_shared_module_once(tmp_path):
    assert loaded(tmp_path, *network()).files[0].facts["modules"] == 1 + 2 * LAYERS + 2
