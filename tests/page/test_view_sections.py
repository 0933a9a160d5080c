"""The page derives the numbers and names of rows from the sections `ops` and `views`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfprof
from build import CPU, GPU, layer, op, profile, run
from page_data import own_numbers, total_numbers, unpacked
from profile_strategies import accounts, filters, often, profiles
from report_pages import MODELS, ROOT
from tfprof.api import Profile
from tfprof.metrics import RUN_NUMBERS
from tfprof.page import container
from tfprof.page.content import content
from tfprof.page.subject import Subject
from tfprof.page.views import build_views, column_name, metrics, numbers_of, section_of, whole
from tfprof.views.registry import VIEWS

KINDS = [kind for kind in VIEWS if kind != "code"]


def sections(columns):
    return unpacked(container.pack(content(Subject(columns))))


def assert_same_numbers(section, ops, view):
    """The numbers that the page derives are those of the view."""
    is_flat = not section["nested"]
    for metric in numbers_of(view.profile):
        column = column_name(metric)
        if metric.part_of and not view.is_gathered:
            continue
        own, total = view.own[column].tolist(), view.total[column].tolist()
        assert own_numbers(section, ops, column) == own
        assert total_numbers(section, ops, column) == ([total[0], *own[1:]] if is_flat else total)


@often
@given(profiles(), st.sampled_from(KINDS))
def test_all_rows_of_a_view_have_its_names_ops_and_numbers(columns, kind):
    found = sections(columns)
    section, view = found["views"][kind], whole(kind, columns)

    assert section["name"] == list(view.name)
    assert section["end"] == view.tree.end.tolist()
    assert section["ops"] == view.members.lengths.tolist()
    assert_same_numbers(section, found["ops"], view)


@often
@given(profiles(), st.sampled_from(KINDS), accounts(), filters(), st.sampled_from(["", "name"]))
def test_the_rows_of_a_filtered_view_have_its_numbers(columns, kind, account, filter_, order):
    ops = sections(columns)["ops"]
    view = (
        Profile(columns)
        .view(kind, tfprof.options.Options.of(**account, **filter_, order_by=order or "auto"))
        .view
    )

    section = unpacked(container.pack(section_of(view)))

    assert section["name"] == list(view.name)
    assert_same_numbers(section, ops, view)


# In the code view of ResNet-32, a row has negative residual bytes: the page has it, but hides it
# like the original. The totals above it include it.
@pytest.mark.parametrize("model", ["resnet32", "transformer", "keras_cnn"])
def test_the_page_derives_all_totals_but_those_of_rounded_averages(model, monkeypatch):
    monkeypatch.chdir(ROOT)
    columns = tfprof.load(*MODELS[model]).columns

    found = {kind: {*section_of(view)["total"]} for kind, view in build_views(columns).items()}

    # The bytes of an average step are rounded in each row, so the rounded ones do not add up.
    averages = set() if columns.counts_whole_micros else {*RUN_NUMBERS}
    stated = {*averages, "held_bytes"}
    assert {kind for kind, totals in found.items() if totals - stated} == set()


def test_numbers_of_single_ops_are_not_repeated():
    columns = profile(op("a/w", shape=(3,)), run("a/w", micros=2))

    found = section_of(whole("scope", columns))

    assert found["own"] == {}
    assert found["total"] == {}


def test_an_op_of_several_recordings_has_all_its_devices():
    columns = profile(
        run("a", device=GPU, recording="here"), run("a", device=CPU, recording="there"), run("b")
    )

    device = sections(columns)["ops"]["device"]

    texts = [device["values"][code] for code in device["codes"]]
    assert texts == [f"{GPU}, {CPU}", CPU]


def test_a_layer_has_its_class_its_output_shape_and_the_columns_of_its_table():
    columns = profile(
        layer("dense", "Dense", (-1, 10)),
        op("dense/w", shape=(3, 10), layer="dense", types=["_trainable_variables"]),
    )

    found = sections(columns)["views"]["layers"]

    texts = {
        key: [fact["values"][code] for code in fact["codes"]]
        for key, fact in found["facts"].items()
    }
    assert texts == {"layer_class": ["", "Dense"], "output_shape": ["", "(?, 10)"]}
    assert [(one["group"], one["heading"], one["unit"]) for one in found["columns"]] == [
        ("", "class", None),
        ("", "output shape", None),
        ("", "parameters", "count"),
    ]


def test_the_peak_memory_of_a_layer_is_a_total(monkeypatch):
    monkeypatch.chdir(ROOT)
    columns = tfprof.load(*MODELS["transformer"]).columns

    found = section_of(whole("layers", columns))

    held = whole("layers", columns).held
    assert held is not None
    assert found["total"]["held_bytes"].tolist() == held().tolist()
    assert ("peak memory", "bytes") in [(one["heading"], one["unit"]) for one in found["columns"]]


def test_notes_concern_all_numbers_of_the_page():
    ops = [op("a", "MatMul"), op("b", float_ops=5)]
    columns = profile(*ops, run("a"), counts_float_ops=True)

    notes = sections(columns)["views"]["scope"]["notes"]

    assert any(note.startswith("float ops of 1 op") for note in notes)


def test_metrics_have_names_that_can_stand_alone():
    columns = tfprof.load(*(ROOT / path for path in MODELS["transformer"])).columns

    labels = {one["key"]: one["label"] for one in metrics(columns)}

    assert labels["params"] == "parameters"
    assert labels["float_ops"] == "FLOPs"
    assert labels["micros"] == "total execution time"
