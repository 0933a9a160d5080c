"""Command lines that are held at a certain moment, so that they are stopped exactly there."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from command_runs import ENVIRONMENT, TFPROF, enable_signals, fifo, is_readable, wait_until

# Events of `sys.addaudithook`: just before a file is opened, and before it gets its final name.
OPENED, RENAMED = "open", "os.rename"

# Python imports this module when it starts, also in the processes that the command starts.
_HOOK = """
import os
import sys

event, path, folder = os.environ["HOLD"].split("\\n")


def hold(name, values):
    if name != event or not any(path in str(value) for value in values[:2]):
        return
    try:
        os.unlink(f"{folder}/free")
    except FileNotFoundError:  # only one process is held, and only once
        return
    with open(f"{folder}/held", "w") as held:
        held.write(f"{os.getpid()}\\n")
    with open(f"{folder}/released") as released:
        released.readline()


sys.addaudithook(hold)
"""


@dataclass(frozen=True, slots=True)
class Held:
    """A command, and that process of it which is held."""

    command: subprocess.Popen[str]
    pid: int
    _released: int

    def release(self) -> None:
        """Let it continue."""
        os.write(self._released, b"\n")


@contextmanager
def held(folder: Path, event: str, path: str, *words: object) -> Iterator[Held]:
    """A command line that is held where it, or a worker, opens or renames a file.

    The name of the file contains `path`, and `folder` is for what this needs. The processes of the
    command are a group of their own, and are killed at the end.
    """
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(_HOOK)
    (folder / "free").touch()
    pipes = [fifo(folder / name) for name in ("held", "released")]
    try:
        with subprocess.Popen(
            [*TFPROF, *map(str, words)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=ENVIRONMENT | _hooked(folder, event, path),
            start_new_session=True,
            preexec_fn=enable_signals,  # noqa: PLW1509 -- no other thread runs here
        ) as command:
            try:
                wait_until(lambda: is_readable(pipes[0]), f"{event} of {path}", command)
                yield Held(command, int(os.read(pipes[0], 100)), pipes[1])
            finally:
                with suppress(ProcessLookupError):  # all have ended
                    os.killpg(command.pid, signal.SIGKILL)
    finally:
        for pipe in pipes:
            os.close(pipe)


def held_while_writing(folder: Path, target: Path, *words: object):
    """A command line that is held while its complete temporary file is beside `target`."""
    return held(folder, RENAMED, f"{target.parent}/.tfprof-", *words)


def _hooked(folder: Path, event: str, path: str) -> dict[str, str]:
    places = [str(folder), *filter(None, [ENVIRONMENT.get("PYTHONPATH")])]
    return {"PYTHONPATH": os.pathsep.join(places), "HOLD": "\n".join([event, path, str(folder)])}
