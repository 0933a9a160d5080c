"""Reads pprof files for tests: samples by the names of their frames."""

from __future__ import annotations

import gzip
from typing import NamedTuple

from tfprof.formats.wire import SPAN, fields, signed, varint


class Sample(NamedTuple):
    """Functions and lines, outermost first; values by sample type; labels."""

    stack: tuple[str, ...]
    values: dict[str, int]
    labels: dict[str, str]


class PprofFile:
    """The content of a pprof file."""

    def __init__(self, data: bytes) -> None:
        self.data = gzip.decompress(data)
        top = [(number, self._value(self.data, *rest)) for number, *rest in fields(self.data)]
        self.strings = [value.decode() for number, value in top if number == 6]
        assert self.strings[0] == ""
        self.functions = {f[1]: f for f in self._messages(top, 5)}
        self.locations = {place[1]: self._message(place[4]) for place in self._messages(top, 4)}
        types = [(self.strings[t[1]], self.strings[t[2]]) for t in self._messages(top, 1)]
        self.units = dict(types)
        comments = b"".join(value for number, value in top if number == 13)
        self.comments = [self.strings[value] for value in packed(comments)]
        self.default = [self.strings[value] for number, value in top if number == 14]
        self.samples = [self._sample(m) for m in self._messages(top, 2)]

    def total(self, name: str) -> int:
        """The sum of one value over all samples."""
        return sum(sample.values[name] for sample in self.samples)

    def weights(self, name: str) -> dict[tuple[str, ...], int]:
        """One value per stack, summed over the samples with that stack."""
        found: dict[tuple[str, ...], int] = {}
        for sample in self.samples:
            found[sample.stack] = found.get(sample.stack, 0) + sample.values[name]
        return found

    def _sample(self, message) -> Sample:
        values = [signed(value) for value in packed(message[2])]
        label = self._message(message[3]) if 3 in message else {}
        return Sample(
            tuple(self._frame(place) for place in reversed(packed(message.get(1, b"")))),
            dict(zip(self.units, values, strict=True)),
            {self.strings[label[1]]: self.strings[label[2]]} if label else {},
        )

    def _frame(self, location: int) -> str:
        line = self.locations[location]
        function = self.functions[line[1]]
        return self.strings[function[2]] + (f":{line[2]}" if line.get(2) else "")

    def _messages(self, top, number):
        return [self._message(value) for found, value in top if found == number]

    def _message(self, data: bytes):
        return {number: self._value(data, *rest) for number, *rest in fields(data)}

    @staticmethod
    def _value(data: bytes, kind: int, start: int, end: int):
        return data[start:end] if kind == SPAN else start


def packed(data: bytes) -> list[int]:
    """The numbers of a packed list."""
    values, at = [], 0
    while at < len(data):
        value, at = varint(data, at)
        values.append(value)
    return values
