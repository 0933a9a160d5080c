"""A stand-in for the module `cython` when modules written for Cython run as plain Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Thing = TypeVar("Thing")

compiled = False
int = longlong = ulonglong = None  # noqa: A001 -- Cython's names for types of C


def _unchanged(thing: Thing) -> Thing:
    return thing


cclass = cfunc = final = inline = with_gil = _unchanged


def exceptval(_: object) -> Callable[[Thing], Thing]:
    """A decorator that changes nothing."""
    return _unchanged


boundscheck = exceptval


def declare(_: object, value: Thing) -> Thing:
    """The value; its type is ignored."""
    return value


class _Lock:
    """A decorator and a context manager that change nothing."""

    def __call__(self, thing: Thing) -> Thing:
        return thing

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass


nogil = _Lock()
