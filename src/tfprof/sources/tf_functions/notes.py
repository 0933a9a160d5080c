"""Notes on what the numbers of a flattened graph include."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tfprof.sources.tf_functions.calls import is_conditional, is_loop
from tfprof.sources.tf_functions.layout import Layout

_MOST_NAMED = 3


def notes(path: str, layout: Layout, unknown: Sequence[str]) -> Iterator[str]:
    """Notes on a layout and on the variables of `unknown` shape."""
    kinds = list(layout.walked.values())
    if loops := sum(map(is_loop, kinds)):
        yield (
            f"{path} contains {_count(loops, 'loop')}: float ops are counted for one iteration, "
            "because the graph does not state how many will run."
        )
    if conditionals := sum(map(is_conditional, kinds)):
        yield (
            f"{path} contains {_count(conditionals, 'conditional')}: the float ops of all branches "
            "are counted, although only one will run."
        )
    if layout.recursive:
        names = _names(layout.recursive)
        yield f"{path} contains recursive functions ({names}); recursive calls are not counted."
    if layout.missing:
        names = _names(layout.missing)
        yield f"{path} calls functions that it does not contain ({names}); they are not counted."
    if unknown:
        variables = f"{_count(len(unknown), 'variable')} of unknown shape (`{unknown[0]}`)"
        yield f"{path} contains {variables}, whose parameters are not counted."


def _count(number: int, noun: str) -> str:
    return f"1 {noun}" if number == 1 else f"{number:,} {noun}s"


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in list(names)[:_MOST_NAMED])
