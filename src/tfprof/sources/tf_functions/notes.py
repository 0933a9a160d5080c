"""What a reader of a flat graph should know about its numbers, in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tfprof.sources.tf_functions.calls import is_conditional, is_loop
from tfprof.sources.tf_functions.layout import Layout

_MOST_NAMED = 3


def notes(path: str, layout: Layout, unknown: Sequence[str]) -> Iterator[str]:
    """Sentences about a layout, and about the variables of `unknown` shape."""
    kinds = list(layout.walked.values())
    if loops := sum(map(is_loop, kinds)):
        yield (
            f"{path} has {_count(loops, 'loop')}: float ops are those of one iteration; a graph "
            "does not state how many will run."
        )
    if conditionals := sum(map(is_conditional, kinds)):
        yield (
            f"{path} has {_count(conditionals, 'conditional')}: float ops are those of all "
            "branches, although only one will run."
        )
    if layout.recursive:
        names = _names(layout.recursive)
        yield f"{path}: {names} calls itself; recursive calls are not counted."
    if layout.missing:
        names = _names(layout.missing)
        yield f"{path} calls functions that it does not contain ({names}); they are not counted."
    if unknown:
        variables = f"{_count(len(unknown), 'variable')} (`{unknown[0]}`)"
        yield f"{path}: parameters of unknown shape are not counted: {variables}."


def _count(number: int, noun: str) -> str:
    return f"1 {noun}" if number == 1 else f"{number:,} {noun}s"


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in list(names)[:_MOST_NAMED])
