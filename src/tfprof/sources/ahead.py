"""Work that is begun before somebody waits for it."""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from typing import Any, Generic, TypeVar

Result = TypeVar("Result")


class Ahead(Generic[Result]):
    """A call that goes on beside the caller, on another core where it lets others run."""

    def __init__(self, function: Callable[..., Result], *args: Any) -> None:
        self._function, self._args = function, args
        self._found: list[Result] = []
        self._error: BaseException | None = None
        # Somebody who is interrupted and leaves does not wait for it.
        self._thread = Thread(target=self._work, daemon=True)
        self._thread.start()

    def _work(self) -> None:
        try:
            self._found.append(self._function(*self._args))
        except BaseException as error:  # noqa: BLE001 -- raised where it is waited for
            self._error = error

    def result(self) -> Result:
        """What the call returned, once: it is not kept; what it raised is raised here."""
        self._thread.join()
        if self._error is not None:
            raise self._error
        return self._found.pop()
