"""Finds the attribute paths of modules: `blocks.0.attn.qkv` for `Linear_0`.

A trace has the class of each module and a number. Where the names and shapes of the parameters are
known, the modules that were called are matched to them: a module has a parameter if one of its ops
has an input of that shape, and modules are called in the order in which they were defined, at least
those with the same shapes. A match counts only if all parameters have a module, and the modules
inside a module are those inside its path.

Some files list parameters in the order of their names. Then modules of one module whose parameters
have the same shapes keep their class names, unless they are numbered: any of them could be any.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tfprof.sources.kineto.python_calls import Instances

Shape: TypeAlias = tuple[int, ...]
Path: TypeAlias = tuple[str, ...]

_SEQUENCE = "Sequential"


@dataclass(frozen=True, slots=True, eq=False)
class Called:
    """The modules that were called, and the shapes of the inputs of their own ops."""

    instances: Instances
    inputs: Sequence[Sequence[Counter[Shape]]]  # of each op of each instance


@dataclass(frozen=True, slots=True)
class AttributePaths:
    """The instance that is the whole model, and the path of each instance inside it.

    The path is None for instances outside of the model, and for those that are unknown.
    """

    root: int
    path: list[Path | None]
    twins: int = 0  # instances that could be exchanged with another one


def matched(called: Called, parameters: Mapping[str, Shape]) -> AttributePaths | None:
    """The paths of the modules, or None if parameters and modules do not match."""
    is_sorted = len(parameters) > 1 and list(parameters) == sorted(parameters)
    owned: dict[Path, Counter[Shape]] = {}
    for name in sorted(parameters, key=_natural) if is_sorted else parameters:
        shape = parameters[name]
        if shape:  # scalars, such as counters, have no characteristic shape
            owned.setdefault(tuple(name.split(".")[:-1]), Counter())[shape] += 1
    for shapes in (owned, _with_uncalled(called, owned)):
        for pairs in _pairings(called, shapes):
            if found := _inside(called.instances, pairs):
                return _without_twins(found, pairs, shapes) if is_sorted else found
    return None


def _pairings(called: Called, owned: Mapping[Path, Counter[Shape]]) -> Iterator[dict[int, Path]]:
    """The modules that may have the parameters of each path; the most likely ones first."""
    fits = _fitting(called, owned)
    leaves = set(range(len(called.instances))) - set(called.instances.parent)
    for pairs in (_in_order(fits), _by_shapes(owned, fits, leaves)):
        if pairs:
            yield pairs


def _natural(name: str) -> list[tuple[int, str]]:
    """A key that sorts numbers in names by value: `blocks.2` before `blocks.10`."""
    parts = name.split(".")
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]


def _without_twins(
    found: AttributePaths, pairs: Mapping[int, Path], owned: Mapping[Path, Counter[Shape]]
) -> AttributePaths:
    """The paths without those of modules that could be exchanged with another one beside them."""
    beside = Counter((path[:-1], frozenset(owned[path].items())) for path in pairs.values())
    paths, twins = list(found.path), 0
    for row, path in pairs.items():
        count = beside[path[:-1], frozenset(owned[path].items())]
        if count > 1 and not path[-1].isdecimal():
            paths[row] = None
            twins += 1
    return AttributePaths(found.root, paths, twins)


def stated(instances: Instances, calls: Sequence[tuple[str, str]]) -> AttributePaths | None:
    """The paths of the modules from the class and path of each, in the order of first calls."""
    if [name for name, _ in calls[: len(instances)]] != instances.class_name:
        return None
    paths = [tuple(path.split(".")) if path else () for _, path in calls]
    roots = [row for row, path in enumerate(paths[: len(instances)]) if not path]
    return AttributePaths(roots[0], list(paths[: len(instances)])) if roots else None


def _fitting(called: Called, owned: Mapping[Path, Counter[Shape]]) -> dict[Path, list[int]]:
    """The modules that can have the parameters of each path, in the order of first calls."""
    having: dict[Shape, set[int]] = {}
    for row, ops in enumerate(called.inputs):
        for inputs in ops:
            for shape in inputs:
                having.setdefault(shape, set()).add(row)
    fits: dict[Path, list[int]] = {}
    for path, shapes in owned.items():
        rows = set.intersection(*(having.get(shape, set()) for shape in shapes))
        fits[path] = [row for row in sorted(rows) if _has(called.inputs[row], shapes)]
    return fits


def _with_uncalled(
    called: Called, owned: Mapping[Path, Counter[Shape]]
) -> dict[Path, Counter[Shape]]:
    """The parameters of each path, with those of a module inside it that is not called.

    `MultiheadAttention` uses the weight of its module `out_proj`, but does not call it.
    """
    inner = [path for path in owned if path and path[:-1] in owned]
    fits = _fitting(called, {path: owned[path[:-1]] + owned[path] for path in inner})
    merged = {path: Counter(shapes) for path, shapes in owned.items()}
    for path in sorted(inner, key=len, reverse=True):
        if fits[path]:
            merged[path[:-1]] += merged.pop(path)
    return merged


def _has(ops: Sequence[Counter[Shape]], shapes: Counter[Shape]) -> bool:
    """Whether an op has inputs of these shapes, or several ops together."""
    if any(shapes <= inputs for inputs in ops):
        return True
    single = Counter(dict.fromkeys(shapes, 1))
    return len(shapes) > 1 and shapes == single and shapes <= sum(ops, Counter())


def _in_order(fits: Mapping[Path, Sequence[int]]) -> dict[int, Path] | None:
    """Each path with the first module that fits after that of the path before."""
    pairs: dict[int, Path] = {}
    last = -1
    for path, rows in fits.items():
        last = next((row for row in rows if row > last), -1)
        if last < 0:
            return None
        pairs[last] = path
    return pairs


def _by_shapes(
    owned: Mapping[Path, Counter[Shape]], fits: Mapping[Path, Sequence[int]], leaves: set[int]
) -> dict[int, Path] | None:
    """Paths whose parameters have the same shapes, with as many modules that fit, in order.

    Modules that are taken fit no other paths. Where still more modules fit, only `leaves` count,
    which call no others: these have most parameters.
    """
    groups: dict[frozenset[tuple[Shape, int]], list[Path]] = {}
    for path, shapes in owned.items():
        groups.setdefault(frozenset(shapes.items()), []).append(path)
    pairs: dict[int, Path] = {}
    pending = list(groups.values())
    while pending:
        for candidates in (set(range(_count(fits))), leaves):
            group, rows = _settled(pending, fits, candidates - pairs.keys())
            if group:
                break
        else:
            return None
        pairs |= dict(zip(rows, group, strict=True))
        pending.remove(group)
    return pairs


def _count(fits: Mapping[Path, Sequence[int]]) -> int:
    return max((row for rows in fits.values() for row in rows), default=-1) + 1


def _settled(
    groups: Sequence[list[Path]], fits: Mapping[Path, Sequence[int]], candidates: set[int]
) -> tuple[list[Path], list[int]]:
    """A group of paths with as many candidates that fit, and these; empty if there is none."""
    for group in groups:
        rows = [row for row in fits[group[0]] if row in candidates]
        if len(rows) == len(group):
            return group, rows
    return [], []


def _inside(instances: Instances, pairs: Mapping[int, Path]) -> AttributePaths | None:
    """The paths of all modules, from those that have parameters; None if they contradict."""
    within: list[list[Path]] = [[] for _ in range(len(instances))]
    for own, path in pairs.items():
        row = own
        while row >= 0:
            within[row].append(path)
            row = instances.parent[row]
    # Wrappers around the model also contain all of it, so the innermost module is the model.
    root = -1
    for row in range(len(instances)):
        if len(within[row]) == len(pairs) and not pairs.get(row, ()):
            root = row if root < 0 or instances.parent[row] == root else root
    if root < 0:
        return None
    paths: list[Path | None] = [None] * len(instances)
    paths[root] = ()
    owners = set(pairs.values())
    below = Counter(path[:end] for path in owners for end in range(len(path) + 1))
    for row in _below(instances, root):
        found, above = pairs.get(row), paths[instances.parent[row]]
        if found is None and within[row] and above is not None:
            kind = instances.class_name[row]
            found = _shortest(_in_common(within[row]), above, below, kind)
        if found is not None and not _contains_exactly(found, within[row], below):
            return None
        paths[row] = found
    return AttributePaths(root, paths)


def _in_common(within: Sequence[Path]) -> Path:
    """What the paths inside a module have in common; the module is none of them."""
    first, last = min(within), max(within)
    same = 0
    while same < min(len(first), len(last)) and first[same] == last[same]:
        same += 1
    return first[:same] if first[:same] not in within else first[: same - 1]


def _shortest(common: Path, above: Path, below: Counter[Path], class_name: str) -> Path | None:
    """The path of a module that is called by the one at `above`; None if there is none for it.

    It is the shortest with the same parameters below it as `common`, because modules are mostly
    attributes of the module that calls them. A list of modules is not called, so a number follows
    its name. The modules in a sequence are numbered.
    """
    if len(common) <= len(above) or common[: len(above)] != above:
        return None
    end = len(above) + 1
    while below[common[:end]] != below[common]:
        end += 1
    if _SEQUENCE not in class_name:
        is_list = end < len(common) and common[end].isdecimal()
        return common[: end + is_list]
    while end < len(common) and not common[end].isdecimal():
        end += 1
    return common[:end]


def _contains_exactly(path: Path, within: Sequence[Path], below: Counter[Path]) -> bool:
    """Whether the modules with parameters below a path are those inside the module."""
    inside = {one for one in within if one[: len(path)] == path}
    return len(inside) == len(set(within)) == below[path]


def _below(instances: Instances, root: int) -> list[int]:
    """The instances inside `root`, each after the one that called it."""
    children: dict[int, list[int]] = {}
    for row, parent in enumerate(instances.parent):
        children.setdefault(parent, []).append(row)
    found: list[int] = []
    pending = [root]
    while pending:
        inner = children.get(pending.pop(), [])
        found += inner
        pending += inner
    return found
