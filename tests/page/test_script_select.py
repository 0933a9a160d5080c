"""The page filters and orders rows as Python does."""

from __future__ import annotations

from base64 import b64encode

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from build import op, profile, run
from page_script import ScriptError, ask, needs_node
from profile_strategies import facts, filters
from tfprof.metrics import ORDER_KEYS
from tfprof.options import Options
from tfprof.page import container, merging
from tfprof.page.content import content
from tfprof.page.subject import Subject
from tfprof.page.views import column_name, metrics, numbers_of
from tfprof.views.registry import VIEWS, Trait
from tfprof.views.view import build

pytestmark = needs_node

KINDS = tuple(VIEWS)
DEVICES = (".*", ".*cpu.*", "/JOB.*", ".*gpu:0", ".*stream.*,.*cpu.*", "", "x|")
# Single ops have no numbers of this kind in the page.
ONLY_GATHERED = ("trainable_params", "other_params")


def packed(columns):
    return b64encode(container.pack(content(Subject(columns)))).decode()


def texts(options):
    """Options as the page has them: texts, and only those that are given."""
    return {
        name: ",".join(value) if isinstance(value, list) else str(value)
        for name, value in options.items()
    }


def assert_same(columns, kind, options):
    """The page shows the rows that Python does, with the same numbers."""
    shown = [column_name(metric) for metric in numbers_of(columns) if not metric.part_of]
    given = {"max_depth": 10**9} | options
    view = build(kind, columns, Options.of(**given))

    (found,) = ask(
        "rows",
        data=packed(columns),
        questions=[{"kind": kind, "options": texts(options)}],
        columns=shown,
    )

    assert found["names"] == list(view.name)
    assert found["end"] == view.tree.end.tolist()
    assert found["depth"] == view.tree.depths.tolist()
    assert found["own"] == [view.own[key].tolist() for key in shown]
    if Trait.NESTED in view.traits:
        assert found["total"] == [view.total[key].tolist() for key in shown]
    return len(view)


@st.composite
def asked(draw):
    """A profile, a view of it and options that a page without a server supports."""
    kind = draw(st.sampled_from(KINDS))
    found = draw(facts())
    whole_micros = draw(st.booleans())
    scale = draw(st.sampled_from((1, 0.35, 1.7)))
    keys = [
        key for key in ORDER_KEYS if VIEWS[kind].traits & Trait.GATHERED or key not in ONLY_GATHERED
    ]
    options = draw(filters()) | {"order_by": draw(st.sampled_from(keys))}
    if draw(st.booleans()):
        options["device_regexes"] = draw(st.sampled_from(DEVICES)).split(",")
    # A list that is given as text has no empty items.
    options = {
        name: [*filter(None, value)] if isinstance(value, list) else value
        for name, value in options.items()
    }
    return found, whole_micros, scale, kind, options


@settings(max_examples=100)
@given(asked())
def test_any_options_give_the_rows_of_python(question):
    found, whole_micros, scale, kind, options = question
    columns = profile(*(scaled(fact, scale) for fact in found), counts_whole_micros=whole_micros)
    assume(kind != "code" or columns.has_code)

    assume(assert_same(columns, kind, options) > 1)


def scaled(fact, scale):
    """A run that took a fraction of its microseconds; other facts are not changed."""
    return (
        fact
        if not hasattr(fact, "micros")
        else type(fact)(
            **{name: getattr(fact, name) for name in fact.__dataclass_fields__}
            | {"micros": fact.micros * scale}
        )
    )


@pytest.mark.parametrize("kind", ["scope", "graph", "op"])
def test_rows_with_negative_numbers_are_hidden_and_count_in_totals(kind):
    memory = {"requested": 8, "residual": -3}
    columns = profile(op("a", "A"), op("a/b", "B"), run("a", memory=memory), run("a/b"))

    assert assert_same(columns, kind, {}) < 3
    assert assert_same(columns, kind, {"start_name_regexes": ["a"]}) <= 2


def test_thresholds_apply_to_the_sums_of_merged_rows(monkeypatch):
    names = [f"net/{place}" for place in range(20)]
    runs = [run(name, 1.4 + place // 15) for place, name in enumerate(names)]
    columns = profile(*map(op, names), *runs, counts_whole_micros=False)
    monkeypatch.setattr(merging, "MOST_ROWS", 6)

    found = ask(
        "rows",
        data=packed(columns),
        questions=[
            {"kind": "scope", "options": {"min_micros": str(least)}} for least in (25, 26, 27)
        ],
        columns=["nanos"],
    )

    merged = "17 smaller rows"  # of 1.4 and 2.4 microseconds, together 26 as Python rounds them
    assert [merged in one["names"] for one in found] == [True, True, False]


def test_names_are_ordered_by_their_bytes():
    names = ["a", "A", "é", "e", "\N{GRINNING FACE}", "\uffee", "a-b", "a/b", "_"]
    columns = profile(
        *(op(name, shape=(1,), inputs=["a"] if name == "é" else []) for name in names)
    )

    for kind in ("scope", "graph"):
        assert_same(columns, kind, {"order_by": "name"})
        assert_same(columns, kind, {"order_by": "name", "hide_name_regexes": ["e"]})


def test_a_name_with_a_byte_order_mark_keeps_it():
    columns = profile(op("\ufeffa", shape=(1,)))

    assert assert_same(columns, "scope", {"show_name_regexes": ["\ufeffa"]}) == 2


@pytest.mark.parametrize(
    ("option", "text", "message"),
    [
        (
            "show_name_regexes",
            "a(",
            "`show_name_regexes`: pattern `a(`: `(` is not closed; add `)`",
        ),
        ("max_depth", "deep", "`max_depth` takes a whole number, not `deep`."),
        ("min_bytes", "1.5", "`min_bytes` takes a whole number, not `1.5`."),
        ("order_by", "size", "`order_by` cannot be `size`; use one of name, "),
        ("order_by", "other_params", "order_by other_params needs tfprof ui in this view."),
        ("step", "1", "step needs tfprof ui."),
        ("account_type_regexes", ".*", "account_type_regexes needs tfprof ui."),
    ],
)
def test_a_wrong_option_is_refused(option, text, message):
    columns = profile(op("a", shape=(1,)))

    with pytest.raises(ScriptError) as error:
        ask(
            "rows",
            data=packed(columns),
            questions=[{"kind": "scope", "options": {option: text}}],
            columns=[],
        )

    assert error.value.option == option
    assert str(error.value).startswith(message)


def test_the_page_has_all_metrics_of_thresholds():
    columns = profile(op("a", shape=(1,)), run("a"))
    sections = content(Subject(columns))

    by_name = {option["name"]: option for option in sections["options"]}
    assert by_name["min_micros"]["unit"] == "nanos"
    assert by_name["min_micros"]["is_measured"]
    assert not by_name["min_params"]["is_measured"]
    assert by_name["min_occurrence"]["metric"] == "occurrence"
    assert {one["key"] for one in metrics(columns)} <= {
        one["metric"] for one in sections["options"]
    }
