"""Where modules of PyTorch were called: a module that several others call has a place in each.

A place is a module and the place of its caller. So the modules that a shared module calls have as
many places as it has, and a module that one other module calls has one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate

NOWHERE = -1  # the place of the caller of a call outside of modules
_MOST_DEPTH = 64  # further modules have one place: the paths of hostile files would fill the memory


class ModulePlaces:
    """The places of modules, numbered as they are found, so that callers come first."""

    def __init__(self) -> None:
        self.module: list[int] = []
        self.caller: list[int] = []  # the place of the caller, or `NOWHERE`
        self._known: dict[tuple[int, int], int] = {}
        self._first: dict[int, int] = {}  # the first place of each module

    def called(self, caller: int, module: int) -> int:
        """The place of a module that was called at the place `caller`.

        A module that is called outside of modules, as checkpoints do, has the place where it was
        called first, and one that calls itself the place of the outer call.
        """
        key = (caller, module)
        if key not in self._known:
            found = self._first.get(module, NOWHERE) if caller == NOWHERE else self._around(*key)
            self._known[key] = self._new(caller, module) if found == NOWHERE else found
        return self._known[key]

    def _around(self, place: int, module: int) -> int:
        """The place of the same module around a call, or `NOWHERE` if it is a new one."""
        for _ in range(_MOST_DEPTH):
            if place == NOWHERE or self.module[place] == module:
                return place
            place = self.caller[place]
        return self._first.get(module, NOWHERE)

    def _new(self, caller: int, module: int) -> int:
        place = len(self.module)
        self.module.append(module)
        self.caller.append(caller)
        self._first.setdefault(module, place)
        return place


def paths_of(
    module: Sequence[int],
    caller: Sequence[int],
    own: Sequence[str],
    held: Mapping[int, Sequence[str]],
) -> list[str]:
    """The path of each place: `Net/layers/1/rotary`; callers come first.

    `held` has the paths of modules in the model: the first is where its parameters are, and each of
    the others is an attribute that has the same module. A module with one place has its first path.
    One with several has, below the path of its caller, the name of the attribute by which the
    caller has it, or else its name in `own`.
    """
    attributes = _Attributes(held, {held[one][0] for one in module if one in held})
    places = Counter(module)
    seen: set[int] = set()
    paths: list[str] = []
    for one, above, name in zip(module, caller, own, strict=True):
        around = NOWHERE if above == NOWHERE else module[above]
        # The caller may be no part of the model, such as a wrapper.
        is_home = places[one] == 1 or (one not in seen and around not in held)
        seen.add(one)
        if one in held and is_home:
            paths.append(held[one][0])
        elif above == NOWHERE:
            paths.append(name)
        else:
            paths.append(f"{paths[above]}/{attributes.name(around, one) or name}")
    return paths


class _Attributes:
    """Finds the attributes by which modules have others."""

    def __init__(self, held: Mapping[int, Sequence[str]], called: Collection[str]) -> None:
        """`called` are the first paths of modules that were called."""
        self._held, self._called = held, called

    def name(self, owner: int, module: int) -> str:
        """The shortest path of a module below its owner; empty if it has none.

        The attributes of another module that was called are not those of the owner.
        """
        if owner not in self._held:
            return ""
        start = f"{self._held[owner][0]}/"
        names = [
            path.removeprefix(start)
            for path in self._held.get(module, ())
            if path.startswith(start) and not self._is_of_another(path, start)
        ]
        return min(names, key=lambda name: name.count("/"), default="")

    def _is_of_another(self, path: str, start: str) -> bool:
        """Whether a module that was called is between an owner and the module at `path`."""
        between = path.removeprefix(start).split("/")[:-1]
        above = accumulate(between, "{}/{}".format)
        return any(start + one in self._called for one in above)
