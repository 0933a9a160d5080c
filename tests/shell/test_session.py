"""The shell: many questions to one profile, line by line."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from build import op, profile, run
from tfprof.api import LoadedProfile
from tfprof.options import Options
from tfprof.shell import session

PROFILE = LoadedProfile(
    profile(
        op("net/w", "VariableV2", shape=(3, 4), code=["m.py:1:f"]),
        op("net/mul", "MatMul", inputs=["net/w"], code=["m.py:2:f"]),
        run("net/mul", 5),
    )
)


@pytest.fixture
def shell(capsys):
    """Feeds lines to a shell; gives the status, what was printed and what was said beside it."""

    def serve(*lines, options=None):
        status = session.serve(
            PROFILE, options or Options(), io.StringIO("".join(f"{line}\n" for line in lines))
        )
        shown = capsys.readouterr()
        return status, shown.out, shown.err

    return serve


def report(kind, **options):
    return getattr(PROFILE, kind)(**options).report


@pytest.mark.parametrize("kind", ["scope", "graph", "code", "op"])
def test_a_line_is_a_view(kind, shell):
    assert shell(kind) == (0, report(kind), "")


def test_each_line_is_answered_in_turn(shell):
    status, out, err = shell("op", "scope -max_depth 1")

    assert (status, err) == (0, "")
    assert out == report("op") + report("scope", max_depth=1)


def test_options_of_a_line_last_for_that_line(shell):
    _, out, _ = shell("scope -select params", "scope")

    assert out == report("scope", select="params") + report("scope")


def test_options_that_are_set_stay(shell):
    _, out, _ = shell("set -select params -max_depth 2", "scope", "scope -max_depth 1", "scope")

    assert out == (
        report("scope", select="params", max_depth=2)
        + report("scope", select="params", max_depth=1)
        + report("scope", select="params", max_depth=2)
    )


def test_a_session_begins_with_the_options_it_is_given(shell):
    _, out, _ = shell("scope", options=Options(select=("params",)))

    assert out == report("scope", select="params")


def test_the_later_word_on_an_option_counts(shell):
    _, out, _ = shell("scope -max_depth 1 -select params -max_depth 2")

    assert out == report("scope", select="params", max_depth=2)


def test_an_empty_line_shows_the_options(shell):
    status, out, err = shell("set -trim_name_regexes a.*,b -account_displayed_op_only", "")

    assert (status, err) == (0, "")
    assert out == (
        "-max_depth                  10\n"
        "-min_bytes                  0\n"
        "-min_peak_bytes             0\n"
        "-min_residual_bytes         0\n"
        "-min_output_bytes           0\n"
        "-min_micros                 0\n"
        "-min_accelerator_micros     0\n"
        "-min_cpu_micros             0\n"
        "-min_params                 0\n"
        "-min_float_ops              0\n"
        "-min_occurrence             0\n"
        "-step                       -1\n"
        "-order_by                   name\n"
        "-account_type_regexes       .*\n"
        "-start_name_regexes         .*\n"
        "-trim_name_regexes          a.*,b\n"
        "-show_name_regexes          .*\n"
        "-hide_name_regexes          \n"
        "-account_displayed_op_only  true\n"
        "-select                     micros\n"
        "-output                     stdout:\n"
    )


@pytest.mark.parametrize("blank", ["", " ", "  \t "])
def test_a_blank_line_is_empty(blank, shell):
    assert shell(blank) == shell("")


def test_an_output_that_is_set_is_shown_with_its_file(shell):
    _, out, _ = shell("set -output json:outfile=x.json", "")

    assert out.endswith("-output                     json:outfile=x.json\n")


def test_a_mistake_is_reported_and_the_rest_still_answered(shell):
    status, out, err = shell("scop", "op")

    assert (status, out) == (1, report("op"))
    assert err == "tfprof: No command `scop`. Did you mean `scope`?\n"


def test_a_mistake_leaves_the_options_as_they_are(shell):
    status, out, _ = shell("set -max_depth 1 -select nonsense", "scope")

    assert (status, out) == (1, report("scope"))


def test_what_an_answer_lacks_is_said_beside_it(shell):
    status, out, err = shell("scope -select tensor_value")

    assert (status, out) == (0, report("scope", select="tensor_value"))
    assert err == (
        "tfprof: `tensor_value` needs --checkpoint_path, which was not given: "
        "all is zero or absent.\n"
    )


@pytest.mark.parametrize("word", ["quit", "exit"])
def test_the_session_ends_at(word, shell):
    assert shell("op", word, "scope") == (0, report("op"), "")


def test_quitting_after_a_mistake_is_a_failure_too(shell):
    assert shell("nonsense", "quit")[0] == 1


def test_no_line_at_all_is_no_failure(shell):
    assert shell() == (0, "", "")


def test_the_last_line_needs_no_end(capsys):
    status = session.serve(PROFILE, Options(), io.StringIO("op"))

    assert status == 0
    assert capsys.readouterr().out == report("op")


@pytest.mark.parametrize(
    "line",
    [
        "   scope   -max_depth    2  ",
        "\tscope -max_depth\t2",
        "scope -max_depth 2\r",
    ],
)
def test_any_space_separates_words(line, shell):
    assert shell(line) == (0, report("scope", max_depth=2), "")


def test_a_number_may_be_negative(shell):
    assert shell("scope -max_depth -1") == (0, report("scope", max_depth=-1), "")


@pytest.mark.parametrize(
    ("words", "is_on"),
    [
        ("-account_displayed_op_only", True),
        ("-account_displayed_op_only -max_depth 10", True),
        ("-account_displayed_op_only true", True),
        ("-account_displayed_op_only YES", True),
        ("-account_displayed_op_only 0 -max_depth 10", False),
        ("-account_displayed_op_only f", False),
    ],
)
def test_a_switch_is_on_unless_the_next_word_says_no(words, is_on, shell):
    wanted = report(
        "scope", select="occurrence", hide_name_regexes=["net"], account_displayed_op_only=is_on
    )

    _, out, _ = shell(f"scope -select occurrence -hide_name_regexes net {words}")

    assert out == wanted


@pytest.mark.parametrize("quote", ['"', "'"])
def test_a_list_may_stand_in_quotes(quote, shell):
    _, out, _ = shell(f"scope -select {quote}params,micros{quote}")

    assert out == report("scope", select="params,micros")


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("scope -account_displayed_op_only maybe", "is true or false, not `maybe`."),
        ("scope --max_depth 3", "`--max_depth` is spelled -max_depth VALUE in the shell."),
        ("scope -max_depth=3", "`-max_depth=3` is spelled -max_depth 3 in the shell."),
        ("scope --max_depth=3", "`--max_depth=3` is spelled -max_depth 3 in the shell."),
        ("scope -max_dept 3", "No option `max_dept`. Did you mean `max_depth`?"),
        ("scope -max_depth", "`-max_depth` needs a value: -max_depth NUMBER."),
        ("scope -max_depth 1.5", "`-max_depth` takes a whole number, not `1.5`."),
        ("scope -select micro", "`select` cannot be `micro`. Did you mean `micros`?"),
        ("scope params", "`params` belongs to no option. Did you mean -select params?"),
        ("scope max_depth 3", "`max_depth` belongs to no option. Did you mean -max_depth?"),
        ("scope -select params, micros", "`micros` belongs to no option."),
        ("scope nonsense", "Options begin with a dash and lists have no spaces"),
        ("scope -output nowhere", "No output `nowhere`."),
        ("set -output file", "Output `file` needs a file: file:outfile=PATH."),
        ("scope -step 3", "No step 3. Recorded: 0"),
        ("scope -show_name_regexes (", "pattern `(`, character 1"),
        ("scope -output file:outfile=gone/x", "there is no folder gone; make it first."),
        ("???", "No command `???`. There is: code, exit, graph, help, op, quit, scope, set."),
    ],
)
def test_a_mistake_is_one_line_that_says_what_to_do(line, complaint, shell):
    status, out, err = shell(line)

    assert (status, out) == (1, "")
    assert err.startswith("tfprof: ")
    assert err.count("\n") == 1
    assert complaint in err


def test_an_answer_may_go_to_a_file(shell, tmp_path):
    path = tmp_path / "report.txt"

    status, out, err = shell(f"set -output file:outfile={path}", "op")

    assert (status, out, err) == (0, "", f"tfprof: wrote {path}\n")
    assert path.read_text() == report("op")


def test_an_answer_may_go_nowhere(shell):
    assert shell("op -output none") == (0, "", "")


def test_help_names_every_command_and_option(shell):
    status, out, _ = shell("help")

    assert status == 0
    assert "Commands: scope, graph, code, op, set, help, quit, exit" in out
    assert "-account_displayed_op_only" in out


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_sees_a_prompt_and_its_own_line_at_the_end(capsys):
    status = session.serve(PROFILE, Options(), Terminal("op\n"))

    assert status == 0
    assert capsys.readouterr().out == f"tfprof> {report('op')}tfprof> \n"


def test_a_file_is_not_left_behind_by_a_mistake(shell, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    shell("scope -output json:outfile=x.json -step 3")

    assert not Path("x.json").exists()
