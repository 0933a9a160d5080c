"""What a mangled name consists of: the codes of types and operators, and references to parts of it.

`demangling` has the rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import NamedTuple

MOST_TEXT = 1 << 14  # characters of one part
_MOST_WORK = 1 << 17  # characters of all parts together
_MOST_DEPTH = 64

_DIGITS = re.compile(r"[0-9]{1,5}", re.ASCII)
DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
ANONYMOUS = "_GLOBAL__N_"

BUILTIN = {
    "v": "void",
    "w": "wchar_t",
    "b": "bool",
    "c": "char",
    "a": "signed char",
    "h": "unsigned char",
    "s": "short",
    "t": "unsigned short",
    "i": "int",
    "j": "unsigned int",
    "l": "long",
    "m": "unsigned long",
    "x": "long long",
    "y": "unsigned long long",
    "n": "__int128",
    "o": "unsigned __int128",
    "f": "float",
    "d": "double",
    "e": "long double",
    "g": "__float128",
    "z": "...",
}
BUILTIN_D = {
    "Dn": "decltype(nullptr)",
    "Dh": "_Float16",
    "Di": "char32_t",
    "Ds": "char16_t",
    "Du": "char8_t",
    "Da": "auto",
    "Dc": "decltype(auto)",
}
STD = {
    "St": "std",
    "Sa": "std::allocator",
    "Sb": "std::basic_string",
    "Ss": "std::string",
    "Si": "std::istream",
    "So": "std::ostream",
    "Sd": "std::iostream",
}
SUFFIXES = {"i": "", "j": "u", "l": "l", "m": "ul", "x": "ll", "y": "ull"}
OPERATORS = {
    "nw": " new",
    "dl": " delete",
    "ps": "+",
    "ng": "-",
    "ad": "&",
    "de": "*",
    "co": "~",
    "pl": "+",
    "mi": "-",
    "ml": "*",
    "dv": "/",
    "rm": "%",
    "an": "&",
    "or": "|",
    "eo": "^",
    "aS": "=",
    "pL": "+=",
    "mI": "-=",
    "mL": "*=",
    "dV": "/=",
    "ls": "<<",
    "rs": ">>",
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "gt": ">",
    "le": "<=",
    "ge": ">=",
    "nt": "!",
    "aa": "&&",
    "oo": "||",
    "pp": "++",
    "mm": "--",
    "cm": ",",
    "pt": "->",
    "cl": "()",
    "ix": "[]",
}


class UnknownError(Exception):
    """The name has a construct that is not known, or is none."""


class Type(NamedTuple):
    """A type, with the place in the middle where a name or a `*` would be written."""

    before: str
    after: str = ""

    @property
    def text(self) -> str:
        return f"{self.before}{self.after}"


class Pack(str):
    """Any number of arguments."""

    __slots__ = ()


@dataclass(slots=True)
class _Known:
    """What a name may refer to again.

    A parameter of a template means another type in another function, so a type with parameters is
    read again there.
    """

    found: Type
    is_settled: bool = False
    arguments: list[str] | None = None  # of the function, if it has parameters
    start: int = -1  # where it can be read again, if it can


class MangledName:
    """A name that is read from left to right, and what its parts may refer to."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.at = 2  # after `_Z`
        self.known: list[_Known] = []
        self.arguments: list[str] = []  # of the template of the function
        self.parameters_read = 0
        self.is_repeated = False  # it is read again
        self.depth = self.work = 0

    # What every rule needs.

    def starts(self, text: str) -> bool:
        return self.name.startswith(text, self.at)

    def skip(self, text: str) -> bool:
        """Skip a text if it is next; whether it was."""
        if not self.starts(text):
            return False
        self.at += len(text)
        return True

    def require(self, text: str) -> None:
        if not self.skip(text):
            raise UnknownError

    def made(self, text: str) -> str:
        """A text that was put together, within the limits."""
        self.work += len(text)
        if len(text) > MOST_TEXT or self.work > _MOST_WORK:
            raise UnknownError
        return text

    def remember(self, found: Type) -> Type:
        """A type that may be referred to from here on."""
        self.made(found.text)
        if not self.is_repeated:
            self.known.append(_Known(found))
        return found

    def settle(self, first: int, start: int, *, has_parameters: bool) -> None:
        """Note whether what became known since `first` is the same in other functions.

        It belongs to the type that begins at `start`.
        """
        new = [known for known in self.known[first:] if not known.is_settled]
        for known in new:
            known.is_settled = True
            known.arguments = self.arguments if has_parameters else None
        if new:
            new[-1].start = start

    @contextmanager
    def deeper(self) -> Iterator[None]:
        """A part inside another one, if it is not nested too deeply."""
        self.depth += 1
        if self.depth > _MOST_DEPTH:
            raise UnknownError
        yield
        self.depth -= 1

    def number(self) -> int:
        found = _DIGITS.match(self.name, self.at)
        if found is None:
            raise UnknownError
        self.at = found.end()
        return int(found[0])

    def index(self, base: int = 10) -> int:
        """The number in front of an underscore: 0 if there is none, else one more."""
        end = self.name.find("_", self.at, self.at + 5)
        if end < 0:
            raise UnknownError
        digits, self.at = self.name[self.at : end], end + 1
        if not digits:
            return 0
        if any(digit not in DIGITS[:base] for digit in digits):
            raise UnknownError
        return int(digits, base) + 1
