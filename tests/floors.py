"""Floors for properties in which some examples have nothing to compare.

Where one side refuses an input or crashes, the example has no answers to compare. Such a property
counts its examples, and fails if too few of them were checked:

    @floor(0.1)  # measured: 0.4
    @given(kinds, seeds)
    def test_an_odd_file_is_scanned_as_protobuf_reads_it(kind, seed):
        checked(is_scanned_alike(kind, random_file(kind, seed)))

Floors are judged for new examples, in the tier `random`: set a floor so far below the measured
share that a run never misses it by chance. The examples of other runs are always the same, and
which they are changes with the code of the test, so there one checked example is enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from hypothesis import settings

_examples: list[bool] = []  # whether each example of the running test was checked


def checked(is_checked: bool = True) -> None:
    """Count an example of the running property."""
    _examples.append(bool(is_checked))


@contextmanager
def checked_unless(error: type[Exception]) -> Iterator[None]:
    """Count an example, as checked unless the block raises `error`."""
    try:
        yield
    except error:
        checked(False)
    else:
        checked()


def floor(share: float) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Fail the decorated property if less than this share of its examples was checked."""

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @wraps(test)
        def counted(*arguments: Any, **keywords: Any) -> None:
            _examples.clear()
            test(*arguments, **keywords)
            found, total = sum(_examples), len(_examples)
            least = 1 if settings.default.derandomize else max(1, share * total)
            assert found >= least, f"only {found} of {total} examples were checked"

        return counted

    return decorate
