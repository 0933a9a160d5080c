"""Reads pickles as data: nothing in them is imported, called or executed.

A pickle is a program for a stack machine. Only the instructions that make plain values are known
here, and if asked for, those that refer to classes and functions: these become inert symbols, and
their calls become records of what would have been called. All others are refused.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np

# More nested lists than any writer makes.
_MOST_MARKS: Final = 1000
# A longer number is not one of a model.
_MOST_NUMBER_BYTES: Final = 256
# The most values with parts (lists, tables, tuples, calls): one for this many bytes and a few more.
# They take far more memory than their instruction.
_BYTES_PER_PART: Final = 4
_FEW_PARTS: Final = 4096
# Larger numbers as keys are replaced by text, whose hashes cannot be made to collide.
_LARGEST_KEY: Final = 1 << 31


class PickleError(ValueError):
    """A pickle that is damaged, or has instructions that are not known here."""


class Symbol(NamedTuple):
    """The name of a class or function."""

    module: str
    name: str


class Persistent(NamedTuple):
    """A reference to something outside of the pickle, as its writer describes it."""

    about: object


@dataclass(slots=True, eq=False)
class Made:
    """What a call of `maker` with `args` would have returned, with everything added to it since."""

    maker: object
    args: object
    state: object = None
    items: dict[Any, object] = field(default_factory=dict)


class OddKey(NamedTuple):
    """A key of a table that is neither a text nor a small number."""

    number: int


def load(data: bytes, start: int = 0, *, has_symbols: bool = False) -> tuple[object, int]:
    """The value of the pickle at `start`, and where it ends; raises `PickleError`.

    Values are numbers, texts, lists, tuples and tables. Without `has_symbols`, all others are
    refused; with it, there are also the classes of this module.
    """
    machine = _Machine(data, start)
    steps = _ALL_STEPS if has_symbols else _DATA_STEPS
    try:
        while (code := data[machine.at]) != _STOP:
            machine.at += 1
            steps[code](machine)
        return machine.stack.pop(), machine.at + 1
    except (IndexError, struct.error):
        raise PickleError(f"ends early or is damaged at byte {machine.at:,}") from None
    except KeyError:
        raise PickleError(f"has a forbidden instruction at byte {machine.at - 1:,}") from None
    except (TypeError, UnicodeDecodeError):
        raise PickleError(f"is damaged at byte {machine.at - 1:,}") from None


_STOP: Final = ord(".")


class _Machine:
    """The state of the machine; each step reads its own operands."""

    __slots__ = ("_left", "at", "data", "marks", "memo", "stack")

    def __init__(self, data: bytes, start: int) -> None:
        self.data, self.at = data, start
        self.stack: list[Any] = []
        self.marks: list[list[Any]] = []  # the stacks below the last mark
        self.memo: list[Any] = []
        self._left = (len(data) - start) // _BYTES_PER_PART + _FEW_PARTS

    def take(self, size: int) -> bytes:
        end = self.at + size
        if end > len(self.data):
            raise IndexError
        found = self.data[self.at : end]
        self.at = end
        return found

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "little")

    def line(self) -> str:
        end = self.data.index(b"\n", self.at) if b"\n" in self.data[self.at : self.at + 999] else -1
        if end < 0:
            raise IndexError
        found = self.data[self.at : end].decode()
        self.at = end + 1
        return found

    def count_part(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise PickleError("has implausibly many parts for its size")

    def push_part(self, part: object) -> None:
        self.count_part()
        self.stack.append(part)

    def mark(self) -> None:
        if len(self.marks) >= _MOST_MARKS:
            raise PickleError(f"is nested more than {_MOST_MARKS:,} deep")
        self.marks.append(self.stack)
        self.stack = []

    def since_mark(self) -> list[Any]:
        found, self.stack = self.stack, self.marks.pop()
        return found

    def remember(self, number: int) -> None:
        if number == len(self.memo):
            self.memo.append(self.stack[-1])
        else:  # an error if it is larger: writers number values in their order
            self.memo[number] = self.stack[-1]


def _key(value: object, number: int) -> object:
    """A key that takes a constant time to compare, and cannot be chosen to collide with others."""
    if value is None or type(value) in (str, bytes, bool):
        return value
    if type(value) is int:
        return value if abs(value) < _LARGEST_KEY else str(value)
    return OddKey(number)


def _set_items(machine: _Machine, pairs: list[Any]) -> None:
    target = machine.stack[-1]
    items = target.items if type(target) is Made else target
    if type(items) is not dict or len(pairs) % 2:
        raise TypeError
    keys, values = pairs[::2], pairs[1::2]
    if {*map(type, keys)} == {str}:  # the usual case, faster
        items.update(zip(keys, values, strict=True))
        return
    for key, value in zip(keys, values, strict=True):
        items[_key(key, len(items))] = value


def _append(machine: _Machine, values: list[Any]) -> None:
    target = machine.stack[-1]
    if type(target) is list:
        target += values
    elif type(target) is Made:
        target.items.update((OddKey(len(target.items)), value) for value in values)
    else:
        raise TypeError


def _last(machine: _Machine, count: int) -> list[Any]:
    """The last `count` values, taken from the stack."""
    if len(machine.stack) < count:
        raise IndexError
    found = machine.stack[-count:]
    del machine.stack[-count:]
    return found


def _tuple(count: int) -> Callable[[_Machine], None]:
    return lambda machine: machine.push_part(tuple(_last(machine, count)))


def _constant(value: object) -> Callable[[_Machine], None]:
    return lambda machine: machine.stack.append(value)


def _text(width: int) -> Callable[[_Machine], None]:
    def step(machine: _Machine) -> None:
        text = machine.take(machine.number(width)).decode("utf-8", "surrogatepass")
        machine.stack.append(text)

    return step


def _bytes(width: int) -> Callable[[_Machine], None]:
    return lambda machine: machine.stack.append(machine.take(machine.number(width)))


def _old_text(width: int) -> Callable[[_Machine], None]:
    """A text of Python 2, which may also be bytes."""

    def step(machine: _Machine) -> None:
        data = machine.take(machine.number(width))
        try:
            machine.stack.append(data.decode())
        except UnicodeDecodeError:
            machine.stack.append(data)

    return step


def _small_int(machine: _Machine) -> None:
    machine.stack.append(machine.data[machine.at])
    machine.at += 1


def _int(machine: _Machine) -> None:
    machine.stack.append(machine.number(2))


def _signed(machine: _Machine) -> None:
    machine.stack.append(int.from_bytes(machine.take(4), "little", signed=True))


def _long(width: int) -> Callable[[_Machine], None]:
    def step(machine: _Machine) -> None:
        size = machine.number(width)
        if size > _MOST_NUMBER_BYTES:
            raise PickleError(f"has a number of {size:,} bytes")
        machine.stack.append(int.from_bytes(machine.take(size), "little", signed=True))

    return step


def _float(machine: _Machine) -> None:
    machine.stack.append(struct.unpack(">d", machine.take(8))[0])


def _put(width: int) -> Callable[[_Machine], None]:
    return lambda machine: machine.remember(machine.number(width))


def _get(machine: _Machine) -> None:
    machine.stack.append(machine.memo[machine.data[machine.at]])
    machine.at += 1


def _drop(machine: _Machine) -> None:
    machine.stack.pop()


def _drop_to_mark(machine: _Machine) -> None:
    machine.since_mark()


def _get_many(machine: _Machine) -> None:
    """Push the remembered values of this instruction and of all equal ones that follow it.

    Lists of frames, of which memory snapshots consist, are long sequences of them.
    """
    found = _GETS.match(machine.data, machine.at - 1)
    if found is None:
        raise IndexError
    machine.at = found.end()
    memo = machine.memo
    numbers = np.frombuffer(found[0], _GET)["number"].tolist()
    machine.stack += [memo[number] for number in numbers]


_GETS: Final = re.compile(rb"(?:j.{4})+", re.DOTALL)
_GET: Final = np.dtype([("code", "u1"), ("number", "<u4")])


def _memoize(machine: _Machine) -> None:
    machine.memo.append(machine.stack[-1])


def _skip(size: int) -> Callable[[_Machine], None]:
    def step(machine: _Machine) -> None:
        machine.take(size)

    return step


# The instructions that make plain values, by their codes.
_DATA_STEPS: Final[Mapping[int, Callable[[_Machine], None]]] = {
    ord(code): step
    for code, step in {
        "\x80": _skip(1),  # the version
        "\x95": _skip(8),  # a frame
        "(": _Machine.mark,
        "1": _drop_to_mark,
        "0": _drop,
        "2": lambda machine: machine.stack.append(machine.stack[-1]),
        "N": _constant(None),
        "\x88": _constant(True),
        "\x89": _constant(False),
        ")": _constant(()),
        "J": _signed,
        "K": _small_int,
        "M": _int,
        "\x8a": _long(1),
        "\x8b": _long(4),
        "G": _float,
        "X": _text(4),
        "\x8c": _text(1),
        "\x8d": _text(8),
        "B": _bytes(4),
        "C": _bytes(1),
        "\x8e": _bytes(8),
        "\x96": _bytes(8),
        "U": _old_text(1),
        "T": _old_text(4),
        "}": lambda machine: machine.push_part({}),
        "]": lambda machine: machine.push_part([]),
        "t": lambda machine: machine.push_part(tuple(machine.since_mark())),
        "\x85": _tuple(1),
        "\x86": _tuple(2),
        "\x87": _tuple(3),
        "s": lambda machine: _set_items(machine, _last(machine, 2)),
        "u": lambda machine: _set_items(machine, machine.since_mark()),
        "a": lambda machine: _append(machine, _last(machine, 1)),
        "e": lambda machine: _append(machine, machine.since_mark()),
        "q": _put(1),
        "r": _put(4),
        "\x94": _memoize,
        "h": _get,
        "j": _get_many,
    }.items()
}


def _global(machine: _Machine) -> None:
    module, name = machine.line(), machine.line()
    machine.push_part(Symbol(module, name))


def _stack_global(machine: _Machine) -> None:
    module, name = _last(machine, 2)
    if type(module) is not str or type(name) is not str:
        raise TypeError
    machine.push_part(Symbol(module, name))


def _call(machine: _Machine) -> None:
    machine.push_part(Made(*_last(machine, 2)))


def _call_with_names(machine: _Machine) -> None:
    maker, args, _ = _last(machine, 3)
    machine.push_part(Made(maker, args))


def _build(machine: _Machine) -> None:
    """Keep the state of an object; the state of other values, such as tables, is ignored."""
    (state,) = _last(machine, 1)
    if type(machine.stack[-1]) is Made:
        machine.stack[-1].state = state


def _persistent(machine: _Machine) -> None:
    machine.push_part(Persistent(machine.stack.pop()))


_ALL_STEPS: Final[Mapping[int, Callable[[_Machine], None]]] = {
    **_DATA_STEPS,
    **{
        ord(code): step
        for code, step in {
            "c": _global,
            "\x93": _stack_global,
            "R": _call,
            "\x81": _call,  # of a class
            "\x92": _call_with_names,
            "b": _build,
            "Q": _persistent,
            "\x8f": lambda machine: machine.push_part([]),  # a set
            "\x90": lambda machine: _append(machine, machine.since_mark()),
            "\x91": lambda machine: machine.push_part(tuple(machine.since_mark())),  # a frozen set
        }.items()
    },
}
