"""A progress line on the terminal while large files are read."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from shutil import get_terminal_size
from typing import Self, TextIO

from tfprof.errors import one_line, shortened

_PATIENCE_SECONDS = 1.0
_TICK_SECONDS = 0.2


class Progress:
    """Shows the file being read and the elapsed time; silent unless the stream is a terminal."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._path = ""
        self._is_over = threading.Event()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        if self._stream.isatty():
            thread = threading.Thread(target=self._watch, daemon=True)
            with suppress(RuntimeError):  # too many threads, or no memory for another
                thread.start()
                self._thread = thread
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        if self._thread is not None:
            self._thread.join()

    def reading(self, path: str) -> None:
        """Set the file to show."""
        self._path = path

    def _watch(self) -> None:
        began = time.monotonic()
        shown = False
        if not self._is_over.wait(_PATIENCE_SECONDS):
            shown = True
            while not self._is_over.is_set():
                seconds = time.monotonic() - began
                self._write(f"\r\x1b[K{self._line(seconds)}")
                self._is_over.wait(_TICK_SECONDS)
        if shown:
            self._write("\r\x1b[K")

    def _line(self, seconds: float) -> str:
        """The line, shortened to the width of the terminal, since only one row can be erased."""
        before, after = "tfprof: reading ", f" … {seconds:.0f} s"
        room = get_terminal_size().columns - len(before) - len(after) - 1
        return f"{before}{shortened(one_line(self._path), max(room, 9))}{after}"

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
