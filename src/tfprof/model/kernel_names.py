"""The names of kernels: whole ones as in the source, and short ones that tell kernels apart."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

# Names beyond this many characters together stay mangled; real programs have a few thousand.
_MOST_DECODED = 1 << 22
# Names are not compared more deeply: arguments of templates inside others.
_MOST_DEPTH = 6
_MOST_PARTS = 64

_QUALIFIERS = re.compile(r"^(?:void|static|__global__|at::native::|\s)+")
_PIECE = re.compile(r"->|operator\(\)|[<>(-]|o|[^<>(o-]+")


def short_kernel(name: str) -> str:
    """The name of a kernel without its return type and its arguments."""
    plain = name.replace("(anonymous namespace)::", "")
    outside: list[str] = []  # what is not in the arguments of templates
    depth = 0
    for piece in _PIECE.findall(plain):
        if piece == "(" and not depth:
            # In front of it may be a return type such as `std::enable_if<…>::type`.
            outside = "".join(outside).split()[-1:]
            break
        if piece in "<>":
            depth = max(depth + (1 if piece == "<" else -1), 0)
        elif not depth:
            outside.append(piece)
    return _QUALIFIERS.sub("", "".join(outside)).strip() or plain


def readable(names: Iterable[str]) -> list[str]:
    """The names as in the source; those that are not mangled, or not understood, stay the same."""
    from tfprof.model.demangling import demangled  # noqa: PLC0415 -- loading a trace needs no names

    left = _MOST_DECODED
    found: list[str] = []
    for name in names:
        left -= len(name) if name.startswith("_Z") else 0
        found.append(demangled(name) if left >= 0 else name)
    return found


def short_kernels(names: Collection[str]) -> dict[str, str]:
    """A short name for each of `names`, which are distinct; the short names are, too.

    Names that differ only in arguments of templates keep the ones that tell them apart.
    """
    told_apart = _told_apart(list(names), 0)
    counts = Counter(told_apart.values())
    found = {name: short if counts[short := told_apart[name]] == 1 else name for name in names}
    return found if len(set(found.values())) == len(found) else {name: name for name in names}


def _told_apart(names: Sequence[str], depth: int) -> dict[str, str]:
    groups: dict[str, list[str]] = {}
    for name in names:
        # A lambda has no arguments that could be left out.
        groups.setdefault(name if name.startswith("{") else short_kernel(name), []).append(name)
    found: dict[str, str] = {}
    for short, group in groups.items():
        if len(group) == 1:
            found[group[0]] = short
        elif depth == _MOST_DEPTH:
            found |= {name: name for name in group}
        else:
            found |= _with_arguments(short, group, depth)
    return found


def _with_arguments(short: str, names: Sequence[str], depth: int) -> dict[str, str]:
    """The names with the arguments that tell them apart; several may be needed."""
    parts = [_parts(name) for name in names]
    width = max(map(len, parts))
    columns = [[part[at] if at < len(part) else "" for part in parts] for at in range(width)]
    # The column with the most values first, and of several that with the shortest ones.
    order = sorted(range(width), key=lambda at: (-len(set(columns[at])), len("".join(columns[at]))))
    chosen: list[int] = []
    rows = [""] * len(names)  # what was chosen so far, for each name
    different = 1
    for at in order:
        both = [f"{row}\0{text}" for row, text in zip(rows, columns[at], strict=True)]
        if (count := len(set(both))) > different:
            chosen, rows, different = [*chosen, at], both, count
    shown = {at: _told_apart(list(dict.fromkeys(columns[at])), depth + 1) for at in chosen}
    return {
        name: f"{short}<{', '.join(shown[at][columns[at][row]] for at in sorted(chosen))}>"
        for row, name in enumerate(names)
    }


_BRACKETS = {"<": ">", "(": ")", "{": "}", "[": "]"}
_TOKEN = re.compile(
    r"->|operator\s*(?:\(\)|[<>=]+)|[<>(){}\[\],]|::|[^<>(){}\[\],:o-]+|.", re.DOTALL
)


class _Open(NamedTuple):
    """A bracket that is not closed yet."""

    closing: str
    start: int


def _parts(name: str) -> list[str]:
    """What may tell names of the same function apart.

    These are the arguments of templates, then what follows the parameters, such as a lambda in the
    function, and at last the parameters themselves.
    """
    arguments: list[str] = []
    parameters: list[str] = []
    following: list[str] = []
    stack: list[_Open] = []
    start = 0
    for found in _TOKEN.finditer(name):
        mark = found[0]
        if mark in _BRACKETS:
            if not stack and mark == "{":
                start = found.start()
            elif not stack:
                start = found.end()
            stack.append(_Open(_BRACKETS[mark], start))
        elif stack and mark == stack[-1].closing:
            closed = stack.pop()
            if not stack:
                target = {">": arguments, "}": following}.get(closed.closing, parameters)
                end = found.end() if closed.closing == "}" else found.start()
                target.append(name[start:end].strip())
        elif mark == "," and len(stack) == 1 and stack[0].closing == ">":
            arguments.append(name[start : found.start()].strip())
            start = found.end()
    return [*arguments, *following, *parameters][:_MOST_PARTS]
