"""Progress lines on the terminal, while large files are read or many are collected."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from shutil import get_terminal_size
from typing import Self, TextIO

from tfprof.errors import one_line, shortened

_PATIENCE_SECONDS = 1.0
_TICK_SECONDS = 0.2
_ERASE = "\r\x1b[K"
_BAR_WIDTH = 20


class Line:
    """A line that is written again and again; silent unless the stream is a terminal."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._is_over = threading.Event()
        self._is_shown = threading.Lock()
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

    @contextmanager
    def erased(self) -> Iterator[None]:
        """Without the line, to write something else."""
        with self._is_shown:
            if self._thread is not None:
                self._write(_ERASE)
            yield

    def _watch(self) -> None:
        began = time.monotonic()
        shown = False
        if not self._is_over.wait(_PATIENCE_SECONDS):
            shown = True
            while not self._is_over.is_set():
                seconds = time.monotonic() - began
                with self._is_shown:
                    self._write(f"{_ERASE}{self._line(seconds)}")
                self._is_over.wait(_TICK_SECONDS)
        if shown:
            self._write(_ERASE)

    def _line(self, seconds: float) -> str:
        """The line after that time, at most as wide as the terminal: only one row is erased."""
        raise NotImplementedError

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


class Progress(Line):
    """Shows the file being read and the elapsed time."""

    _path = ""

    def reading(self, path: str) -> None:
        """Set the file to show."""
        self._path = path

    def _line(self, seconds: float) -> str:
        before, after = "tfprof: reading ", f" … {seconds:.0f} s"
        room = get_terminal_size().columns - len(before) - len(after) - 1
        return f"{before}{shortened(one_line(self._path), max(room, 9))}{after}"


class Bar(Line):
    """Shows how many of many files are done, the throughput and the time left."""

    _files, _all_files = 0, 0
    _bytes, _all_bytes = 0, 0

    def reached(self, files: int, all_files: int, bytes_: int, all_bytes: int) -> None:
        """Set the number of files, and of bytes to be read, that are done."""
        self._files, self._all_files = files, all_files
        self._bytes, self._all_bytes = bytes_, all_bytes

    def _line(self, seconds: float) -> str:
        if not self._all_files:
            return "tfprof: looking for files"
        filled = _BAR_WIDTH * self._bytes // max(self._all_bytes, 1)
        parts = [
            f"tfprof: {self._files:,}/{self._all_files:,} files",
            f"[{'#' * filled:<{_BAR_WIDTH}}]",
        ]
        if self._bytes:
            left = round((self._all_bytes - self._bytes) * seconds / self._bytes)
            rate = f"{self._bytes / seconds / 1e6:.1f} MB/s"
            parts += [rate, f"{left // 3600}:{left // 60 % 60:02}:{left % 60:02} left"]
        return "  ".join(parts)[: get_terminal_size().columns - 1]
