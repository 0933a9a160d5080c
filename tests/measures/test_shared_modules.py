"""The table of modules that several others call."""

import pytest

import tfprof
from kineto_programs import annotation, loaded, module, op
from sources.test_kineto_shared_modules import LAYERS, network, recorded


def in_step(step, event):
    """An event of the first step as that of a later one."""
    args = dict(event.get("args", {}))
    if "correlation" in args:
        args["correlation"] += 100 * step
    return {**event, "ts": event["ts"] + 2000 * step, "args": args}


def shared_in(profile):
    return profile.layers(select=["params", "micros"]).to_dict().get("shared_modules")


@pytest.mark.parametrize("steps", [1, 2])
def test_a_shared_module_has_one_row_for_all_its_calls_in_a_step(tmp_path, steps):
    events = [
        event
        for step in range(steps)
        for event in (
            annotation(f"ProfilerStep#{step}", 2000 * step, 1900),
            *(in_step(step, one) for one in network()),
        )
    ]

    assert shared_in(loaded(tmp_path, *events)) == [
        {
            "name": "Net/Layer_0/Rotary",
            "layer_class": "Rotary",
            "rows": [f"Net/Layer_{number}/Rotary" for number in range(LAYERS)],
            "callers": LAYERS,
            "calls": LAYERS,
            "params": 0,
            "float_ops": 0,
            "micros": 3 * 20 + 10 + 11 + 12,
        }
    ]


def test_a_module_that_one_calls_often_is_not_shared(tmp_path):
    events = [module("Net_0", 0, 500), module("Linear_0", 10, 20), module("Linear_0", 50, 20)]

    assert shared_in(loaded(tmp_path, *events, op("aten::mm", 55, 5))) is None


def test_a_module_that_is_also_called_outside_of_modules_is_not_shared(tmp_path):
    events = [module("Net_0", 0, 500), module("Linear_0", 10, 20), module("Linear_0", 600, 20)]

    assert shared_in(loaded(tmp_path, *events, op("aten::mm", 605, 5))) is None


def test_a_shared_module_is_named_after_the_layer_with_its_parameters(tmp_path):
    (found,) = shared_in(recorded(tmp_path, rotary="rope"))

    assert (found["name"], found["params"], found["callers"]) == ("Net/rope", 5, LAYERS)
    assert found["rows"] == [f"Net/layers/{number}/Rotary" for number in range(LAYERS)]


def test_callers_that_are_one_module_count_once(tmp_path):
    """The angles of a rotary embedding have one caller, which is shared itself."""
    names = [one["name"] for one in shared_in(loaded(tmp_path, *network()))]

    assert names == ["Net/Layer_0/Rotary"]


def test_a_saved_profile_has_the_same_shared_modules(tmp_path):
    profile = loaded(tmp_path, *network())
    profile.save(tmp_path / "saved")

    assert shared_in(tfprof.load(tmp_path / "saved")) == shared_in(profile)
