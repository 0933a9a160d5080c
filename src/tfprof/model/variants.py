"""Names of ops that differ in more than their names: the same call with other shapes.

The ops of a trace are named by where they run, and in each recording a number is appended to a name
that is taken. So the same name may stand for other shapes in another recording. Signatures show
that: ops with the same name and signature are one op, others get other names.
"""

from __future__ import annotations

import re
from collections import Counter

import numpy as np

from tfprof.columns import Strings
from tfprof.model.ops import Ops

_NUMBER = re.compile(r"#\d+$")


def signature(*parts: object) -> int:
    """A number for what an op does, the same in all processes; never 0."""
    import hashlib  # noqa: PLC0415 -- loads OpenSSL, which only traces need

    text = "\0".join(map(str, parts))
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True) or 1


class SharedNames:
    """The names of the ops of all recordings so far."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, int], list[str]] = {}  # by name without number, and signature
        self._count: dict[str, int] = {}
        self._taken: set[str] = set()

    def get(self, name: str, signature: int, place: int) -> str:
        """The name of the op at `place` among those of a recording with this name and signature.

        A number is appended to a name that is taken.
        """
        found = self._names.setdefault((name, signature), [])
        if place == len(found):
            found.append(self._new(name))
        return found[place]

    def _new(self, name: str) -> str:
        free, number = name, self._count.get(name, 1)
        while free in self._taken:
            number += 1
            free = f"{name}#{number}"
        self._count[name] = number
        self._taken.add(free)
        return free


class FreeNames:
    """Returns each name once for a recording."""

    def __init__(self, shared: SharedNames) -> None:
        self._shared = shared
        self._used: Counter[tuple[str, int]] = Counter()

    def take(self, name: str, signature: int) -> str:
        """A free name for an op with this signature: that of such an op in another recording."""
        place = self._used[name, signature]
        self._used[name, signature] += 1
        return self._shared.get(name, signature, place)


def names_among(ops: Ops, shared: SharedNames) -> Strings:
    """The names of `ops` among those of other recordings, as if all had been read from traces."""
    if not ops.signature.any():
        return ops.name
    old = list(ops.name)
    names = old.copy()
    free = FreeNames(shared)
    signatures, part_of = ops.signature.tolist(), ops.part_of.tolist()
    for row in np.argsort(ops.defined).tolist():  # what contains others comes first
        if not signatures[row]:
            continue
        scope, name = "", old[row]
        if (owner := part_of[row]) >= 0 and name.startswith(f"{old[owner]}/"):
            scope = f"{names[owner]}/"
            name = name[len(old[owner]) + 1 :]
        names[row] = free.take(scope + _NUMBER.sub("", name), signatures[row])
    return ops.name if names == old else Strings(names)
