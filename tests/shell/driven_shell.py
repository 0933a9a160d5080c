"""The shell in a real terminal, driven by key presses."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pexpect
import pytest

import tfprof
from command_runs import SECONDS, enable_signals

FILES = ("graph.pb", "run_meta_0", "tfprof_log")
UP, HOME, DELETE_WORD, TAB, CTRL_C, CTRL_D = "\x1b[A", "\x01", "\x1bd", "\t", "\x03", "\x04"

# Codes for bracketed paste: prompt_toolkit turns it on while a prompt waits, and off afterwards.
WAITING, SENT = "\x1b[?2004h", "\x1b[?2004l"


class Shell:
    """A shell in its own terminal."""

    def __init__(self, *words, rows=50, program=("-m", "tfprof"), **environment):
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
                "PROMPT_TOOLKIT_NO_CPR": "1",  # this terminal cannot report its cursor position
                "HOME": str(Path.cwd().parent),
                # A history per test: a suggestion from another test would look like a completion.
                "XDG_STATE_HOME": f"{Path.cwd()}_state",
                "PAGER": "cat",
            }
            | environment,
            dimensions=(rows, 100),
            preexec_fn=enable_signals,
            timeout=SECONDS,
            encoding="utf-8",
        )

    def wait(self):
        """Wait for the prompt; returns the text shown before it."""
        self.terminal.expect_exact(WAITING)
        return self.terminal.before

    def press(self, keys):
        self.terminal.send(keys)

    def see(self, text):
        self.terminal.expect_exact(text)

    def press_until(self, keys, text):
        """Press keys, repeatedly if necessary, until `text` appears."""
        for _ in range(5 * SECONDS):
            self.press(keys)
            if self.terminal.expect_exact([text, pexpect.TIMEOUT], timeout=0.2) == 0:
                return
        pytest.fail(f"no {text}; the terminal shows {self.terminal.buffer!r}")

    def ask(self, line):
        """Send a line; returns its answer."""
        self.press(f"{line}\r")
        return self.answer()

    def answer(self):
        """The text between the line that was sent and the next prompt."""
        self.see(SENT)
        return re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", self.wait()).replace("\r\n", "\n")

    def leave(self):
        """Wait for the shell to exit; returns its status."""
        self.terminal.expect(pexpect.EOF)
        self.terminal.close()
        return self.terminal.exitstatus


def report(kind, **options):
    """What a view prints in Python, without the columns that the shell leaves out."""
    return getattr(tfprof.load(*FILES), kind)(**options).without_zero_columns().report
