"""The shell as somebody meets it: in a terminal, with keys."""

from __future__ import annotations

import os
import re
import signal
import sys
from pathlib import Path

import pytest

import tfprof

if sys.platform == "win32":
    pytest.skip("there are no pseudo-terminals on Windows", allow_module_level=True)
pexpect = pytest.importorskip("pexpect", reason="pexpect plays the terminal")
pytest.importorskip("prompt_toolkit", reason="the shell has its prompt from prompt_toolkit")

pytestmark = [
    pytest.mark.usefixtures("files"),
    # It forks while pytest has threads; what the child runs is a new program at once.
    pytest.mark.filterwarnings("ignore:.*forkpty.*:DeprecationWarning"),
]

FILES = ("graph.pb", "run_meta_0", "tfprof_log")
PATIENCE_SECONDS = 120
UP, HOME, DELETE_WORD, TAB, CTRL_C, CTRL_D = "\x1b[A", "\x01", "\x1bd", "\t", "\x03", "\x04"

# A terminal is told to mark what is pasted while a prompt waits, and to stop when it is sent.
WAITING, SENT = "\x1b[?2004h", "\x1b[?2004l"

WITHOUT_TOOLKIT = (
    "import sys; sys.modules['prompt_toolkit'] = None; "
    "from tfprof.cli import entry_point; entry_point()"
)

WITH_A_SLOW_CHECKER = (
    "import time; from tfprof.advisor import operations; "
    "operations.check = lambda profile: time.sleep(3600); "
    "from tfprof.cli import entry_point; entry_point()"
)


def _heed_ctrl_c():
    """Take Ctrl-C for what it is, also where the tests were started with it ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Shell:
    """A shell in a terminal of its own."""

    def __init__(self, *words, rows=50, program=("-m", "tfprof"), **surroundings):
        inherited = {
            name: value
            for name, value in os.environ.items()
            if name not in ("COLUMNS", "LINES", "NO_COLOR", "LESS", "INPUTRC")
        }
        self.terminal = pexpect.spawn(
            sys.executable,
            [*program, *words],
            env=inherited
            | {
                "TERM": "xterm",
                "PROMPT_TOOLKIT_NO_CPR": "1",  # nobody here would tell where the cursor is
                "HOME": str(Path.cwd().parent),
                # Of this test alone: a suggestion from the history of another would look like
                # a completion.
                "XDG_STATE_HOME": f"{Path.cwd()}_state",
                "PAGER": "cat",
            }
            | surroundings,
            dimensions=(rows, 100),
            preexec_fn=_heed_ctrl_c,
            timeout=PATIENCE_SECONDS,
            encoding="utf-8",
        )

    def wait(self):
        """Wait for the prompt; what was shown before it."""
        self.terminal.expect_exact(WAITING)
        return self.terminal.before

    def press(self, keys):
        self.terminal.send(keys)

    def see(self, text):
        self.terminal.expect_exact(text)

    def press_until(self, keys, text):
        """Press keys, again and again if need be, until something shows."""
        for _ in range(PATIENCE_SECONDS // 5):
            self.press(keys)
            if self.terminal.expect_exact([text, pexpect.TIMEOUT], timeout=5) == 0:
                return
        pytest.fail(f"{text} does not show")

    def ask(self, line):
        """Send a line, and give what was shown for it."""
        self.press(f"{line}\r")
        return self.answer()

    def answer(self):
        """What is shown between the line that was sent and the next prompt."""
        self.see(SENT)
        return re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", self.wait()).replace("\r\n", "\n")

    def leave(self):
        """The exit status, once the terminal is free again."""
        self.terminal.expect(pexpect.EOF)
        self.terminal.close()
        return self.terminal.exitstatus


@pytest.fixture
def start():
    """Starts shells, and sees to it that none is left."""
    started = []

    def open_shell(*words, **others):
        started.append(Shell(*(words or FILES), **others))
        return started[-1]

    yield open_shell
    for shell in started:
        shell.terminal.close(force=True)


@pytest.fixture
def shell(start):
    """A shell that waits for its first line."""
    shell = start()
    shell.wait()
    return shell


@pytest.fixture
def script(tmp_path_factory):
    """Writes a small program and gives its path."""

    def write(text):
        path = tmp_path_factory.mktemp("programs") / "script"
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return str(path)

    return write


def report(kind, **options):
    return getattr(tfprof.load(*FILES), kind)(**options).report


def test_it_says_what_it_has_read_and_how_to_go_on(start):
    greeting = start().wait()

    assert "5 ops, 1 recorded step. Tab completes, `help` explains, Ctrl-D leaves." in greeting


def test_a_line_is_answered(shell):
    assert report("op", select="params") in shell.ask("op -select params")


def test_ctrl_d_leaves(shell):
    shell.press(CTRL_D)

    assert shell.leave() == 0


def test_quit_leaves_and_a_mistake_before_is_no_failure(shell):
    shell.ask("nonsense")
    shell.press(CTRL_C)
    shell.wait()
    shell.press("quit\r")

    assert shell.leave() == 0


def test_tab_completes_commands_options_and_metrics(shell):
    for keys, completed in (("sco", "pe"), ("-sel", "ect"), ("para", "ms")):
        shell.press(keys)
        shell.see(keys)
        shell.press(TAB)
        shell.see(completed)
    shell.press("\r")

    assert report("scope", select="params") in shell.answer()


def test_tab_shows_a_menu_from_which_enter_takes_what_is_chosen(shell):
    shell.press("op -hide_name_regexes Ma")
    shell.see("Ma")
    shell.press(TAB)
    shell.see("tMul")
    shell.press(" -order_by p")
    shell.see("_by p")
    shell.press(TAB)
    shell.see("params")  # in the menu
    shell.press(TAB)
    shell.see("peak_bytes")  # chosen, and so in the line
    shell.press("\r\r")

    assert "MatMul" not in shell.answer()


def test_tab_completes_names_of_the_model(shell):
    shell.press("graph -start_name_regexes ne")
    shell.see("ne")
    shell.press(TAB)
    shell.see("t/")
    shell.press("m")
    shell.see("m")
    shell.press(TAB)
    shell.see("ul")
    shell.press("\r")

    assert report("graph", start_name_regexes="net/mul") in shell.answer()


def test_lines_are_remembered_from_one_session_to_the_next(start, files):
    before = set(files.iterdir())
    first = start()
    first.wait()
    first.ask("op -select params")
    first.press(CTRL_D)
    assert first.leave() == 0

    second = start()
    second.wait()
    second.press_until(UP, "op -select params")  # they are read while the prompt waits
    second.press("\r")

    assert report("op", select="params") in second.answer()
    assert set(files.iterdir()) == before


def test_without_a_place_for_its_history_it_works_as_well(start, files):
    (files / "no_folder").touch()
    shell = start(XDG_STATE_HOME=str(files / "no_folder"))
    shell.wait()

    assert report("op") in shell.ask("op")
    assert report("op") in shell.ask("op")


def test_a_line_with_a_mistake_is_kept_for_editing(shell):
    said = shell.ask("scop -select params")
    assert said == "tfprof: No command `scop`. Did you mean `scope`?\n"

    shell.press(f"{HOME}{DELETE_WORD}scope\r")

    assert report("scope", select="params") in shell.answer()


def test_ctrl_c_drops_the_line(shell):
    shell.press("nonsense")
    shell.see("nonsense")
    shell.press(CTRL_C)
    shell.answer()

    assert shell.ask("op") == report("op")


def test_ctrl_c_stops_the_command_and_not_the_shell(start):
    shell = start(program=("-c", WITH_A_SLOW_CHECKER))
    shell.wait()

    shell.press("advise\r")
    shell.see(SENT)
    shell.press_until(CTRL_C, "tfprof:")  # the terminal may still be on its way from the prompt
    shell.see(" stopped.\r\n")
    shell.wait()

    assert shell.ask("op") == report("op")


def test_an_answer_that_does_not_fit_is_paged(start, script):
    shell = start(rows=10, PAGER=script("echo paged; cat"))
    shell.wait()

    assert shell.ask("op -select params").startswith("paged\n\nDoc:\n")
    assert shell.ask("help max_depth").startswith("-max_depth NUMBER\n")


def test_the_size_of_the_terminal_is_that_of_now(start, script):
    shell = start(rows=10, PAGER=script("echo paged; cat"))
    shell.wait()
    assert "paged" in shell.ask("op -select params")

    shell.terminal.setwinsize(50, 100)
    shell.press("op -select params\r")

    assert shell.terminal.expect_exact(["paged", "\r\nDoc:\r\n"]) == 1


def test_a_pager_may_be_left_early(start, script):
    shell = start(rows=10, PAGER=script("head -2"))
    shell.wait()

    assert shell.ask("op -select params") == "\nDoc:\n"
    assert shell.ask("op -select params") == "\nDoc:\n"


def test_ctrl_c_in_the_pager_is_for_the_pager(start, script):
    asks_first = "echo reading; until read key < /dev/tty; do :; done; cat"
    shell = start(rows=10, PAGER=script(f"trap 'echo interrupted' INT; {asks_first}"))
    shell.wait()
    shell.press("op -select params\r")
    shell.see("reading")
    shell.press(CTRL_C)
    shell.see("interrupted")
    shell.press("\r")

    rest = shell.wait().replace("\r\n", "\n")
    assert report("op", select="params") in rest
    assert "stopped" not in rest


def test_ctrl_c_that_ends_the_pager_ends_the_answer(start, script):
    shell = start(rows=10, PAGER=script("echo reading; while :; do sleep 1; done"))
    shell.wait()
    shell.press("op -select params\r")
    shell.see("reading")
    shell.press(CTRL_C)
    assert "stopped" not in shell.wait()

    assert "-max_depth NUMBER" in shell.ask("help max_depth")
    shell.press(CTRL_D)
    assert shell.leave() == 0


def test_an_empty_line_marks_what_differs_from_its_default(shell):
    shell.ask("set -max_depth 3")

    shown = shell.ask("")

    assert "* -max_depth                  3  [10]\n" in shown
    assert "\n  -min_bytes                  0\n" in shown


@pytest.mark.parametrize(("surroundings", "is_bold"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colour_is_for_those_who_want_it(surroundings, is_bold, start):
    shell = start(**surroundings)
    shell.wait()
    shell.press("set -max_depth 3\r")
    shell.see(SENT)
    shell.wait()
    shell.press("\r")
    shell.see(SENT)

    assert ("\x1b[1m* -max_depth" in shell.wait()) == is_bold


def test_a_terminal_that_can_do_little_gets_a_plain_prompt(start):
    pytest.importorskip("readline", reason="this Python has no readline")
    shell = start(TERM="dumb")
    shell.see("tfprof> ")
    assert "pip" not in shell.terminal.before
    shell.press("scop\r")
    shell.see("tfprof: No command `scop`. Did you mean `scope`?\r\ntfprof> scop")
    shell.press("e -select params\r")
    shell.see("tfprof> ")

    assert report("scope", select="params") in shell.terminal.before.replace("\r\n", "\n")


# Without prompt_toolkit.


@pytest.fixture
def plain(start):
    """A shell that has nothing but Python's own."""
    pytest.importorskip("readline", reason="this Python has no readline")
    shell = start(*FILES, program=("-c", WITHOUT_TOOLKIT), INPUTRC="/dev/null")
    shell.see("tfprof> ")
    return shell


def test_without_prompt_toolkit_it_says_what_that_would_bring(plain):
    said = plain.terminal.before

    assert "`pip install 'tfprof[shell]'` adds a menu that explains completions" in said


def test_without_prompt_toolkit_tab_completes_too(plain):
    plain.press("sco\t")
    plain.see("scope ")
    plain.press("-sel\t")
    plain.see("select ")
    plain.press("para\t")
    plain.see("params")
    plain.press("\r")
    plain.see("tfprof> ")

    assert report("scope", select="params") in plain.terminal.before.replace("\r\n", "\n")


def test_without_prompt_toolkit_a_line_with_a_mistake_is_kept_too(plain):
    plain.press("scop -select params\r")
    plain.see("Did you mean `scope`?")
    plain.see("tfprof> ")
    plain.see("scop -select params")
    plain.press(f"{HOME}{DELETE_WORD}scope\r")
    plain.see("Doc:")
    plain.see("tfprof> ")
    plain.press("\x15" + CTRL_D)

    assert plain.leave() == 0


def test_without_prompt_toolkit_lines_are_remembered_too(plain, start):
    plain.press("op -select params\r")
    plain.see("tfprof> ")
    plain.press(CTRL_D)
    assert plain.leave() == 0

    second = start(*FILES, program=("-c", WITHOUT_TOOLKIT), INPUTRC="/dev/null")
    second.see("tfprof> ")
    second.press(UP)
    second.see("op -select params")


def test_without_prompt_toolkit_ctrl_c_drops_the_line_too(plain):
    plain.press("nonsense")
    plain.see("nonsense")
    plain.press(CTRL_C)
    plain.see("tfprof> ")
    plain.press("help max_depth\r")
    plain.see("-max_depth NUMBER")
    plain.see("tfprof> ")

    assert "No command" not in plain.terminal.before
