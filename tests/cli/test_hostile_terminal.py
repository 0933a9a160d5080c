"""A model full of control characters, shown on a real terminal and in a pipe."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

import hostile_model
from command_runs import SECONDS

if sys.platform == "win32":
    pytest.skip("there are no pseudo-terminals on Windows", allow_module_level=True)
pexpect = pytest.importorskip("pexpect", reason="pexpect provides the terminal")

pytestmark = [
    pytest.mark.process,
    # pexpect forks while pytest has threads, which is safe because the child calls exec at once.
    pytest.mark.filterwarnings("ignore:.*forkpty.*:DeprecationWarning"),
]

# What tfprof itself writes: line ends, bold text, and a progress line that is erased.
OWN = re.compile(r"\r*\n|\t|\x1b\[1m[^\x1b\n]*\x1b\[0m|\r\x1b\[K")
QUESTIONS = {
    "scope": "-select params,micros,device,op_types,input_shapes",
    "graph": "-select params,micros,bytes",
    "op": "-select params,micros,device,op_types",
    "code": "-select params,micros",
    "layers": "",
    "advise": "",
    "flops": "",
    "memory": "",
    "steps": "",
    "info": "",
}
NAMELESS = ("advise", "steps", "info")  # their answers contain no name with control characters


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    return [str(path) for path in hostile_model.write(folder)]


@pytest.fixture
def spawn():
    """Starts tfprof on terminals of their own, which are closed after the test."""
    started = []

    def start(*words, program=("-m", "tfprof"), **environment):
        inherited = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
        terminal = pexpect.spawn(
            sys.executable,
            [*program, *words],
            env=inherited | {"TERM": "xterm", "PAGER": "cat"} | environment,
            dimensions=(50, 200),
            timeout=SECONDS,
            encoding="utf-8",
        )
        started.append(terminal)
        return terminal

    yield start
    for terminal in started:
        terminal.close(force=True)


def unsafe(shown):
    """The characters of a screen that could affect the terminal and are not tfprof's own."""
    return sorted({char for char in OWN.sub("", shown) if not char.isprintable()})


@pytest.mark.parametrize("command", QUESTIONS)
def test_no_answer_contains_control_characters_of_the_model(command, hostile, spawn):
    terminal = spawn(command, *hostile, *QUESTIONS[command].split())
    terminal.expect(pexpect.EOF)
    terminal.close()

    assert terminal.exitstatus == 0
    assert unsafe(terminal.before) == []
    assert (r"\x1b[31m" in terminal.before) == (command not in NAMELESS)


def test_headings_of_advice_stay_bold(hostile, spawn):
    terminal = spawn("advise", *hostile)
    terminal.expect(pexpect.EOF)

    assert "\x1b[1mOperationChecker:\x1b[0m" in terminal.before


def test_an_error_about_a_name_contains_no_control_characters(hostile, spawn):
    terminal = spawn("scope", *hostile, "-start_name_regexes", "\x1b[31m\x07\u202e(")
    terminal.expect(pexpect.EOF)
    terminal.close()

    assert terminal.exitstatus == 2
    assert unsafe(terminal.before) == []


def test_a_pipe_gets_the_names_as_they_are(hostile):
    words = [sys.executable, "-m", "tfprof", "scope", *hostile, "-select", "params"]
    piped = subprocess.run(words, capture_output=True, check=True)

    assert hostile_model.TEXTS["controls"].encode() in piped.stdout
    assert hostile_model.TEXTS["right to left"].encode() in piped.stdout


def test_a_program_that_prints_an_answer_to_a_terminal_cannot_be_affected(hostile, spawn):
    code = "import sys, tfprof; tfprof.load(*sys.argv[1:]).scope(select='params').write('stdout')"
    terminal = spawn(*hostile, program=("-c", code))
    terminal.expect(pexpect.EOF)

    assert unsafe(terminal.before) == []
    assert r"\x1b[31m" in terminal.before


WITHOUT_TOOLKIT = (
    "import sys; sys.modules['prompt_toolkit'] = None; "
    "from tfprof.cli import entry_point; entry_point()"
)


@pytest.mark.parametrize("program", [("-m", "tfprof"), ("-c", WITHOUT_TOOLKIT)])
def test_completions_contain_no_control_characters_of_the_model(program, hostile, spawn, tmp_path):
    pytest.importorskip("prompt_toolkit", reason="prompt_toolkit provides the prompt")
    terminal = spawn(
        *hostile, program=program, XDG_STATE_HOME=str(tmp_path), PROMPT_TOOLKIT_NO_CPR="1"
    )
    terminal.expect("tfprof>")
    terminal.send("scope -show_name_regexes net/bell")
    terminal.expect_exact("net/bell")
    terminal.send("\t")
    terminal.expect_exact(r"\x{85}")  # the end of the name
    shown = terminal.before

    assert r"escape\x{1b}" in shown
    assert "\x1b[31m" not in shown
    assert "\x07" not in shown
