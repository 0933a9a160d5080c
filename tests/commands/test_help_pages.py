"""Help pages: complete, the same in both fronts, and at most 80 columns wide."""

from __future__ import annotations

import io
import re
import shlex

import pytest

from build import op, profile, run
from tfprof.api import Profile
from tfprof.cli import main
from tfprof.cli.command_line import parse
from tfprof.commands.command import Place
from tfprof.commands.pages import example_lines
from tfprof.commands.table import COMMANDS, available
from tfprof.metrics import METRICS
from tfprof.options import GENERAL_OPTIONS, GROUPS, INPUT_OPTIONS, VIEW_OPTIONS, Options
from tfprof.outputs.registry import FILE_OUTPUTS, PLAIN_OUTPUTS
from tfprof.shell import loop
from tfprof.shell.screen import Pipe
from tfprof.shell.session import Session

ON_COMMAND_LINE = available(Place.COMMAND_LINE)
IN_SHELL = available(Place.SHELL)
OPTIONS = {
    name: option
    for row in ON_COMMAND_LINE.values()
    for name, option in row.options_in(Place.COMMAND_LINE).items()
}
TOPICS = [*ON_COMMAND_LINE, *OPTIONS, *GENERAL_OPTIONS, *(metric.key for metric in METRICS)]
PROFILE = Profile(profile(op("net/w", "VariableV2", shape=(3, 4)), run("net/w", 5)))


@pytest.fixture
def shown(capsys):
    """The output of a successful command line."""

    def answer(*words):
        assert main(words) == 0
        captured = capsys.readouterr()
        assert captured.err == ""
        return captured.out

    return answer


@pytest.fixture
def in_shell(capsys):
    """The output of `help` in the shell."""

    def answer(topic=""):
        assert loop.serve(PROFILE, Options(), io.StringIO(f"help {topic}\n")) == 0
        captured = capsys.readouterr()
        assert captured.err == ""
        return captured.out

    return answer


@pytest.mark.parametrize("topic", ["", *TOPICS])
def test_no_line_of_help_is_wider_than_a_terminal(topic, shown):
    lines = shown("help", topic).splitlines() if topic else shown("help").splitlines()

    assert [line for line in lines if len(line) > 80] == []
    assert [line for line in lines if line != line.rstrip()] == []


@pytest.mark.parametrize("command", ON_COMMAND_LINE)
def test_help_on_a_command_can_be_requested_in_three_ways(command, shown):
    wanted = shown("help", command)

    assert wanted.startswith(f"Usage: tfprof {command}")
    assert shown(command, "--help") == wanted
    assert shown(command, "-h") == wanted


def test_help_without_a_topic_is_an_overview(shown):
    assert shown() == shown("--help") == shown("help") == shown("-h")


def test_the_overview_lists_every_command_and_input_option(shown):
    overview = shown("--help")

    for name, command in ON_COMMAND_LINE.items():
        assert f"\n  {name:<9} {command.summary}\n" in overview
    for name in INPUT_OPTIONS:
        assert f"\n  --{name} " in overview


@pytest.mark.parametrize("name", COMMANDS)
def test_a_summary_is_a_short_sentence_that_starts_with_a_verb(name):
    summary = COMMANDS[name].summary

    assert summary[0].isupper()
    assert summary[-1] == "."
    assert len(summary) <= 68
    assert summary.split()[0] in VERBS


VERBS = {
    *(
        "Check",
        "Collect",
        "Compare",
        "Describe",
        "Explain",
        "Leave",
        "Open",
        "Query",
        "Reset",
        "Run",
        "Save",
    ),
    *("Set", "Show"),
    *("Suggest", "Write"),
}


@pytest.mark.parametrize("name", VIEW_OPTIONS)
def test_every_view_option_has_a_heading_in_help(name):
    assert VIEW_OPTIONS[name].group in GROUPS


@pytest.mark.parametrize("command", ON_COMMAND_LINE)
def test_help_on_a_command_explains_all_its_options(command, shown):
    page = shown("help", command)

    for option in ON_COMMAND_LINE[command].options_in(Place.COMMAND_LINE).values():
        short = f", -{option.short}" if option.short else ""
        assert f"\n  {option.dashes}{option.name}{short} {option.value}".rstrip() in page
        assert option.help in " ".join(page.split())


@pytest.mark.parametrize("command", IN_SHELL)
def test_help_in_the_shell_explains_all_options_of_a_command(command, in_shell):
    page = in_shell(command)

    assert page.startswith(f"Usage: {command}")
    assert "--" not in page
    for option in IN_SHELL[command].options.values():
        short = f", -{option.short}" if option.short else ""
        assert f"\n  -{option.name}{short} {option.value}".rstrip() in page
        assert option.help in " ".join(page.split())


@pytest.mark.parametrize("command", sorted(ON_COMMAND_LINE.keys() & IN_SHELL.keys()))
def test_both_fronts_explain_a_command_in_the_same_words(command, shown, in_shell):
    summary = f"{COMMANDS[command].summary} {COMMANDS[command].notes}".strip()

    assert summary in " ".join(shown("help", command).split())
    assert summary in " ".join(in_shell(command).split())


@pytest.mark.parametrize("view", ["scope", "graph", "code", "op"])
def test_help_on_a_view_lists_metrics_and_outputs(view, shown):
    lines = shown(view, "--help")

    for metric in METRICS:
        assert re.search(rf"\n  {metric.key}\s", lines)
    for kind in (*PLAIN_OUTPUTS, *(f"{name}:outfile=FILE" for name in FILE_OUTPUTS)):
        assert f"\n  {kind}" in lines


def test_help_on_an_option_shows_its_value_default_and_commands(shown):
    assert shown("help", "max_rows") == (
        "-max_rows ROWS\n"
        "  Show at most this many rows per breakdown, largest first; -1 shows all. [10]\n"
        "  An option of memory.\n"
        "\n"
        "-max_rows ROWS\n"
        "  Show this many rows of the table; -1 shows all. [20]\n"
        "  An option of kernels.\n"
        "\n"
        "-max_rows ROWS\n"
        "  Show this many hosts, the slowest first; -1 shows all. [20]\n"
        "  An option of ranks.\n"
    )


def test_help_on_an_option_with_several_meanings_explains_each(shown):
    page = shown("help", "step")

    assert page.count("-step STEP|all\n") == 4
    assert "  An option of scope, graph, code, op, layers, diff, shell.\n" in page
    assert "  An option of memory.\n" in page
    assert "  An option of timeline.\n" in page


@pytest.mark.parametrize("word", ["select", "-select", "--select"])
def test_help_on_an_option_accepts_its_dashes(word, shown):
    assert shown("help", word).startswith(
        "-select METRIC,…\n  Show these metrics for each row; auto: time, or without"
    )


def test_help_on_an_option_accepts_its_short_name(shown):
    assert shown("help", "-o") == shown("help", "outfile")


def test_help_on_a_general_option_shows_that_every_command_takes_it(shown):
    assert shown("help", "version") == (
        "--version\n  Print the version.\n  An option of every command.\n"
    )


def test_help_in_the_shell_explains_options_for_input_files(in_shell):
    assert in_shell("checkpoint_path") == (
        "--checkpoint_path FILE\n"
        "  Checkpoint: saved variables and their values.\n"
        "  Available only on the command line, when starting the shell.\n"
    )


def test_help_on_a_metric_shows_what_it_requires(shown):
    assert shown("help", "peak_bytes") == (
        "-select peak_bytes\n"
        "  The most memory the op held at one time.\n"
        "  Requires RunMetadata (--run_meta_path) or XSpace.\n"
    )


def test_help_on_an_unknown_word_suggests_the_nearest(capsys):
    status = main(["help", "selct"])

    assert status == 2
    assert capsys.readouterr() == ("", "tfprof: No help on `selct`. Did you mean `select`?\n")


# Examples.


@pytest.mark.parametrize("command", ON_COMMAND_LINE)
def test_the_examples_for_the_command_line_are_valid(command):
    for line in example_lines(COMMANDS[command], Place.COMMAND_LINE):
        call = parse(shlex.split(line.partition(" < ")[0])[1:])

        assert call.command.name == command
        call.command.require(call.given, Place.COMMAND_LINE)


@pytest.mark.parametrize("command", IN_SHELL)
def test_the_examples_for_the_shell_are_valid(command):
    for line in example_lines(COMMANDS[command], Place.SHELL):
        assert Session(PROFILE, Options(), Pipe()).parse(*line.split()).command.name == command
