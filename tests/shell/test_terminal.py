"""The shell in a real terminal: keys, history, Ctrl-C, pagers; also without prompt_toolkit."""

from __future__ import annotations

import sys

import pytest

if sys.platform == "win32":
    pytest.skip("there are no pseudo-terminals on Windows", allow_module_level=True)
pytest.importorskip("pexpect", reason="pexpect provides the terminal")
pytest.importorskip("prompt_toolkit", reason="prompt_toolkit provides the prompt")

from driven_shell import CTRL_C, CTRL_D, DELETE_WORD, FILES, HOME, SENT, TAB, UP, report

pytestmark = [
    pytest.mark.process,
    # pexpect forks while pytest has threads, which is safe because the child calls exec at once.
    pytest.mark.filterwarnings("ignore:.*forkpty.*:DeprecationWarning"),
]

WITHOUT_TOOLKIT = (
    "import sys; sys.modules['prompt_toolkit'] = None; "
    "from tfprof.cli import entry_point; entry_point()"
)

WITH_A_SLOW_CHECKER = """
import time
from tfprof.advisor import operations
from tfprof.cli import entry_point

def check(profile):
    print("checking", flush=True)
    while True:
        time.sleep(0.01)  # short, because a signal may arrive just before it

operations.check = check
entry_point()
"""


@pytest.fixture
def script(tmp_path_factory):
    """Writes a shell script and returns its path."""

    def write(text):
        path = tmp_path_factory.mktemp("programs") / "script"
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return str(path)

    return write


def test_the_greeting_shows_what_was_read_and_how_to_get_help(start):
    greeting = start().wait()

    assert "5 ops, 1 recorded step. Tab completes, `help` explains, Ctrl-D leaves." in greeting


def test_a_line_is_answered(shell):
    assert report("op", select="params") in shell.ask("op -select params")


def test_quit_leaves_with_status_0_even_after_an_error(shell):
    shell.ask("nonsense")
    shell.press(CTRL_C)
    shell.wait()
    shell.press("quit\r")

    assert shell.leave() == 0


def test_enter_accepts_the_selected_item_of_the_tab_menu(shell):
    shell.press("op -hide_name_regexes Ma")
    shell.see("Ma")
    shell.press(TAB)
    shell.see("tMul")
    shell.press(" -order_by p")
    shell.see("_by p")
    shell.press(TAB)
    shell.see("params")  # in the menu
    shell.press(TAB)
    shell.see("peak_bytes")  # selected, so it is in the line
    shell.press("\r\r")

    assert "MatMul" not in shell.answer()


def test_tab_completes_names_in_the_model(shell):
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


def test_the_history_lasts_across_sessions(start, files):
    before = set(files.iterdir())
    first = start()
    first.wait()
    first.ask("op -select params")
    first.press(CTRL_D)
    assert first.leave() == 0

    second = start()
    second.wait()
    second.press_until(UP, "op -select params")  # the history is loaded in the background
    second.press("\r")

    assert report("op", select="params") in second.answer()
    assert set(files.iterdir()) == before


def test_the_shell_works_if_the_history_cannot_be_saved(start, files):
    (files / "no_folder").touch()
    shell = start(XDG_STATE_HOME=str(files / "no_folder"))
    shell.wait()

    assert report("op") in shell.ask("op")
    assert report("op") in shell.ask("op")


def test_a_line_with_an_error_is_kept_for_editing(shell):
    error = shell.ask("scop -select params")
    assert error == "tfprof: Unknown command `scop`. Did you mean `scope`?\n"

    shell.press(f"{HOME}{DELETE_WORD}scope\r")

    assert report("scope", select="params") in shell.answer()


def test_ctrl_c_discards_the_line(shell):
    shell.press("nonsense")
    shell.see("nonsense")
    shell.press(CTRL_C)
    shell.answer()

    assert shell.ask("op").startswith(report("op"))


def test_ctrl_c_stops_the_command_and_not_the_shell(start):
    shell = start(program=("-c", WITH_A_SLOW_CHECKER))
    shell.wait()

    shell.press("advise\r")
    shell.see("checking")  # only now does the terminal turn Ctrl-C into a signal
    shell.press(CTRL_C)
    shell.see(" stopped.\r\n")
    shell.wait()

    assert shell.ask("op").startswith(report("op"))


def test_an_answer_that_does_not_fit_is_paged(start, script):
    shell = start(rows=10, PAGER=script("echo paged; cat"))
    shell.wait()

    assert shell.ask("op -select params").startswith("paged\n\nDoc:\n")
    assert shell.ask("help max_depth").startswith("-max_depth NUMBER\n")


def test_a_resized_terminal_changes_what_is_paged(start, script):
    shell = start(rows=10, PAGER=script("echo paged; cat"))
    shell.wait()
    assert "paged" in shell.ask("op -select params")

    shell.terminal.setwinsize(50, 100)
    shell.press("op -select params\r")

    assert shell.terminal.expect_exact(["paged", "\r\nDoc:\r\n"]) == 1


def test_the_pager_can_be_quit_early(start, script):
    shell = start(rows=10, PAGER=script("head -2"))
    shell.wait()

    assert shell.ask("op -select params") == "\nDoc:\n"
    assert shell.ask("op -select params") == "\nDoc:\n"


def test_ctrl_c_in_the_pager_goes_to_the_pager(start, script):
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


def test_ctrl_c_that_ends_the_pager_keeps_the_shell_running(start, script):
    shell = start(rows=10, PAGER=script("echo reading; while :; do sleep 1; done"))
    shell.wait()
    shell.press("op -select params\r")
    shell.see("reading")
    shell.press(CTRL_C)
    assert "stopped" not in shell.wait()

    assert "-max_depth NUMBER" in shell.ask("help max_depth")
    shell.press(CTRL_D)
    assert shell.leave() == 0


def test_an_empty_line_marks_changed_options(shell):
    shell.ask("set -max_depth 3")

    shown = shell.ask("")

    assert "* -max_depth                  3  [10]\n" in shown
    assert "\n  -min_bytes                  0\n" in shown


@pytest.mark.parametrize(("environment", "is_bold"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_no_color_turns_bold_text_off(environment, is_bold, start):
    shell = start(**environment)
    shell.wait()
    shell.press("set -max_depth 3\r")
    shell.see(SENT)
    shell.wait()
    shell.press("\r")
    shell.see(SENT)

    assert ("\x1b[1m* -max_depth" in shell.wait()) == is_bold


def test_a_dumb_terminal_gets_a_plain_prompt(start):
    pytest.importorskip("readline", reason="this Python has no readline")
    shell = start(TERM="dumb")
    shell.see("tfprof> ")
    assert "pip" not in shell.terminal.before
    shell.press("scop\r")
    shell.see("tfprof: Unknown command `scop`. Did you mean `scope`?\r\ntfprof> scop")
    shell.press("e -select params\r")
    shell.see("tfprof> ")

    assert report("scope", select="params") in shell.terminal.before.replace("\r\n", "\n")


# Without prompt_toolkit.


@pytest.fixture
def plain(start):
    """A shell without prompt_toolkit."""
    pytest.importorskip("readline", reason="this Python has no readline")
    shell = start(*FILES, program=("-c", WITHOUT_TOOLKIT), INPUTRC="/dev/null")
    shell.see("tfprof> ")
    return shell


def test_without_prompt_toolkit_a_hint_recommends_it(plain):
    greeting = plain.terminal.before

    assert "`pip install 'tfprof[shell]'` adds a menu that explains completions" in greeting


def test_without_prompt_toolkit_tab_still_completes(plain):
    plain.press("sco\t")
    plain.see("scope ")
    plain.press("-sel\t")
    plain.see("select ")
    plain.press("para\t")
    plain.see("params")
    plain.press("\r")
    plain.see("tfprof> ")

    assert report("scope", select="params") in plain.terminal.before.replace("\r\n", "\n")


def test_without_prompt_toolkit_a_line_with_an_error_is_still_kept(plain):
    plain.press("scop -select params\r")
    plain.see("Did you mean `scope`?")
    plain.see("tfprof> ")
    plain.see("scop -select params")
    plain.press(f"{HOME}{DELETE_WORD}scope\r")
    plain.see("Doc:")
    plain.see("tfprof> ")
    plain.press("\x15" + CTRL_D)

    assert plain.leave() == 0


def test_without_prompt_toolkit_the_history_still_lasts_across_sessions(plain, start):
    plain.press("op -select params\r")
    plain.see("tfprof> ")
    plain.press(CTRL_D)
    assert plain.leave() == 0

    second = start(*FILES, program=("-c", WITHOUT_TOOLKIT), INPUTRC="/dev/null")
    second.see("tfprof> ")
    second.press(UP)
    second.see("op -select params")


def test_without_prompt_toolkit_ctrl_c_still_discards_the_line(plain):
    plain.press("nonsense")
    plain.see("nonsense")
    plain.press(CTRL_C)
    plain.see("tfprof> ")
    plain.press("help max_depth\r")
    plain.see("-max_depth NUMBER")
    plain.see("tfprof> ")

    assert "Unknown command" not in plain.terminal.before
