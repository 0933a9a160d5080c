"""The shell in a real terminal: lines are completed and answered, and Ctrl-D leaves."""

from __future__ import annotations

import sys

import pytest

if sys.platform == "win32":
    pytest.skip("there are no pseudo-terminals on Windows", allow_module_level=True)
pytest.importorskip("pexpect", reason="pexpect provides the terminal")
pytest.importorskip("prompt_toolkit", reason="prompt_toolkit provides the prompt")

from driven_shell import CTRL_D, TAB, report

# pexpect forks while pytest has threads, which is safe because the child calls exec at once.
pytestmark = pytest.mark.filterwarnings("ignore:.*forkpty.*:DeprecationWarning")


def test_tab_completes_commands_options_and_metrics(shell):
    for keys, completed in (("sco", "pe"), ("-sel", "ect"), ("para", "ms")):
        shell.press(keys)
        shell.see(keys)
        shell.press(TAB)
        shell.see(completed)
    shell.press("\r")

    assert report("scope", select="params") in shell.answer()


def test_ctrl_d_leaves_the_shell(shell):
    shell.press(CTRL_D)

    assert shell.leave() == 0
