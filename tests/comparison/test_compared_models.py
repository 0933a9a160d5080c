"""Real models compared, with their numbers counted by formulas."""

from pathlib import Path

import pytest

import tfprof

MODELS = Path(__file__).parents[2] / "examples" / "compare"


def resnet_params(units):
    """The parameters of a ResNet for CIFAR-10 with 6 * units + 2 layers, by scope."""
    found = {"init": 3 * 3 * 3 * 16, "unit_last": 4 * 64, "logit": 64 * 10 + 10}
    inputs = 16
    for stage, filters in enumerate((16, 32, 64), 1):
        for unit in range(units):
            norms = 4 * inputs + 4 * filters
            found[f"unit_{stage}_{unit}"] = norms + 9 * inputs * filters + 9 * filters * filters
            inputs = filters
    return found


def numbers(answer, key):
    return {row["name"]: row["numbers"][key] for row in answer}


def test_resnet_56_has_four_more_units_in_each_stage_than_resnet_32():
    small, large = resnet_params(5), resnet_params(9)
    answer = tfprof.diff(MODELS / "resnet32.pb.gz", MODELS / "resnet56.pb.gz").scope(max_depth=2)
    params = numbers(answer, "params")
    added = {row["name"]: row["status"] for row in answer if row["depth"] == 2}

    assert added == dict.fromkeys(large.keys() - small.keys(), "added")
    assert {name: params[name]["after"] for name in added} == {name: large[name] for name in added}
    assert params["_TFProfRoot"]["before"] == sum(small.values())
    assert params["_TFProfRoot"]["after"] == sum(large.values())


def test_gradients_have_all_float_operations_that_an_optimizer_adds():
    training = MODELS.parent / "resnet32" / "graph.pbtxt.gz"
    answer = tfprof.diff(MODELS / "resnet32_inference.pbtxt.gz", training).scope(max_depth=2)
    float_ops, whole = numbers(answer, "float_ops"), tfprof.load(training)
    alone = whole.scope(select=["float_ops"], max_depth=2)

    assert float_ops["gradients"]["share"] > 0.999
    assert float_ops["gradients"]["before"] == 0
    assert float_ops["gradients"]["after"] == alone["gradients"]["total_float_ops"]
    assert float_ops["_TFProfRoot"]["after"] == alone["_TFProfRoot"]["total_float_ops"]


def test_a_layer_that_was_added_to_a_saved_model_is_the_only_change():
    answer = tfprof.diff(MODELS / "classifier", MODELS / "classifier_attention").layers()
    added = [row["name"] for row in answer if row["status"] == "added" and row["depth"] == 3]
    params = numbers(answer, "params")["classifier/attention"]

    assert added == ["classifier/attention"]
    # Queries, keys and values of 2 heads with 16 features, and the way back to 64.
    assert params["after"] == 3 * (64 * 32 + 32) + 32 * 64 + 64
    assert params["share"] == 1


@pytest.mark.parametrize("model", ["classifier", "resnet56.pb.gz", "resnet32_inference.pbtxt.gz"])
def test_a_model_does_not_differ_from_itself(model):
    found = tfprof.diff(MODELS / model, MODELS / model)

    assert found.sentences[-1].endswith("did not change.")
    assert [row["status"] for row in found.scope()] == ["same"]
