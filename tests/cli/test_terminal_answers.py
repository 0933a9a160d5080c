"""One-shot answers on a terminal: long ones go through a pager."""

from __future__ import annotations

import os
import sys

import pytest

from command_runs import SECONDS
from terminal_page import shown

if sys.platform == "win32":
    pytest.skip("there are no pseudo-terminals on Windows", allow_module_level=True)
pexpect = pytest.importorskip("pexpect", reason="pexpect provides the terminal")

pytestmark = [
    pytest.mark.process,
    pytest.mark.usefixtures("files"),
    # pexpect forks while pytest has threads, which is safe because the child calls exec at once.
    pytest.mark.filterwarnings("ignore:.*forkpty.*:DeprecationWarning"),
]

QUESTION = ("op", "graph.pb", "-select", "params")


@pytest.fixture
def show(tmp_path_factory):
    """Runs tfprof on a terminal of ten rows with a pager; returns its status and what it shows."""
    pager = tmp_path_factory.mktemp("pager") / "pager"

    def run(*words, script="echo paged; cat", **environment):
        pager.write_text(f"#!/bin/sh\n{script}\n")
        pager.chmod(0o755)
        names = ("PAGER", "TFPROF_PAGER", "LESS")
        inherited = {key: value for key, value in os.environ.items() if key not in names}
        terminal = pexpect.spawn(
            sys.executable,
            ["-m", "tfprof", *words],
            env=inherited | {"TERM": "xterm", "NO_COLOR": "1", "PAGER": str(pager)} | environment,
            dimensions=(10, 100),
            timeout=SECONDS,
            encoding="utf-8",
        )
        try:
            terminal.expect(pexpect.EOF)
        finally:
            terminal.close(force=True)
        return terminal.exitstatus, shown(terminal.before)

    return run


def test_a_long_answer_is_paged(show):
    status, answer = show(*QUESTION)

    assert status == 0
    assert answer.startswith("paged\n\nDoc:\nOps by kind")


def test_a_long_help_page_is_paged(show):
    assert show("scope", "--help")[1].startswith("paged\nUsage: tfprof scope")


def test_a_short_answer_is_printed(show):
    assert show("--version")[1].startswith("tfprof ")


def test_no_pager_prints_a_long_answer(show):
    assert show(*QUESTION, "--no-pager")[1].startswith("\nDoc:\nOps by kind")


def test_tfprof_pager_takes_precedence_over_pager(show):
    assert show(*QUESTION, TFPROF_PAGER="cat")[1].startswith("\nDoc:\n")


def test_quitting_the_pager_is_not_an_error(show):
    assert show(*QUESTION, script="head -2") == (0, "\nDoc:\n")


def test_a_shell_without_a_pager_can_be_started(show):
    status, answer = show("graph.pb", "--no-pager", "--help")

    assert status == 0
    assert answer.startswith("Usage: tfprof COMMAND FILES…")


def test_layers_leave_out_columns_that_do_not_fit_on_the_terminal(show):
    question = ("layers", "graph.pb", "run_meta_0", "--no-pager")

    narrow = show(*question, COLUMNS="50")[1]
    chosen = show(*question, "-select", "params,float_ops,macs,micros", COLUMNS="50")[1]

    assert narrow.startswith("layer      parameters  FLOPs    time    share\n")
    assert "columns that do not fit on the terminal: macs; -select shows them." in narrow
    assert chosen.startswith("layer      parameters  FLOPs  MACs    time    share\n")
