"""The data of a report as the page reads it, for tests."""

from __future__ import annotations

import json
from itertools import accumulate

import numpy as np


def unpacked(data: bytes) -> dict:
    """What `static/container.js` makes of packed data, with lists for columns."""
    size = int.from_bytes(data[:4], "little")
    start = -(-(4 + size) // 8) * 8
    texts: list[list[bytes]] = []

    def column(type_: str, offset: int, count: int, result: str = "") -> list:
        values = np.frombuffer(data, f"<{type_}", count, start + offset).tolist()
        return summed(values) if result else values

    def revived(value: dict) -> object:
        if "$column" in value:
            return column(*value["$column"])
        if "$texts" in value:
            texts.append(joined(**value["$texts"]))
            return [text.decode() for text in texts[-1]]
        if "$spans" in value:
            spans = value["$spans"]
            known = [*texts[spans["of"]], *(text.encode() for text in spans["more"])]
            pairs = zip(spans["row"], spans["length"], strict=True)
            return [known[row][: length or None].decode() for row, length in pairs]
        return value

    return json.loads(data[4 : 4 + size], object_hook=revived)


def summed(steps: list[int]) -> list[int]:
    """The numbers that a column of steps stands for."""
    changes = [(step - 1) // 2 if step % 2 else -step // 2 for step in steps]
    numbers = accumulate(changes)
    return [number if step else -1 for number, step in zip(numbers, steps, strict=True)]


def joined(shared: list[int], length: list[int], data: list[int]) -> list[bytes]:
    """The texts that were packed without what they share with the text before."""
    found, before, place = [], b"", 0
    for common, rest in zip(shared, length, strict=True):
        before = before[:common] + bytes(data[place : place + rest])
        place += rest
        found.append(before)
    return found


def own_numbers(view: dict, ops: dict, column: str) -> list[int]:
    """The own numbers of the rows of a view, as the page derives them."""
    if column in view["own"]:
        return list(view["own"][column])
    numbers = ops["numbers"][column]
    return [numbers[op] if op >= 0 else 0 for op in view["op"]]


def total_numbers(view: dict, ops: dict, column: str) -> list[int]:
    """The totals of the rows of a view, as the page derives them."""
    if column in view["total"]:
        return list(view["total"][column])
    own = own_numbers(view, ops, column)
    return [sum(own[row:end]) for row, end in enumerate(view["end"])]
