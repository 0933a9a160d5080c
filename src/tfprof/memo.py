"""Working things out once: for as long as an object lives, or when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

Value = TypeVar("Value")


class Remembering(Protocol):
    """Something with room for what was worked out from it."""

    @property
    def memo(self) -> dict[Any, Any]: ...


Subject = TypeVar("Subject", bound=Remembering)
Rest = ParamSpec("Rest")
Result = TypeVar("Result")


def remembered(
    function: Callable[Concatenate[Subject, Rest], Result],
) -> Callable[Concatenate[Subject, Rest], Result]:
    """Let `function` work only once for each first argument and the (hashable) others.

    The results are kept with the first argument, and go when it does.
    """

    @wraps(function)
    def lookup(subject: Subject, /, *args: Rest.args, **kwargs: Rest.kwargs) -> Result:
        known: dict[Any, Result] = subject.memo.setdefault(function, {})
        key = (args, tuple(sorted(kwargs.items())))
        if key not in known:
            known[key] = function(subject, *args, **kwargs)
        return known[key]

    return lookup


class OnDemand(Mapping[str, Value]):
    """Values by name, each worked out when it is first asked for."""

    def __init__(self, names: Iterable[str], work_out: Callable[[str], Value]) -> None:
        self._names = dict.fromkeys(names)
        self._work_out = work_out
        self._known: dict[str, Value] = {}

    def __getitem__(self, name: str) -> Value:
        if name not in self._known:
            if name not in self._names:
                raise KeyError(name)
            self._known[name] = self._work_out(name)
        return self._known[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
