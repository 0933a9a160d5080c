"""Runs the command line as a process of its own, with faults around it."""

from __future__ import annotations

import ctypes
import os
import resource
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tfprof.formats import wire

TFPROF = [sys.executable, "-m", "tfprof"]
# Buffered, as for users: write errors occur only when the buffer is flushed.
ENVIRONMENT = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
SECONDS = 60  # no wait takes longer, unless something is wrong
_LIBC = ctypes.CDLL(None)


def tfprof(*words: object, **others: Any) -> subprocess.CompletedProcess[str]:
    """Run a command line to its end."""
    others = {"env": ENVIRONMENT, "stdin": subprocess.DEVNULL} | others
    return subprocess.run(
        [*TFPROF, *map(str, words)],
        stdout=others.pop("stdout", subprocess.PIPE),
        stderr=others.pop("stderr", subprocess.PIPE),
        text=True,
        encoding="utf-8",
        errors="replace",
        check=False,
        timeout=300,
        **others,
    )


def shell(script: str, *words: object) -> subprocess.CompletedProcess[str]:
    """Run a command line from a bash script, where it is `"$@"`."""
    return subprocess.run(
        ["bash", "-c", script, "-", *TFPROF, *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env=ENVIRONMENT,
    )


def is_one_line(text: str) -> bool:
    """Whether a text is one message of tfprof."""
    return text.startswith("tfprof: ") and text.count("\n") == 1 and text.endswith("\n")


def limited(kind: int, most: int) -> Callable[[], None]:
    """For `preexec_fn`: limits a resource of the process."""
    return lambda: resource.setrlimit(kind, (most, most))


def obey_permissions() -> None:
    """For `preexec_fn`: makes root obey the permissions of files, as any other user does."""
    if os.getuid() == 0:
        for capability in (1, 2):  # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH
            _LIBC.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


def require_permissions(folder: Path) -> None:
    """Skip a test if permissions do not apply to the processes it starts."""
    locked = folder / "locked"
    locked.touch(0o000)
    ran = subprocess.run(
        ["cat", locked], preexec_fn=obey_permissions, capture_output=True, check=False
    )
    locked.unlink()
    if ran.returncode == 0:
        pytest.skip("this user may read and write everything")


@contextmanager
def small_disk(folder: Path, size: str = "64k", *, options: str = "") -> Iterator[Path]:
    """A file system of its own; the test is skipped if it cannot be mounted."""
    folder.mkdir(exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}{options}", "tmpfs", str(folder)]
    try:
        made = subprocess.run(mount, capture_output=True, timeout=SECONDS, check=False)
    except OSError as error:
        pytest.skip(f"this machine has no `mount`: {error}")
    if made.returncode:
        pytest.skip("this user may not mount a file system")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=False, timeout=SECONDS)


def enable_signals() -> None:
    """For `preexec_fn`: restores the actions of signals that the tests may have to ignore."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def wait_until(
    is_true: Callable[[], object], awaited: str, *processes: subprocess.Popen[str]
) -> None:
    """Wait until a condition holds, which one of these processes is to bring about."""
    deadline = time.monotonic() + SECONDS
    while not is_true():
        ended = [process for process in processes if process.poll() is not None]
        if (ended and not is_true()) or time.monotonic() > deadline:
            pytest.fail(f"no {awaited}; {' '.join(map(outcome, processes))}")
        time.sleep(0.01)


def outcome(process: subprocess.Popen[str]) -> str:
    """What a process printed, for the message of a failure; a running one is killed."""
    status = process.poll()
    process.kill()
    output, error = process.communicate()
    state = "was still running" if status is None else f"ended with status {status}"
    return f"{process.args!r} {state} and printed {output!r} and {error!r}"


def fifo(path: Path) -> int:
    """A new named pipe, open for both directions: opening it again never blocks."""
    os.mkfifo(path)
    return os.open(path, os.O_RDWR)


def is_readable(descriptor: int) -> bool:
    """Whether there is something to read, or the end."""
    return bool(select.select([descriptor], [], [], 0)[0])


def big_graph(path: Path, ops: int, *, longer: int = 0) -> Path:
    """Write a graph of that many ops in 100 scopes, with names that are `longer` by some bytes."""
    nodes = []
    for number in range(ops):
        name = f"scope_{number % 100:02}/op_{number:06}{'_' * longer}".encode()
        node = b"\x0a" + wire.encoded(len(name)) + name + b"\x12\x04NoOp"
        nodes.append(b"\x0a" + wire.encoded(len(node)) + node)
    path.write_bytes(b"".join(nodes))
    return path
