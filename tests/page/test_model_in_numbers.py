"""The cards and the bar at the top of a report, compared with the answers of the API."""

from pathlib import Path

import pytest

import tfprof
from tfprof.page.content import content
from tfprof.page.subject import Subject

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def resnet():
    return tfprof.load(*sorted((EXAMPLES / "resnet32").glob("*.gz")))


@pytest.fixture(scope="module")
def sections(resnet):
    return content(Subject(resnet.columns, words=resnet.words, notes=resnet.notes))


def cards(sections):
    return {card["label"]: card for card in sections["cards"]}


def test_the_cards_have_the_numbers_of_the_answers(sections, resnet):
    trainable = resnet.layers(select=["trainable_params"], max_depth=1)["_TFProfRoot"]
    (summary,) = resnet.step_times().summaries
    assert {label: card["value"] for label, card in cards(sections).items()} == {
        "Trainable parameters": trainable["total_trainable_params"],
        "Float operations per step": resnet.flops().to_dict()["float_ops"],
        "Step time": summary.median_ns,
        "Peak memory": resnet.memory().allocators[0].peak_bytes,
    }


def test_a_card_says_what_its_number_lacks(sections):
    float_ops = cards(sections)["Float operations per step"]
    assert float_ops["text"].startswith("≥ ")
    assert "71 ops not counted" in float_ops["detail"]


def test_the_parts_of_the_bar_are_the_phases_of_the_median_step_and_add_up(sections, resnet):
    (step,) = resnet.step_times().times.steps
    bar = sections["bar"]

    assert {part["key"]: part["value"] for part in bar["parts"]} == {
        key: value for key, value in step.phases.items() if value
    }
    assert sum(part["value"] for part in bar["parts"]) == bar["whole"] == step.wall_ns


def test_the_bar_is_that_of_the_recording_with_the_longest_steps():
    folder = EXAMPLES / "two_workers"
    profile = tfprof.load(folder / "graph.pb.gz", folder / "worker0", folder / "worker1")
    slowest = max(profile.step_times().summaries, key=lambda one: one.median_ns)

    sections = content(Subject(profile.columns))

    assert slowest.recording in sections["bar"]["title"]
    assert cards(sections)["Step time"]["value"] == slowest.median_ns


def test_a_model_that_never_ran_has_float_operations_instead_of_times():
    profile = tfprof.load(EXAMPLES / "keras_cnn")

    sections = content(Subject(profile.columns, words=profile.words))

    assert list(cards(sections)) == ["Trainable parameters", "Float operations per run"]
    assert sections["bar"]["whole"] == profile.flops().to_dict()["float_ops"]
    assert sections["missing"].keys() == {"code", "timeline", "memory", "kernels"}
    assert "RunMetadata" in sections["missing"]["timeline"]


@pytest.mark.parametrize(
    ("words", "title", "name"),
    [
        (("runs/a",), "", "a"),
        (("models/resnet32/graph.pbtxt.gz", "run_meta"), "", "resnet32"),
        (("graph.pb",), "", "graph.pb"),
        (("examples/keras_cnn",), "", "keras_cnn"),
        (("runs/a",), "My model", "My model"),
        ((), "", "model"),
    ],
)
def test_a_report_is_named_after_the_model(words, title, name, resnet):
    assert Subject(resnet.columns, title, words).name == name


def test_words_of_commands_are_quoted(resnet):
    assert Subject(resnet.columns, words=("a b", "$(x)")).command_words == "'a b' '$(x)'"
