"""The process of a command line: its streams and the signals that stop it."""

from __future__ import annotations

import atexit
import errno
import io
import os
import signal
import sys
import threading
from contextlib import suppress
from typing import TextIO

_NO_MEMORY = "not enough memory; give fewer files, or use a machine with more memory."
_LOADER_WITHOUT_MEMORY = ("failed to map segment", "Cannot allocate memory")
_TOO_MANY_FILES = "too many open files; raise the limit with `ulimit -n`."


class Stopped(SystemExit):
    """A signal asked the program to stop; the exit status is that of a shell."""

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)


def stop_in_order() -> None:
    """Let signals that end the program raise `Stopped`, so that temporary files are removed."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        # `nohup` ignores SIGHUP.
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _stop)


_OWNER = os.getpid()


def _stop(number: int, _: object) -> None:
    if os.getpid() == _OWNER:
        raise Stopped(number)
    # A process forked by a program under `tfprof run`, which ends as it would without tfprof.
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def open_streams() -> None:
    """Replace streams that were closed by the null device, and escape what they cannot encode."""
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        # A file must not get the number of a standard stream.
        with suppress(OSError):
            _require_open(descriptor)
        stream = getattr(sys, name)
        if stream is None:
            mode = "r" if name == "stdin" else "w"
            # Open until the program ends, like other standard streams.
            null = os.open(os.devnull, os.O_RDWR)
            stream = open(null, mode, encoding="utf-8", closefd=False)  # noqa: SIM115
            setattr(sys, name, stream)
        if isinstance(stream, io.TextIOWrapper):
            # Op names may contain characters that the terminal cannot encode.
            stream.reconfigure(errors="backslashreplace")


def _require_open(descriptor: int) -> None:
    try:
        os.fstat(descriptor)
    except OSError:
        os.open(os.devnull, os.O_RDWR)  # takes the smallest number that is free


def drop(stream: TextIO) -> None:
    """Discard buffered output, so that Python neither fails nor blocks on it at exit."""
    with suppress(AttributeError, OSError):  # closed, or not a real file: nothing to flush
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def drop_unwritten(stream: TextIO) -> None:
    """Discard what cannot be written, which would change the exit status."""
    try:
        stream.flush()
    except OSError:
        drop(stream)


def leave_threads(status: int) -> None:
    """Exit without Python's own shutdown if threads are still at work.

    Python ends a daemon thread when it returns from C++ code, which ends the program with an abort
    if that code has something to clean up.
    """
    if threading.active_count() > 1 and all(
        thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread()
    ):
        atexit._run_exitfuncs()  # noqa: SLF001 -- removes temporary folders
        os._exit(status)


def shortage(error: BaseException) -> str:
    """A message if an error is a lack of memory or of descriptors; otherwise empty."""
    if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
        return _TOO_MANY_FILES
    is_memory = isinstance(error, MemoryError) or getattr(error, "errno", 0) == errno.ENOMEM
    # The dynamic loader reports it only in words.
    if isinstance(error, ImportError):
        is_memory = any(words in str(error) for words in _LOADER_WITHOUT_MEMORY)
    return _NO_MEMORY if is_memory else ""
