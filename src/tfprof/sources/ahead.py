"""Function calls that run in the background until their result is needed."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from typing import Any, Generic, TypeVar

Result = TypeVar("Result")


class Ahead(Generic[Result]):
    """A function call in a thread of its own; it runs in parallel where it releases the GIL."""

    def __init__(self, function: Callable[..., Result], *args: Any) -> None:
        self._function, self._args = function, args
        self._found: list[Result] = []
        self._error: BaseException | None = None
        # A daemon, so that an interrupted program can exit without waiting for it.
        self._thread: Thread | None = Thread(target=self._work, daemon=True)
        try:
            self._thread.start()
        except RuntimeError:  # too many threads, or no memory for another
            self._thread = None

    def _work(self) -> None:
        try:
            self._found.append(self._function(*self._args))
        except BaseException as error:  # noqa: BLE001 -- raised by `result`
            self._error = error

    def result(self) -> Result:
        """Wait for the call and return its result, or raise its exception.

        Can be called only once, because the result is not kept.
        """
        if self._thread is None:
            return self._function(*self._args)
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._found.pop()
