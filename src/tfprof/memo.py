"""Remembering what was worked out from an object, for as long as the object lives."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

Subject = TypeVar("Subject")
Rest = ParamSpec("Rest")
Result = TypeVar("Result")


def remembered(
    function: Callable[Concatenate[Subject, Rest], Result],
) -> Callable[Concatenate[Subject, Rest], Result]:
    """Let `function` work only once for each first argument and the (hashable) others."""
    results: WeakKeyDictionary[Subject, dict[Hashable, Result]] = WeakKeyDictionary()

    @wraps(function)
    def lookup(subject: Subject, /, *args: Rest.args, **kwargs: Rest.kwargs) -> Result:
        known = results.setdefault(subject, {})
        key = (args, tuple(sorted(kwargs.items())))
        if key not in known:
            known[key] = function(subject, *args, **kwargs)
        return known[key]

    return lookup
