"""The modules of a PyTorch model: their paths, and where they are called."""

from __future__ import annotations

from collections import Counter
from typing import Any, TypeAlias

from tfprof.sources.module_places import NOWHERE, ModulePlaces, paths_of
from tfprof.sources.torch_modules import scope_of

Module: TypeAlias = Any


def module_paths(model: Module) -> list[tuple[Module, tuple[str, ...]]]:
    """Each module once with its dotted paths, outer modules first.

    The first path is that of `named_modules`. Each of the others is another attribute that has the
    same module: below a module that several others have, there is one path only.
    """
    found = [(one, [path]) for path, one in model.named_modules()]
    paths = {id(one): known for one, known in found}
    for one, (path, *_) in found:
        # The public iterators skip what they have already returned.
        for name, part in one._modules.items():  # noqa: SLF001
            inner = f"{path}.{name}" if path else name
            if part is not None and inner not in paths[id(part)]:
                paths[id(part)].append(inner)
    return [(one, tuple(known)) for one, known in found]


class CalledModules:
    """The modules of a model, and the places where they are called."""

    def __init__(self, model: Module) -> None:
        self.root = type(model).__name__
        found = module_paths(model)
        self.classes = [type(one).__name__ for one, _ in found]
        self.paths = [paths[0] for _, paths in found]  # where their parameters are
        self._scopes = [[scope_of(path, self.root) for path in paths] for _, paths in found]
        self._number = {id(one): number for number, (one, _) in enumerate(found)}
        self._places = ModulePlaces()
        self._running: list[int] = []  # innermost last
        self.calls: Counter[int] = Counter()  # of each place

    @property
    def module(self) -> list[int]:
        """The module that was called at each place."""
        return self._places.module

    @property
    def place(self) -> int:
        """Where the innermost module that runs was called, or `NOWHERE`."""
        return self._running[-1] if self._running else NOWHERE

    def enter(self, module: Module) -> None:
        """Note that a module starts; one that was created in a call counts as its caller."""
        place = self.place
        if (number := self._number.get(id(module))) is not None:
            place = self._places.called(place, number)
            self.calls[place] += 1
        self._running.append(place)

    def leave(self) -> int:
        """Note that the innermost module ends; returns its place."""
        return self._running.pop() if self._running else NOWHERE

    def scopes(self) -> list[str]:
        """The scope of each place."""
        counts = Counter(self.classes)
        before: Counter[str] = Counter()
        names = []
        for kind in self.classes:
            names.append(kind if counts[kind] == 1 else f"{kind}_{before[kind]}")
            before[kind] += 1
        own = [names[one] for one in self.module]
        return paths_of(self.module, self._places.caller, own, dict(enumerate(self._scopes)))
