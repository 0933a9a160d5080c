"""The topological order of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable


def topological(count: int, before: Callable[[int], Iterable[int]]) -> list[int]:
    """All rows, each after the rows that must come `before` it, except in cycles."""
    order: list[int] = []
    state = bytearray(count)  # 1: waiting for others, 2: done
    for first in range(count):
        stack = [] if state[first] else [first]
        while stack:
            row = stack[-1]
            if state[row]:
                stack.pop()
                if state[row] == 1:
                    state[row] = 2
                    order.append(row)
                continue
            state[row] = 1
            stack += [other for other in before(row) if other >= 0 and not state[other]]
    return order
