"""Cached results: stored with the object they were computed from, or computed on first use."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

Value = TypeVar("Value")


class Remembering(Protocol):
    """An object that can store results computed from it."""

    @property
    def memo(self) -> dict[Any, Any]: ...


Subject = TypeVar("Subject", bound=Remembering)
Rest = ParamSpec("Rest")
Result = TypeVar("Result")


_MOST = 8


def remembering(
    most: int,
) -> Callable[
    [Callable[Concatenate[Subject, Rest], Result]], Callable[Concatenate[Subject, Rest], Result]
]:
    """A decorator like `remembered` that keeps at most this many results per first argument.

    The least recently used results are dropped, because a result may be a column with a row for
    each of a million ops.
    """

    def decorate(
        function: Callable[Concatenate[Subject, Rest], Result],
    ) -> Callable[Concatenate[Subject, Rest], Result]:
        @wraps(function)
        def lookup(subject: Subject, /, *args: Rest.args, **kwargs: Rest.kwargs) -> Result:
            known: dict[Any, Result] = subject.memo.setdefault(function, {})
            key: Any = (args, tuple(sorted(kwargs.items()))) if kwargs else args
            if key in known:
                if len(known) == most:
                    known[key] = known.pop(key)  # the oldest result is dropped next
                return known[key]
            result = function(subject, *args, **kwargs)
            known[key] = result
            if len(known) > most:
                del known[next(iter(known))]
            return result

        return lookup

    return decorate


def remembered(
    function: Callable[Concatenate[Subject, Rest], Result],
) -> Callable[Concatenate[Subject, Rest], Result]:
    """Compute `function` once per first argument and (hashable) other arguments.

    The most recent results are stored with the first argument and freed with it.
    """
    return remembering(_MOST)(function)


class OnDemand(Mapping[str, Value]):
    """Values by name, each computed on first use."""

    def __init__(self, names: Collection[str], compute: Callable[[str], Value]) -> None:
        self._names = names
        self._compute = compute
        self._known: dict[str, Value] = {}

    def __getitem__(self, name: str) -> Value:
        if name not in self._known:
            if name not in self._names:
                raise KeyError(name)
            self._known[name] = self._compute(name)
        return self._known[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
