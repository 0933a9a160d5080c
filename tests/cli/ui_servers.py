"""Runs `tfprof ui` as a process, and waits for its address."""

from __future__ import annotations

import re
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

from command_runs import (
    ENVIRONMENT,
    SECONDS,
    TFPROF,
    enable_signals,
    is_readable,
    outcome,
    wait_until,
)

ADDRESS = re.compile(r"http://127\.0\.0\.1:([0-9]+)/([\w-]{32})/\n")
WAIT = "tfprof: this page is available on this machine until you press Ctrl-C.\n"


@contextmanager
def started(
    *words: str, **environment: str
) -> Iterator[tuple[subprocess.Popen[str], re.Match[str]]]:
    """A running server and its address, of which the groups are the port and the token."""
    inherited = {key: value for key, value in ENVIRONMENT.items() if key != "BROWSER"}
    with subprocess.Popen(
        [*TFPROF, "ui", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=inherited | {"DISPLAY": ""} | environment,
        preexec_fn=enable_signals,  # noqa: PLW1509 -- no other thread runs here
    ) as process:
        try:
            wait_until(lambda: is_readable(process.stdout.fileno()), "address", process)
            address = ADDRESS.fullmatch(process.stdout.readline())
            assert address, outcome(process)
            yield process, address
        finally:
            process.kill()


def fetched(address: str) -> int:
    """The status of the reply to a request."""
    with urllib.request.urlopen(address.strip(), timeout=SECONDS) as reply:  # noqa: S310 -- our own server
        return reply.status
