"""Help: complete, and fit for a terminal of 80 columns."""

from __future__ import annotations

import pytest

from tfprof import help_texts
from tfprof.cli import main
from tfprof.cli.commands import COMMANDS, FLAG_OPTIONS
from tfprof.metrics import METRICS
from tfprof.options import INPUT_OPTIONS, MEMORY_OPTIONS, VIEW_OPTIONS
from tfprof.outputs.registry import FILE_OUTPUTS, PLAIN_OUTPUTS

OPTIONS = VIEW_OPTIONS | MEMORY_OPTIONS | INPUT_OPTIONS | FLAG_OPTIONS
TOPICS = [*COMMANDS, *OPTIONS, *(metric.key for metric in METRICS)]


@pytest.fixture
def shown(capsys):
    """What a command line prints that goes well."""

    def answer(*words):
        assert main(words) == 0
        captured = capsys.readouterr()
        assert captured.err == ""
        return captured.out

    return answer


@pytest.mark.parametrize("topic", ["", *TOPICS])
def test_no_line_of_help_is_wider_than_a_terminal(topic, shown):
    lines = shown("help", topic).splitlines() if topic else shown("help").splitlines()

    assert [line for line in lines if len(line) > 80] == []
    assert [line for line in lines if line != line.rstrip()] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_help_on_a_command_can_be_asked_for_in_three_ways(command, shown):
    wanted = shown("help", command)

    assert wanted.startswith(f"tfprof {command}: ")
    assert shown(command, "--help") == wanted
    assert shown(command, "-h") == wanted


def test_without_words_or_on_nothing_there_is_an_overview(shown):
    assert shown() == shown("--help") == shown("help") == shown("-h")


def test_the_overview_names_every_command_and_kind_of_file(shown):
    overview = shown("--help")

    for name in COMMANDS:
        assert f"\n  {name} " in overview
    for name in INPUT_OPTIONS:
        assert f"\n  --{name} " in overview


def test_every_option_of_a_view_is_in_one_group():
    grouped = [name for names in help_texts.GROUPS.values() for name in names]

    assert sorted(grouped) == sorted(VIEW_OPTIONS)


@pytest.mark.parametrize("view", ["scope", "graph", "code", "op"])
def test_help_on_a_view_has_every_option_with_the_kind_of_its_value(view, shown):
    lines = shown(view, "--help")

    for option in VIEW_OPTIONS.values():
        assert f"\n  -{option.name} {option.kind}" in lines
    for metric in METRICS:
        assert f"\n  {metric.key} " in lines
    for kind in (*PLAIN_OUTPUTS, *(f"{name}:outfile=FILE" for name in FILE_OUTPUTS)):
        assert f"\n  {kind}" in lines


def test_help_on_an_option_says_its_kind_and_default(shown):
    assert shown("help", "max_depth") == (
        "-max_depth NUMBER\n"
        "  Show rows at most this deep; the root is at depth 1, op rows count from 0.\n"
        "  [10]\n"
    )


@pytest.mark.parametrize("word", ["select", "-select", "--select"])
def test_help_on_an_option_may_be_asked_for_with_its_dashes(word, shown):
    assert shown("help", word).startswith("-select METRIC,…\n  What to show of each row. [micros]")


def test_help_on_a_metric_says_what_it_needs(shown):
    assert shown("help", "peak_bytes") == (
        "-select peak_bytes\n"
        "  The most memory the op held at one time.\n"
        "  It requires RunMetadata (--run_meta_path) or XSpace.\n"
    )


def test_help_on_an_unknown_word_is_answered_with_the_nearest(capsys):
    status = main(["help", "selct"])

    assert status == 2
    assert capsys.readouterr() == ("", "tfprof: No help on `selct`. Did you mean `select`?\n")
