"""The page of models: files have the numbers of the live models and of publications."""

import importlib.util
import os
import sys
from pathlib import Path

import pytest

from live_programs import only_own_warnings

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

DOCS = Path(__file__).parents[2] / "docs"


def docs_package(name):
    """A package below docs/, which is not on the path because its scripts have common names."""
    if name not in sys.modules:
        folder = DOCS / name
        spec = importlib.util.spec_from_file_location(
            name, folder / "__init__.py", submodule_search_locations=[str(folder)]
        )
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])


docs_package("models")

from models.facts import Facts, Recorded, installed_versions  # noqa: E402 -- after the package was made importable
from models.names import APPLICATIONS, CUSTOM  # noqa: E402
from models.page import page  # noqa: E402
from models.published import PUBLISHED, SOURCES  # noqa: E402

RECORDED = Recorded.read()
MODELS = RECORDED.models

# Kinds of ops that do most of the work; TensorFlow's profiler has rules for them.
PRODUCTS = ("Conv2D", "DepthwiseConv2dNative", "MatMul")


def test_the_page_is_up_to_date():
    written = (DOCS / "reference" / "models.md").read_text("utf-8")

    assert written == page(RECORDED, APPLICATIONS), "make models"


def test_every_model_is_on_the_page():
    assert list(MODELS) == [*APPLICATIONS, *CUSTOM]


def test_exported_models_have_the_numbers_of_the_live_models():
    assert {name: numbers(facts.exported) for name, facts in MODELS.items()} == {
        name: numbers(facts.live) for name, facts in MODELS.items()
    }
    assert [name for name, facts in MODELS.items() if facts.exported.not_counted] == []


def numbers(facts):
    return facts.params, facts.trainable, facts.float_ops


def test_resnet50_has_the_float_ops_and_macs_of_one_image():
    found = MODELS["ResNet50"].exported

    assert found.float_ops[1] == 7_764_381_168
    assert found.macs == 3_857_973_248


def test_frozen_graphs_have_the_float_ops_of_the_live_models():
    frozen = {name: facts for name, facts in MODELS.items() if facts.frozen}

    assert len(frozen) >= 3
    assert {
        name: (facts.frozen.float_ops, facts.frozen.macs, facts.frozen.not_counted)
        for name, facts in frozen.items()
    } == {name: (facts.live.float_ops, facts.exported.macs, ()) for name, facts in frozen.items()}


def test_parameters_are_those_published():
    live = {name: MODELS[name].live for name in APPLICATIONS}
    millions = {
        name: (facts.trainable if name.startswith("MobileNetV3") else facts.params) / 1e6
        for name, facts in live.items()
    }

    # Published to one decimal place, some rounded and some truncated.
    assert {
        name: counted
        for name, counted in millions.items()
        if abs(counted - float(PUBLISHED[name].params)) >= 0.1
    } == {}


def test_macs_are_those_published_or_the_page_says_why_not():
    published = {name: PUBLISHED[name] for name in APPLICATIONS if PUBLISHED[name].macs}
    ratios = {
        name: MODELS[name].exported.macs / 1e9 / float(one.macs) for name, one in published.items()
    }

    assert len(published) > 20
    assert {
        name: ratio
        for name, ratio in ratios.items()
        if abs(ratio - 1) >= 0.02 and not published[name].remark
    } == {}
    assert {one.source for one in published.values()} <= set(SOURCES)


def products(name, kinds):
    """The float operations of the kinds of ops that are compared."""
    # Grouped convolutions of ConvNeXt are in functions, which TensorFlow's profiler ignores.
    ignored = {"Conv2D"} if name.startswith("ConvNeXt") else set()
    return {kind: kinds.get(kind) for kind in PRODUCTS if kind not in ignored}


def test_tensorflows_profiler_counts_the_same_products():
    facts = {name: MODELS[name] for name in APPLICATIONS}

    assert {name: products(name, one.exported.kinds) for name, one in facts.items()} == {
        name: products(name, one.live.profiler) for name, one in facts.items()
    }


@pytest.mark.parametrize(
    ("name", "macs"),
    [
        ("lstm", 32 * 4 * (24 * (16 + 24) + 16 * (24 + 16)) + 16 * 10),
        ("gru", 32 * 3 * (24 * (16 + 24) + 16 * (24 + 16)) + 16 * 10),
        ("conv_lstm", 6 * 4 * 16 * 16 * 8 * 3 * 3 * (3 + 8) + 8 * 10),
        ("control_flow", 5 * 24 * 24 + 24 * 10),
    ],
)
def test_steps_of_recurrent_layers_and_loops_are_counted_as_often_as_they_run(name, macs):
    assert MODELS[name].exported.macs == macs


@pytest.mark.live
@only_own_warnings
class TestLive:
    """Small models are built, exported and read again."""

    @pytest.fixture
    def zoo(self):
        pytest.importorskip("tensorflow", reason="TensorFlow is not installed")
        pytest.importorskip("keras", minversion="3.0", reason="Keras 3 is not installed")
        from models import zoo  # noqa: PLC0415 -- imports TensorFlow

        return zoo

    @pytest.fixture
    def measure(self, tmp_path):
        from models.record import record  # noqa: PLC0415 -- imports TensorFlow

        def measured(entry):
            record(entry, tmp_path).write(tmp_path / f"{entry.name}.json")
            return Facts.read(entry.name, tmp_path)

        return measured

    @pytest.mark.parametrize("name", CUSTOM)
    def test_a_small_model_has_the_same_numbers_live_and_exported(self, zoo, measure, name):
        facts = measure(zoo.ENTRIES[name])

        assert facts.exported.params == facts.live.params
        assert facts.exported.float_ops == facts.live.float_ops
        if installed_versions() == RECORDED.versions:
            assert facts == MODELS[name], f"make models MODELS={name}"

    def test_a_small_application_has_the_same_numbers_live_and_exported(self, zoo, measure):
        facts = measure(zoo.SMALL_APPLICATION)

        assert facts.exported.params == facts.live.params
        assert facts.exported.float_ops == facts.live.float_ops
        assert facts.exported.not_counted == ()

    def test_the_names_of_the_models_are_complete(self, zoo):
        names = {name for name in dir(zoo.keras.applications) if name[0].isupper()}

        assert set(APPLICATIONS) == names
        assert list(zoo.ENTRIES) == [*CUSTOM, *APPLICATIONS]
