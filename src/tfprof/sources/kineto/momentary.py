"""Modules that a program creates anew in each step, such as losses: those of a place count as one.

Each of `CrossEntropyLoss()(logits, labels)` is a module of its own in the trace. An average step
would have as many of them as there are steps, each with a part of the time.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import numpy as np

from tfprof.columns import distinct_rows
from tfprof.sources.kineto.interpreted import Interpreted
from tfprof.sources.kineto.model import Model
from tfprof.sources.kineto.scopes import part


def united(found: Interpreted, model: Model) -> tuple[Interpreted, Model]:
    """The trace and its model with one module for those that were created anew in each step."""
    instances = found.calls.instances
    paths, homes, taken = list(model.paths), list(model.homes), set(model.paths)
    first = np.arange(len(instances) + 1)
    first[-1] = -1
    classes: list[str] = []
    for group in _groups(found, model.known):
        kind, caller = instances.class_name[group[0]], instances.parent[group[0]]
        own = f"{paths[caller]}/{part(kind)}" if caller >= 0 else part(kind)
        if own in taken:
            own = paths[group[0]]
        taken.add(own)
        for one in group:
            paths[one] = homes[one] = own
            first[one] = group[0]
        classes.append(kind)
    if not classes:
        return found, model
    owner = replace(found.belonging, instance=first[found.belonging.instance])
    return replace(found, belonging=owner), replace(
        model, paths=paths, homes=homes, momentary=classes
    )


def _groups(found: Interpreted, known: Collection[int]) -> Iterator[list[int]]:
    """The modules of one class and caller that the program created for one call each.

    Those that contain others, and those that are known to be parts of the model, are left out.
    """
    calls, instances = found.calls, found.calls.instances
    rows = np.flatnonzero(calls.module_row == np.arange(len(found.host)))
    step = found.marks.of_time(found.host.start_ns[rows])
    pairs, _ = distinct_rows((calls.instance[rows], step))
    steps = len(np.unique(pairs[:, 1]))
    callers = {*instances.parent}
    places: dict[tuple[int, str], list[tuple[int, int]]] = defaultdict(list)
    for one, in_step in pairs.tolist():
        if one not in callers and one not in known:
            places[instances.parent[one], instances.class_name[one]].append((one, in_step))
    for members in places.values():
        deleted = [one for one in members if instances.name[one[0]] in found.momentary]
        if _are_momentary(deleted, steps):
            yield sorted({one for one, _ in deleted})
        elif _are_anew(members, steps):
            yield sorted({one for one, _ in members})


def _are_momentary(calls: Sequence[tuple[int, int]], steps: int) -> bool:
    """Whether deleted modules, given in which steps they ran, were not those of every step.

    One may run in several steps: a trace takes a module for an earlier one if it has its address.
    """
    modules = {one for one, _ in calls}
    return len(modules) > 1 and len(calls) < len(modules) * steps


def _are_anew(calls: Sequence[tuple[int, int]], steps: int) -> bool:
    """Whether each step has modules of its own, and as many as the others.

    Modules that merely differ between steps do not count: a model may use another one of its
    experts in each step.
    """
    counts = Counter(in_step for _, in_step in calls)
    is_once = len({one for one, _ in calls}) == len(calls)
    return is_once and len(counts) == steps > 1 and len(set(counts.values())) == 1
