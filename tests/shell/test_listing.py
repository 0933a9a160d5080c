"""The list of current options."""

from __future__ import annotations

import pytest

from tfprof.dialects import DIALECTS
from tfprof.options import Options
from tfprof.shell import listing
from tfprof.shell.screen import Terminal


def marked(**options):
    return list(listing.marked(Options.of(**options), ("<b>", "</b>")))


def test_an_option_at_its_default_is_not_marked():
    assert marked()[0] == "  -max_depth                  10\n"
    assert not [line for line in marked() if "<b>" in line]


def test_a_changed_option_is_marked_and_shows_its_default():
    lines = marked(select="params", account_displayed_op_only=True)

    assert [line for line in lines if "<b>" in line] == [
        "<b>* -account_displayed_op_only  true</b>  [false]\n",
        "<b>* -select                     params</b>  [auto]\n",
    ]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_option_of_the_dialect_is_listed(dialect):
    names = DIALECTS[dialect].options

    lines = list(listing.plain(Options.of(dialect=dialect)))

    shown = [line.split()[0] for line in "".join(lines).splitlines() if line[0] == "-"]
    assert shown[: len(names)] == [f"-{name}" for name in names]


def test_an_option_of_another_dialect_is_listed_if_set():
    assert not [line for line in marked() if "-viz" in line]
    assert marked(viz=True)[-1] == "<b>* -viz                        true</b>  [false]\n"


def test_the_defaults_of_a_dialect_are_not_marked():
    lines = marked(dialect="contrib")

    assert lines[0] == "  -max_depth                  4\n"
    assert [line for line in lines if "<b>" in line] == [
        "<b>* -dialect                    contrib</b>  [core]\n"
    ]


@pytest.mark.parametrize(
    ("environment", "bold"),
    [
        ({"TERM": "xterm"}, ("\x1b[1m", "\x1b[0m")),
        ({"TERM": "xterm", "NO_COLOR": ""}, ("\x1b[1m", "\x1b[0m")),
        ({"TERM": "xterm", "NO_COLOR": "1"}, ("", "")),
        ({"TERM": "dumb"}, ("", "")),
    ],
)
def test_nothing_is_bold_if_colour_is_off(environment, bold, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    assert Terminal().bold == bold
