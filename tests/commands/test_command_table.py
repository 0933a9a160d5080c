"""The command table: a new row is all that a new command needs, as CONTRIBUTING.md says."""

from __future__ import annotations

import importlib.util
import inspect
import io
from pathlib import Path

import pytest

import tfprof
from tfprof.cli import main
from tfprof.commands.command import Command, Place, Words
from tfprof.commands.table import COMMANDS, available
from tfprof.options import Kind, Option, Options
from tfprof.shell import loop
from tfprof.shell.completion import Completer

ROOT = Path(__file__).parent.parent.parent
BOTH = {Place.COMMAND_LINE: Words.FILES, Place.SHELL: Words.NOTHING}


@pytest.fixture
def generated():
    """The function that generates the reference page of the commands."""
    spec = importlib.util.spec_from_file_location("generate_docs", ROOT / "docs" / "generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.commands_page


# The recipe.


def greet(call):
    """The function of a new command, which works in both fronts."""
    ops = len(call.load().columns.ops)
    call.show([f"{call.value('greeting')}, {ops} ops"] * call.value("times") + ["\n"])
    call.say("that is all.")


@pytest.fixture
def _greeting(monkeypatch):
    """Adds a row to the table, and nothing else."""
    row = Command(
        name="greet",
        summary="Show a greeting.",
        run=greet,
        takes=BOTH,
        inputs=COMMANDS["scope"].inputs,
        options={
            "greeting": Option("greeting", Kind.SIGNATURE, "hello", "Say this.", "Words", "WORD"),
            "times": Option("times", Kind.NUMBER, 1, "Say it this many times."),
        },
        notes="It is friendly.",
        examples=(("graph.pb", "-greeting welcome"),),
    )
    monkeypatch.setitem(COMMANDS, "greet", row)


@pytest.mark.usefixtures("_greeting", "files")
def test_a_new_row_is_a_command_on_the_command_line(capsys):
    assert main(["greet", "graph.pb", "--greeting=welcome"]) == 0
    assert capsys.readouterr() == ("welcome, 5 ops\n", "tfprof: that is all.\n")

    assert main(["greet"]) == 2
    assert main(["greet", "graph.pb", "-step", "1"]) == 2
    assert main(["gret", "graph.pb"]) == 2
    errors = capsys.readouterr().err.splitlines()
    assert errors[0] == "tfprof: No input files: list them after the command or use --graph_path."
    assert errors[1].startswith(
        "tfprof: `greet` has no option `step`. It is an option of scope, graph,"
    )
    assert errors[2] == "tfprof: Unknown command or file `gret`. Did you mean `greet`?"


@pytest.mark.usefixtures("_greeting", "files")
def test_a_new_row_is_a_command_in_the_shell(capsys):
    lines = io.StringIO("greet -times 2\ngreet --times 2\nscope -times 2\n")

    assert loop.serve(tfprof.load("graph.pb"), Options(), lines) == 1
    assert capsys.readouterr() == (
        "hello, 5 opshello, 5 ops\n",
        (
            "tfprof: that is all.\n"
            "tfprof: In the shell, write -times VALUE, not `--times`.\n"
            "tfprof: `scope` has no option `times`. It is an option of greet.\n"
        ),
    )


@pytest.mark.usefixtures("_greeting", "files")
def test_a_new_row_appears_in_help(capsys):
    main(["--help"])
    assert "\n  greet     Show a greeting.\n" in capsys.readouterr().out

    main(["greet", "--help"])
    page = capsys.readouterr().out
    assert page.startswith("Usage: tfprof greet FILES… [--greeting WORD] [--times NUMBER]\n")
    assert "\nShow a greeting. It is friendly.\n" in page
    assert "\nWords:\n  --greeting WORD                 Say this. [hello]\n" in page
    assert "\nExample:\n  tfprof greet graph.pb -greeting welcome\n" in page

    main(["help", "greeting"])
    assert capsys.readouterr().out.endswith("  Say this. [hello]\n  An option of greet.\n")

    loop.serve(tfprof.load("graph.pb"), Options(), io.StringIO("help\nhelp greet\n"))
    shown = capsys.readouterr().out
    assert "\n  greet     Show a greeting.\n" in shown
    assert "\nUsage: greet [-greeting WORD] [-times NUMBER]\n" in shown
    assert "\nExample:\n  greet -greeting welcome\n" in shown


@pytest.mark.usefixtures("_greeting", "files")
def test_a_new_row_is_offered_by_completion():
    completer = Completer(tfprof.load("graph.pb").columns, available(Place.SHELL))

    assert [found.text for found in completer.complete("gre").candidates] == ["greet "]
    offered = [found.text for found in completer.complete("greet -").candidates]
    assert offered == ["-greeting ", "-times "]


@pytest.mark.usefixtures("_greeting")
def test_a_new_row_appears_in_the_generated_reference(generated):
    page = generated()

    assert "| [`greet`](#greet) | command line, shell | Show a greeting. |\n" in page
    assert "\n## greet\n\nShow a greeting.\nIt is friendly.\n" in page
    assert "| `greeting` | WORD | `hello` | Say this. |\n" in page


@pytest.mark.parametrize("place", Place)
def test_a_row_can_be_limited_to_one_front(place, monkeypatch, capsys):
    only = Command(name="greet", summary="Show a greeting.", run=greet, takes={place: BOTH[place]})
    monkeypatch.setitem(COMMANDS, "greet", only)

    assert [other for other in Place if "greet" in available(other)] == [place]
    main(["--help"])
    assert ("\n  greet " in capsys.readouterr().out) == (place is Place.COMMAND_LINE)


# The table.


@pytest.mark.parametrize("name", COMMANDS)
def test_the_function_of_a_row_exists(name):
    assert inspect.signature(COMMANDS[name].run.find()).parameters.keys() <= {"call", "_"}


@pytest.mark.parametrize("place", Place)
def test_an_option_has_the_same_kind_and_short_name_in_every_command(place):
    found = {}
    for row in available(place).values():
        for name, option in row.options_in(place).items():
            found.setdefault(name, set()).add((option.kind, option.short))

    assert {name: kinds for name, kinds in found.items() if len(kinds) > 1} == {}


def test_all_other_commands_are_available_in_both_fronts():
    here, there = available(Place.COMMAND_LINE).keys(), available(Place.SHELL).keys()

    assert here - there == {"check", "collect", "diff", "profile", "run", "shell", "ui"}
    assert there - here == {"set", "reset", "quit", "exit"}


def test_usage_shows_required_options():
    assert {name: row.required for name, row in COMMANDS.items() if row.required} == {
        "collect": ("outfile",),
        "report": ("outfile",),
        "save": ("outfile",),
        "timeline": ("outfile",),
    }
    assert COMMANDS["save"].usage(Place.COMMAND_LINE) == (
        "tfprof save FILES… --outfile FILE [--format FORMAT]"
    )
    assert COMMANDS["save"].usage(Place.SHELL) == "save FILE [-format FORMAT]"
