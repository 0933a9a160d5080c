"""What a module written for Cython asks of it, for running that module as plain Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Thing = TypeVar("Thing")

compiled = False
int = longlong = ulonglong = None  # noqa: A001 -- Cython's names for types of C


def _as_it_is(thing: Thing) -> Thing:
    return thing


cclass = cfunc = final = inline = with_gil = _as_it_is


def exceptval(_: object) -> Callable[[Thing], Thing]:
    """A decorator that changes nothing."""
    return _as_it_is


boundscheck = exceptval


def declare(_: object, value: Thing) -> Thing:
    """The value, of no declared type."""
    return value


class _Lock:
    """A decorator and a context that change nothing."""

    def __call__(self, thing: Thing) -> Thing:
        return thing

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass


nogil = _Lock()
