"""Questions of the page: options are read as on the command line, with the same errors."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

import tfprof
from page_server import serve
from tfprof.cli import main
from tfprof.commands.command import Place
from tfprof.commands.served_page import view_options
from tfprof.commands.table import available
from tfprof.errors import OptionError
from tfprof.options import GENERAL_OPTIONS, INPUT_OPTIONS, OUTPUT_OPTIONS, VIEW_OPTIONS, Options
from tfprof.page.views import WHOLE
from tfprof.views.registry import VIEWS

COMMANDS = available(Place.COMMAND_LINE)
WRITING = ("output", "dump_to_file", "viz")


@pytest.fixture
def served(files):  # noqa: ARG001 -- makes the folder of the files the current one
    with serve(lambda: tfprof.load("graph.pb", "run_meta_0", "tfprof_log")) as started:
        yield started


def read(kind, **texts):
    return view_options(COMMANDS, kind, list(texts.items()))


def test_options_have_the_values_they_have_on_the_command_line():
    assert read("graph", max_depth="3", order_by="name", select="params,micros") == Options.of(
        max_depth=3, order_by="name", select=["params", "micros"]
    )
    assert read("code", max_depth="10", order_by="auto", my_code="true") == Options.of(my_code=True)
    assert read("scope", max_depth="10000", order_by="name", dialect="contrib") == Options.of(
        max_depth=10_000, order_by="name", dialect="contrib"
    )


def test_a_question_without_options_is_about_all_rows():
    assert read("scope") == WHOLE


def test_an_option_that_is_given_twice_has_the_last_value():
    texts = [("max_depth", "3"), ("max_depth", "4"), ("define_type", "a=b"), ("define_type", "c=d")]

    assert view_options(COMMANDS, "op", texts) == WHOLE.but(max_depth=4, define_type=["a=b", "c=d"])


@pytest.mark.parametrize("name", sorted(VIEW_OPTIONS.keys() - set(WRITING)))
@pytest.mark.parametrize("kind", VIEWS)
def test_every_option_of_a_view_is_live(kind, name, served):
    default = VIEW_OPTIONS[name].default
    text = ",".join(map(str, default)) if isinstance(default, tuple) else str(default)
    query = urlencode({"kind": kind, name: text})

    answered = served.ask(f"view?{query}")

    assert answered.status == 200
    if name != "order_by":  # without it, rows are in the order of their arrangement
        assert answered.body == served.ask(f"view?kind={kind}").body


@pytest.mark.parametrize(
    ("name", "text"),
    [
        *(("max_dept", "3"), ("max_depth", "three"), ("max_depth", ""), ("max_depth", str(2**70))),
        *(("select", "micro"), ("order_by", "time"), ("show_name_regexes", "(")),
        *(("show_name_regexes", "(?=a)"), ("define_type", "a"), ("dialect", "cor")),
        *(("my_code", "maybe"), ("rank", "first"), ("max_rows", "3"), ("checkers", "A")),
        *(("colour", "red"), ("step", "1.5"), ("recording", "[")),
    ],
)
@pytest.mark.parametrize("kind", ["scope", "layers"])
def test_an_error_has_the_text_of_the_command_line(kind, name, text, served, capsys):
    status = main([kind, "graph.pb", f"--{name}={text}"])
    expected = capsys.readouterr().err.removeprefix("tfprof: ").removesuffix("\n")

    answered = served.ask(f"view?{urlencode({'kind': kind, name: text})}")

    assert status == 2
    assert (answered.status, answered.error) == (400, expected)
    assert answered.headers["Content-Type"] == "application/json"


def test_an_unknown_view_is_reported_with_the_nearest_one(served):
    answered = served.ask("view?kind=scop")

    assert (answered.status, answered.error) == (400, "Unknown view `scop`. Did you mean `scope`?")


@pytest.mark.parametrize("query", ["", "?", "?max_depth=3", "?kind=op&kind=op", "?kind="])
def test_a_question_names_one_view(query, served):
    assert served.ask(f"view{query}").status == 400


@pytest.mark.parametrize("query", ["kind=op&select=%ff", "kind=%c3%28", "kind=op" + "&a=1" * 500])
def test_a_question_that_cannot_be_decoded_is_refused(query, served):
    answered = served.ask(f"view?{query}")

    assert (answered.status, answered.error) == (400, "The question cannot be decoded.")


def test_control_characters_in_an_error_are_escaped(served):
    answered = served.ask("view?kind=scope&order_by=%1b%5B31m%0ared")

    assert answered.error.startswith("`order_by` cannot be `\\x1b[31m red`.")


# Files.


@pytest.mark.parametrize("name", WRITING)
def test_no_question_writes_a_file(name, served, files):
    before = sorted(files.iterdir())

    answered = served.ask(f"view?kind=scope&{name}=file:outfile=stolen")

    assert answered.status == 400
    assert answered.error == f"`scope` has no option `{name}`. Use it on the command line."
    assert sorted(files.iterdir()) == before


@pytest.mark.parametrize("name", INPUT_OPTIONS)
def test_no_question_reads_a_file(name):
    with pytest.raises(OptionError) as caught:
        read("scope", **{name: "/etc/passwd"})

    assert str(caught.value) == (
        f"`scope` has no option `{name}`. The page shows the files it was started with."
    )


@pytest.mark.parametrize("name", [*OUTPUT_OPTIONS, *GENERAL_OPTIONS])
def test_options_that_only_apply_to_a_terminal_are_refused(name):
    with pytest.raises(OptionError, match="Use it on the command line"):
        read("scope", **{name: "x"})
