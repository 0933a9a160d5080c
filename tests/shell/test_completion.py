"""Completion in the shell: the candidates for the text before the cursor."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfprof
from build import CPU, op, profile, run
from tfprof.commands.command import Place
from tfprof.commands.table import available
from tfprof.options import VIEW_OPTIONS, Kind, Options
from tfprof.patterns import Patterns
from tfprof.shell.completion import Completer
from tfprof.shell.model_names import escaped, unescaped
from tfprof.shell.screen import Pipe
from tfprof.shell.session import Session

COMMANDS = available(Place.SHELL)
PROFILE = profile(
    op("net/conv/w", "VariableV2", types=["_trainable_variables"], code=["lib/model.py:1:f"]),
    op("net/conv/mul", "MatMul", inputs=["net/conv/w"], code=["train.py:2:g"]),
    op("net/conv_1/mul", "MatMul"),
    op("net/v1.5", "NoOp"),
    run("net/conv/mul", 5, step=3),
    run("net/conv/mul", 5, step=20),
)
COMPLETER = Completer(PROFILE, COMMANDS)


def completed(line):
    """The lines that result from each candidate."""
    typed, candidates = COMPLETER.complete(line)
    assert line.endswith(typed)
    return [line.removesuffix(typed) + candidate.text for candidate in candidates]


def shown(line):
    return {candidate.shown: candidate.meaning for candidate in COMPLETER.complete(line).candidates}


# Words.


def test_an_empty_line_can_be_any_command():
    assert completed("") == [f"{name} " for name in COMMANDS]


@pytest.mark.parametrize(
    ("line", "lines"),
    [
        ("s", ["scope ", "steps ", "sql ", "save ", "set "]),
        ("sc", ["scope "]),
        ("  sc", ["  scope "]),
        ("sql -f", ["sql -format "]),
        ("sql -format p", ["sql -format parquet "]),
        ("sql SELECT -", []),
        ("nonsense", []),
        ("nonsense -", []),
        ("quit ", []),
        ("scope -sel", ["scope -select "]),
        ("scope -account_t", ["scope -account_type_regexes "]),
        ("scope -max_depth 3 -sel", ["scope -max_depth 3 -select "]),
        ("scope -max_depth ", []),
        ("scope\t-sel", ["scope\t-select "]),
        ("scope -nonsense x -sel", ["scope -nonsense x -select "]),
        ("reset sel", ["reset select "]),
        ("reset -sel", ["reset -select "]),
        ("reset select ste", ["reset select step "]),
        ("help sc", ["help scope "]),
        ("help order", ["help order_by "]),
        ("help peak", ["help peak_bytes "]),
        ("help max_r", ["help max_rows "]),
        ("help scope ", []),
        ("scope -order_by na", ["scope -order_by name "]),
        ("scope -order_by peak", ["scope -order_by peak_bytes "]),
        ("scope -select para", ["scope -select params"]),
        ("scope -select micros,para", ["scope -select micros,params"]),
        ("scope -select params,par", []),
        ('scope -select "para', ['scope -select "params']),
        ("scope -output js", ["scope -output json:outfile="]),
        ("scope -output no", ["scope -output none "]),
        ("scope -output json:o", ["scope -output json:outfile="]),
        ("scope -output none:o", []),
        ("scope -output json:colour=", []),
        ("scope -step 2", ["scope -step 20 "]),
        ("scope -step -", ["scope -step -1 "]),
        ("scope -step a", ["scope -step all "]),
        ("scope -account_displayed_op_only t", ["scope -account_displayed_op_only true "]),
        (
            "scope -account_displayed_op_only -sel",
            ["scope -account_displayed_op_only -select "],
        ),
        (
            "scope -account_displayed_op_only false -sel",
            ["scope -account_displayed_op_only false -select "],
        ),
    ],
)
def test_a_word_is_completed(line, lines):
    assert completed(line) == lines


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_of_a_command_is_offered(command):
    assert completed(f"{command} -") == [f"{command} -{name} " for name in OFFERED[command]]


OFFERED = {
    **{name: row.options for name, row in COMMANDS.items()},
    "reset": VIEW_OPTIONS,
    "help": (),
}


def test_candidates_come_with_their_meaning():
    assert shown("sc") == {"scope": "Show ops by name scope."}
    assert shown("scope -max_d") == {"-max_depth": VIEW_OPTIONS["max_depth"].help}
    assert shown("scope -select peak_b") == {
        "peak_bytes": "the most memory the op held at one time."
    }


# Files.


@pytest.fixture
def _folder(tmp_path, monkeypatch):
    for name in ("report.txt", "profile.pb", ".hidden", "with space"):
        (tmp_path / name).touch()
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "one").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))  # the same on Windows


@pytest.mark.usefixtures("_folder")
@pytest.mark.parametrize(
    ("line", "lines"),
    [
        ("save ", ["save parts/", "save profile.pb", "save report.txt"]),
        ("save p", ["save parts/", "save profile.pb"]),
        ("save parts/", ["save parts/one"]),
        ("save .h", ["save .hidden"]),
        ("save ~/par", ["save ~/parts/"]),
        ("save gone/", []),
        ("save \0/", []),
        ("save profile.pb ", ["save profile.pb -outfile ", "save profile.pb -format "]),
        ("save -outfile p", ["save -outfile parts/", "save -outfile profile.pb"]),
        ("timeline p", ["timeline parts/", "timeline profile.pb"]),
        ("timeline -outfile re", ["timeline -outfile report.txt"]),
        ("scope -output json:outfile=r", ["scope -output json:outfile=report.txt"]),
    ],
)
def test_a_file_is_completed(line, lines):
    assert completed(line) == lines


# Names in the model.


@pytest.mark.parametrize("option", ["start", "trim", "show"])
def test_op_names_are_completed_one_scope_at_a_time(option):
    line = f"graph -{option}_name_regexes "

    assert completed(line + "n") == [
        line + "net/.*",
        line + "net/conv/.*",
        line + "net/conv_1/.*",
        line + r"net/v1\.5",
    ]
    assert completed(line + "net/c") == [line + "net/conv/.*", line + "net/conv_1/.*"]
    assert completed(line + "net/conv/m") == [line + "net/conv/mul"]


def test_all_rows_in_a_scope_can_be_narrowed_down():
    assert completed("graph -show_name_regexes net/conv/.*") == [
        "graph -show_name_regexes net/conv/.*",
        "graph -show_name_regexes net/conv/mul",
        "graph -show_name_regexes net/conv/w",
    ]


def test_after_the_slash_of_a_scope_one_candidate_matches_the_whole_scope():
    assert shown("scope -show_name_regexes net/conv/") == {
        ".*": "all 2 rows",
        "mul": "op",
        "w": "op",
    }
    assert completed("scope -show_name_regexes net/conv/")[0].endswith(" net/conv/.*")


def test_a_scope_is_offered_as_a_row():
    assert shown("scope -start_name_regexes net/conv") == {
        "conv": "2 rows below",
        "conv_1": "1 row below",
    }


def test_the_graph_view_offers_no_scope_rows():
    assert list(shown("graph -start_name_regexes net/conv")) == ["conv/.*", "conv_1/.*"]


def test_only_rows_that_the_line_would_show_are_offered():
    line = "scope -max_depth 3 -show_name_regexes net/conv"

    assert list(shown(line)) == ["conv", "conv_1"]
    assert shown(line + "/") == {}
    assert "w" in shown("scope -max_depth 3 -start_name_regexes net/conv/")


def test_the_options_in_force_limit_what_is_offered():
    shallow = Completer(PROFILE, COMMANDS, lambda: Options.of(max_depth=3))

    assert shallow.complete("scope -show_name_regexes net/conv/").candidates == []


def test_a_value_that_would_hide_every_row_is_not_offered():
    only = Completer(profile(op("a", "MatMul"), op("b", "MatMul")), COMMANDS)

    assert only.complete("op -hide_name_regexes ").candidates == []
    assert only.complete("op -trim_name_regexes ").candidates == []
    assert len(only.complete("scope -hide_name_regexes ").candidates) == 2


def test_metrics_without_data_are_not_offered():
    graph = Completer(profile(op("a", "MatMul")), COMMANDS)

    assert "micros" in shown("scope -select m")
    assert [one.shown for one in graph.complete("scope -select m").candidates] == ["macs"]
    assert graph.complete("scope -order_by mi").candidates == []


def test_outputs_that_a_view_does_not_support_are_not_offered():
    assert "timeline" in shown("scope -output t")
    assert shown("op -output t") == {}


def test_the_op_view_offers_op_kinds():
    assert completed("op -hide_name_regexes M") == ["op -hide_name_regexes MatMul"]
    assert completed("op -hide_name_regexes n") == []


def test_set_offers_op_names_and_op_kinds():
    assert list(shown("set -hide_name_regexes ")) == ["net", "MatMul", "NoOp", "VariableV2"]


def test_the_code_view_offers_the_lines_of_each_file():
    assert completed("code -show_name_regexes ") == [
        r"code -show_name_regexes model\.py:.*",
        r"code -show_name_regexes train\.py:.*",
    ]


def test_types_are_completed():
    assert completed("scope -account_type_regexes _t") == [
        "scope -account_type_regexes _trainable_variables"
    ]
    assert completed("op -account_type_regexes Mat") == ["op -account_type_regexes MatMul"]


@pytest.mark.parametrize(
    "before", ["net/conv/w,", "net/conv/w|", "(", "(net|", '"', "'x,", ".*w,", r"a\,b|"]
)
def test_the_last_name_of_a_list_or_regex_is_completed(before):
    line = f"graph -hide_name_regexes {before}"

    assert completed(line + "net/conv_1/m") == [line + "net/conv_1/mul"]


def test_special_characters_in_a_completed_name_are_escaped():
    assert completed("graph -show_name_regexes net/v") == [r"graph -show_name_regexes net/v1\.5"]


@pytest.mark.parametrize("typed", ["net/v1.", r"net/v1\."])
def test_a_dot_may_be_typed_with_or_without_a_backslash(typed):
    assert completed(f"graph -show_name_regexes {typed}") == [r"graph -show_name_regexes net/v1\.5"]


@pytest.mark.parametrize("typed", [".*", "net/[a-z]", "net/c?", "net^", "net\\"])
def test_a_regex_with_operators_is_not_completed(typed):
    assert completed(f"graph -show_name_regexes {typed}") == []


@given(st.text(min_size=1))
def test_an_escaped_name_matches_the_name_and_can_be_unescaped(name):
    regex = escaped(name)

    assert Patterns([regex]).matches(name)
    assert unescaped(regex) == name
    assert len(regex.split()) == 1
    assert not set(regex) & set(",\"'")


@given(st.text("a./\\x41,|(*\"' "))
def test_no_input_breaks_completion(typed):
    completed(f"scope -show_name_regexes {typed}")
    completed(typed)


@pytest.mark.parametrize("typed", ["\udcff", r"\x{d800}", "net/\udcff"])
def test_invalid_utf_8_matches_no_name(typed):
    assert completed(f"scope -show_name_regexes {typed}") == []


def test_an_empty_model_offers_no_names():
    nothing = Completer(profile(), COMMANDS)

    assert nothing.complete("scope -show_name_regexes ").candidates == []
    assert nothing.complete("code -account_type_regexes ").candidates == []
    assert nothing.complete("code -show_name_regexes ").candidates == []


# Other options.


def test_a_dialect_is_completed():
    assert "contrib" in shown("scope -dialect c")


def test_a_device_is_completed():
    assert list(shown("scope -device_regexes /job")) == [CPU]


def test_op_names_are_completed_in_a_type_definition():
    assert shown("scope -define_type mine=net/") == shown("graph -show_name_regexes net/")
    assert shown("scope -define_type mine") == {}


def test_memory_offers_its_own_options():
    assert list(shown("memory -m")) == ["-max_depth", "-max_rows"]
    assert list(shown("memory -step ")) == ["-1", "all", "3", "20"]


def test_a_checker_is_offered_only_once():
    assert list(shown("advise -")) == ["-checkers", "-json"]
    assert "OperationChecker" in shown("advise -checkers Oper")
    assert shown("advise -checkers OperationChecker,Oper") == {}


# A completed line always shows something.

SAMPLES = Path(__file__).parent.parent / "samples"
TINY = SAMPLES / "tensorflow" / "mlp_tiny"
MODELS = {
    "graph": [TINY / "graph.pb.gz"],
    "run": [TINY / "graph.pb.gz", TINY / "run_meta_1.gz", TINY / "tfprof_log.gz"],
    "recording": [SAMPLES / "capture"],
}
REGEX_OPTIONS = [name for name, option in VIEW_OPTIONS.items() if option.kind is Kind.REGEXES]


def completions(completer, line, most=6, depth=4):
    """The lines that completing gives: the first and last candidates of each scope."""
    typed, found = completer.complete(line)
    start = line.removesuffix(typed)
    for candidate in [*found[:most], *found[-2:]]:
        yield start + candidate.text
        if depth and candidate.meaning.endswith(" below"):
            yield from completions(completer, f"{start}{candidate.text}/", 2, depth - 1)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("view", ["scope", "graph", "op", "code"])
@pytest.mark.parametrize("before", ["", " -max_depth 3", " -min_float_ops 1 -max_depth 20"])
def test_every_completed_value_gives_an_answer_with_rows(model, view, before):
    loaded = tfprof.load(*MODELS[model])
    completer = Completer(loaded.columns, COMMANDS)
    session = Session(loaded, Options(), Pipe())
    names = [*REGEX_OPTIONS, "select", "order_by", "step"]
    lines = [
        line
        for name in names
        for line in completions(completer, f"{view}{before} -{name} ")
        if view != "code" or loaded.columns.has_code
    ]

    empty = []
    for line in dict.fromkeys(lines):
        call = session.parse(*line.split())
        if len(loaded.view(view, call.view_options())) < 2:
            empty.append(line)

    assert empty == []
    assert lines or (view == "code" and not loaded.columns.has_code)
