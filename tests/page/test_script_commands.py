"""The page offers a command for what it shows, and says why rows are missing."""

from __future__ import annotations

import shlex
from base64 import b64encode
from functools import cache

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import tfprof
from build import GPU, op, profile, run
from page_script import ask, needs_node
from report_pages import MODELS, ROOT, answer
from tfprof.api import Profile
from tfprof.metrics import BY_KEY
from tfprof.options import Options
from tfprof.page import container
from tfprof.page.content import content
from tfprof.page.subject import Subject

pytestmark = needs_node

MILLI = "1000"


@cache
def packed(model):
    """The data of the report of an example model."""
    loaded = tfprof.load(*(str(ROOT / word) for word in MODELS[model]))
    subject = Subject(loaded.columns, words=tuple(MODELS[model]))
    return b64encode(container.pack(content(subject))).decode()


@pytest.mark.parametrize(
    ("model", "kind", "metric", "options"),
    [
        ("resnet32", "scope", "micros", {}),
        ("resnet32", "scope", "float_ops", {"start_name_regexes": "unit_1.*,unit_2_0"}),
        ("resnet32", "graph", "micros", {"min_micros": MILLI, "hide_name_regexes": "gradients.*"}),
        ("resnet32", "code", "micros", {"trim_name_regexes": ".*conv.*"}),
        ("resnet32", "op", "micros", {"order_by": "occurrence", "max_depth": "12"}),
        ("resnet32", "op", "params", {}),
        ("resnet32", "layers", "params", {"max_depth": "3"}),
        ("transformer", "scope", "micros", {"show_name_regexes": ".*(MatMul|Softmax).*"}),
        ("transformer", "layers", "micros", {"order_by": "micros"}),
        ("transformer", "op", "micros", {"min_micros": "20", "device_regexes": ".*CPU.*"}),
        ("transformer", "code", "peak_bytes", {}),
        ("keras_cnn", "layers", "params", {"min_params": "100"}),
        ("keras_cnn", "scope", "float_ops", {"order_by": "name", "max_depth": "4"}),
    ],
)
def test_a_command_prints_the_rows_and_numbers_that_the_page_shows(model, kind, metric, options):
    order = {} if kind == "layers" or "order_by" in options else {"order_by": metric}
    (shown,) = ask(
        "shown",
        data=packed(model),
        metric=metric,
        questions=[{"kind": kind, "options": options | order}],
    )
    found = answer(shown["command"])

    # In the answer of the op view, totals cover later rows too.
    column, first = (metric, 1) if kind == "op" else (f"total_{metric}", 0)
    expected = [(row["name"], row[column]) for row in found["rows"][first:]]
    scale = 1000 if BY_KEY[metric].exact else 1
    assert [tuple(row) for row in shown["rows"][first:]] == [
        (name, round(number * scale)) for name, number in expected
    ]
    assert len(expected) > 1


@given(st.lists(st.text(st.characters(exclude_characters="\0", codec="utf-8")), min_size=1))
def test_words_are_quoted_for_a_shell(words):
    assert shlex.split(" ".join(ask("quoted", words=words))) == words


def test_a_command_with_quotes_and_spaces_is_read_as_the_options_of_the_page():
    regex = 'it\'s "a" $HOME `b` \\\\ *\nend'
    columns = profile(op("a", shape=(2,)))
    subject = Subject(columns, words=("my model/graph.pb", "it's"))

    (shown,) = ask(
        "shown",
        data=b64encode(container.pack(content(subject))).decode(),
        metric="params",
        questions=[{"kind": "scope", "options": {"show_name_regexes": regex}}],
    )

    assert shlex.split(shown["command"]) == [
        *("tfprof", "scope", "my model/graph.pb", "it's"),
        *("-select", "params", "-show_name_regexes", regex),
    ]


def test_a_wrong_option_leaves_the_rows_and_the_command_as_they_were():
    columns = profile(op("a", shape=(2,)), op("b", shape=(3,)))
    good, bad = {"show_name_regexes": "a"}, {"show_name_regexes": "a("}
    asked = [{"kind": "scope", "options": options} for options in (bad, good, bad)]

    first, second, third = ask("shown", data=_packed(columns), metric="params", questions=asked)

    assert first["rows"] == [["_TFProfRoot", 5], ["a", 2], ["b", 3]]
    assert third["rows"] == second["rows"] == [["_TFProfRoot", 5], ["a", 2]]
    assert third["command"] == second["command"]
    assert first["problem"]["option"] == "show_name_regexes"
    assert "`(` is not closed" in first["problem"]["message"]


CUT = profile(
    op("net/a", shape=(2,)),
    op("net/b/c", shape=(3,)),
    op("Out"),
    run("net/a", 5),
    run("net/b/c", 7, device=GPU),
)
WIDER = "A regex must match the whole name:"


@pytest.mark.parametrize(
    ("options", "cut"),
    [
        (
            {"show_name_regexes": "b/c"},
            f"-show_name_regexes: no row matches `b/c`. {WIDER} `.*b/c` matches `net/b/c`.",
        ),
        (
            {"start_name_regexes": "net/"},
            f"-start_name_regexes: no row matches `net/`. {WIDER} `net` matches `net`.",
        ),
        (
            {"trim_name_regexes": "/"},
            (
                "-trim_name_regexes: no row matches `/`. "
                f"{WIDER} `.*/.*` matches 3 rows, such as `net/a`."
            ),
        ),
        (
            {"device_regexes": "gpu"},
            f"-device_regexes: no device matches `gpu`. {WIDER} `.*gpu.*` matches `{GPU}`.",
        ),
        ({"max_depth": 2}, "3 rows below depth 2 are not shown; -max_depth 4 shows all."),
        (
            {"min_params": 9},
            (
                "no row reaches -min_params 9: the largest number is 3 (`net/b/c`); "
                "-min_params 3 shows it."
            ),
        ),
        (
            {"show_name_regexes": ".*a", "hide_name_regexes": "net.*"},
            (
                "no row passes all of -show_name_regexes, -hide_name_regexes; "
                "leave one out to see what the others keep."
            ),
        ),
    ],
)
def test_the_page_says_why_rows_are_missing_as_python_does(options, cut):
    texts = {name: str(value) for name, value in options.items()}

    (shown,) = ask(
        "shown",
        data=_packed(CUT),
        metric="params",
        questions=[{"kind": "scope", "options": texts}],
    )
    notes = Profile(CUT).view("scope", Options.of(**{"max_depth": 100} | options)).notes

    assert shown["cuts"] == [cut]
    assert cut in notes


def test_one_option_that_hides_all_rows_is_named_and_others_have_no_note():
    asked = [{}, {"show_name_regexes": "net.*"}, {"hide_name_regexes": ".*"}]

    every, some, none = ask(
        "shown",
        data=_packed(CUT),
        metric="params",
        questions=[{"kind": "scope", "options": options} for options in asked],
    )

    assert every["cuts"] == some["cuts"] == []
    assert none["cuts"] == ["-hide_name_regexes hides all 5 rows; remove it to see them."]


def _packed(columns):
    return b64encode(container.pack(content(Subject(columns)))).decode()


@pytest.mark.parametrize(
    ("unit", "typed", "number"),
    [
        ("nanos", "1 ms", 1000),
        ("nanos", "1.5ms", 1500),
        ("nanos", "0.3 ms", 300),
        ("nanos", "2 s", 2_000_000),
        ("nanos", "7 us", 7),
        ("nanos", "12", 12),
        ("nanos", "5000 ns", 5),
        ("nanos", "500 ns", None),
        ("nanos", "1 MB", None),
        ("count", "25 M", 25_000_000),
        ("count", "1,000", 1000),
        ("count", "2.5k", 2500),
        ("count", "1.5", None),
        ("bytes", "10 MB", 10_000_000),
        ("bytes", "1 KiB", 1024),
        ("bytes", "x", None),
        ("bytes", "-1", None),
        ("count", "99999999999999999999", None),
    ],
)
def test_amounts_are_read_with_their_units(unit, typed, number):
    assert ask("amounts", unit=unit, texts=[typed]) == [number]


@pytest.mark.parametrize(
    ("unit", "number", "text"),
    [
        ("nanos", 1000, "1 ms"),
        ("nanos", 1500, "1.5 ms"),
        ("nanos", 1234567, "1234567 µs"),
        ("nanos", 5, "5 µs"),
        ("count", 25_000_000, "25 M"),
        ("count", 1234, "1234"),
        ("bytes", 512, "512 B"),
        ("bytes", 0, "0"),
    ],
)
def test_amounts_are_shown_as_one_would_type_them(unit, number, text):
    assert ask("typed", unit=unit, numbers=[number]) == [text]


@given(st.sampled_from(["nanos", "count", "bytes"]), st.lists(st.integers(0, 2**53 - 1)))
@example("count", [8444253596286981])
def test_an_amount_that_is_shown_can_be_typed(unit, numbers):
    assert ask("amounts", unit=unit, texts=ask("typed", unit=unit, numbers=numbers)) == numbers
