"""Finds the attribute paths of modules: `blocks.0.attn.qkv` for `Linear_0`.

A trace has the class of each module and a number. Where the names and shapes of the parameters are
known, the modules that were called are matched to them. A match counts only if all parameters have
a module, except for those that no op takes, and if modules contain each other as their paths do.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from tfprof.sources.kineto.attribute_tree import AttributeTree, Path, Shape
from tfprof.sources.kineto.module_calls import Called
from tfprof.sources.kineto.module_matching import Matcher
from tfprof.sources.kineto.python_calls import Instances

_MOST_ABOVE = 5  # levels of a part that was not used, from the parameters that no op takes


@dataclass(frozen=True, slots=True)
class AttributePaths:
    """The instance that is the whole model, and the path of each instance inside it.

    The path is None for instances outside of the model, and for those that are unknown.
    """

    root: int
    path: list[Path | None]
    twins: int = 0  # instances that could be exchanged with another one
    in_order: int = 0  # instances that only the order of the calls tells apart
    unused: Sequence[Path] = ()  # parts of the model and parameters that seem unused


def matched(
    called: Called, parameters: Mapping[str, Shape], *, is_in_order: bool = True
) -> AttributePaths | None:
    """The paths of the modules, or None if parameters and modules do not match.

    `is_in_order` says whether the parameters are in the order of their definition.
    """
    tree = AttributeTree.of(parameters)
    if tree is None:
        return None
    matcher = Matcher(called, tree, is_in_order=is_in_order)
    costs = {row: matcher.cost(row, tree.root) for row in range(len(called.instances))}
    # Wrappers around the model also contain all of it, so of the likeliest ones the innermost.
    roots = [(cost, -called.depth[row], row) for row, cost in costs.items() if cost is not None]
    found = matcher.matched(min(roots)[-1]) if roots else None
    if found is None:
        return None
    paths = [found.path.get(row) for row in range(len(called.instances))]
    return AttributePaths(min(roots)[-1], paths, found.twins, found.in_order)


def matched_without_unused(
    called: Called, parameters: Mapping[str, Shape], *, is_in_order: bool = True
) -> AttributePaths | None:
    """The paths of the modules if parts of the model were not used, such as auxiliary outputs.

    These are the smallest parts around parameters whose shapes no op takes, without which the model
    matches. They have at most half of its parameters.
    """
    if AttributeTree.of(parameters) is None:
        return None
    paths = {name: tuple(name.split(".")) for name in parameters}
    taken = frozenset[Shape]().union(*called.own)
    missing = [paths[name] for name, shape in parameters.items() if shape and shape not in taken]
    for above in range(_MOST_ABOVE if missing else 0):
        around = {path[: max(1, len(path) - above)] for path in missing}
        unused = {path for path in around if not _is_in(path[:-1], around)}
        rest = {name: parameters[name] for name, path in paths.items() if not _is_in(path, unused)}
        if 2 * len(rest) < len(parameters):
            return None
        if found := matched(called, rest, is_in_order=is_in_order):
            return replace(found, unused=sorted(unused))
    return None


def _is_in(path: Path, parts: Collection[Path]) -> bool:
    return any(path[: end + 1] in parts for end in range(len(path)))


def stated(instances: Instances, calls: Sequence[tuple[str, str]]) -> AttributePaths | None:
    """The paths of the modules from the class and path of each, in the order of first calls."""
    if [name for name, _ in calls[: len(instances)]] != instances.class_name:
        return None
    paths = [tuple(path.split(".")) if path else () for _, path in calls]
    roots = [row for row, path in enumerate(paths[: len(instances)]) if not path]
    return AttributePaths(roots[0], list(paths[: len(instances)])) if roots else None
