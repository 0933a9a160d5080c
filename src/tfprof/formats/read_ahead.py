"""Pieces of a file that are read in the background, while those before are used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from queue import SimpleQueue
from threading import Semaphore, Thread

_MOST_WAITING = 4  # pieces


def read_ahead(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The same pieces; the next ones are read in a thread, in parallel where that has no GIL."""
    reader = _Reader(pieces)
    # A daemon, so that an interrupted program can exit without waiting for it.
    thread = Thread(target=reader.work, daemon=True)
    try:
        thread.start()
    except RuntimeError:  # too many threads, or no memory for another
        yield from pieces
        return
    try:
        while (piece := reader.found.get()) is not None:
            reader.room.release()
            yield piece
    finally:
        reader.is_stopped = True
        reader.room.release()
        thread.join()
    if reader.error is not None:
        raise reader.error


class _Reader:
    """What both threads know."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self.pieces = pieces
        self.found: SimpleQueue[bytes | None] = SimpleQueue()  # None is the end
        self.room = Semaphore(_MOST_WAITING)
        self.error: BaseException | None = None
        self.is_stopped = False

    def work(self) -> None:
        try:
            for piece in self.pieces:
                self.room.acquire()
                if self.is_stopped:
                    break
                self.found.put(piece)
        except BaseException as error:  # noqa: BLE001 -- raised by `read_ahead`
            self.error = error
        self.found.put(None)
