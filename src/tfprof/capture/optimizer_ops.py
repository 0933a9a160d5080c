"""Finds the ops of optimizers by the variables that they use.

A Keras optimizer consists of ordinary ops in a scope with the optimizer's name. A layer may have
the same name, but only the optimizer uses the optimizer's own variables there.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from collections.abc import Set as AbstractSet


def find(
    names: Sequence[str],
    sources: Sequence[Sequence[str]],
    variables: AbstractSet[str],
    optimizers: Collection[str],
) -> set[int]:
    """The rows of ops that belong to an optimizer.

    `sources` has the names of the inputs of each op, `variables` are the variables of optimizers,
    and `optimizers` the names of the optimizers themselves.
    """
    users = {row for row, inputs in enumerate(sources) if not variables.isdisjoint(inputs)}
    scopes = _scopes([names[row] for row in users], optimizers)
    found = users | {row for row, name in enumerate(names) if name.startswith(scopes)}
    return found | _between(names, sources, users, found)


def _scopes(users: Sequence[str], optimizers: Collection[str]) -> tuple[str, ...]:
    """The scopes of these ops that are named after an optimizer, with a slash at the end."""
    names = "|".join(map(re.escape, optimizers))
    scope = re.compile(rf"(?:.*?/)??(?:{names})(?:_\d+)?/")
    matches = [scope.match(user) for user in users] if optimizers else []
    return tuple({match[0] for match in matches if match})


def _between(
    names: Sequence[str], sources: Sequence[Sequence[str]], users: set[int], found: set[int]
) -> set[int]:
    """The ops between a read of an optimizer's variable and an update, such as a count plus one."""
    reads = {names[row] for row in users}
    read_by_found = {source for row in found for source in sources[row]}
    return {
        row
        for row, inputs in enumerate(sources)
        if names[row] in read_by_found and not reads.isdisjoint(inputs)
    }
