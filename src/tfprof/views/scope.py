"""The scope view: ops arranged by the slashes in their names."""

from __future__ import annotations

import numpy as np

from tfprof.columns import Ints, ints
from tfprof.memo import remembered
from tfprof.model.profile import Profile
from tfprof.options import Options
from tfprof.views.accounting import account_single
from tfprof.views.select import Arrangement, Policy, select
from tfprof.views.tree import Tree
from tfprof.views.view import ROOT_NAME, View, single_members

SCOPE_TYPE = "_kTFScopeParent"


def build(profile: Profile, options: Options) -> View:
    """Arrange `profile` by name scope, accounting and showing what `options` asks for."""
    arrangement = arrange(profile)
    accounts = account_single(profile, options, arrangement)
    return select(
        "scope", profile, options, arrangement=arrangement, accounts=accounts, policy=Policy()
    )


@remembered
def arrange(profile: Profile) -> Arrangement:
    """Every op under its scope; a scope that is no op itself gets a row of its own."""
    names = list(profile.ops.name)
    op_of = {name: op for op, name in enumerate(names)}
    names += _missing_scopes(names, op_of)
    order = sorted(range(len(names)), key=_tree_keys(names).__getitem__)
    shown = [names[place] for place in order]
    row_of = {name: row for row, name in enumerate(shown, start=1)}
    parents = [-1, *(row_of.get(_scope_of(name), 0) if "/" in name else 0 for name in shown)]
    ops = [op_of.get(name, -1) for name in shown]
    return Arrangement(
        tree=Tree.of_parents(parents),
        name=[ROOT_NAME, *shown],
        name_rank=_rank(names, order),
        own_types={0: (SCOPE_TYPE,)}
        | {row: (SCOPE_TYPE,) for row, op in enumerate(ops, start=1) if op < 0},
        members=single_members([-1, *ops]),
    )


def _tree_keys(names: list[str]) -> list[str] | list[list[str]]:
    """Keys that order a scope before its content, and siblings by name."""
    if any("\0" in name for name in names):
        return [name.split("/") for name in names]
    # Text compares three times as fast as lists, and nothing sorts before this letter.
    return [name.replace("/", "\0") for name in names]


def _scope_of(name: str) -> str:
    return name[: name.rindex("/")]


def _missing_scopes(names: list[str], op_of: dict[str, int]) -> list[str]:
    """The scopes that ops are in and that are no ops, each once."""
    missing: dict[str, None] = {}
    for name in names:
        scope = name
        while "/" in scope:
            scope = _scope_of(scope)
            if scope in missing or scope in op_of:
                # Its own scopes are dealt with by its first mention, or when its op comes.
                break
            missing[scope] = None
    return list(missing)


def _rank(names: list[str], order: list[int]) -> Ints:
    """The place in byte order of each row's name, the root's first."""
    rank = np.empty(len(names) + 1, np.int64)
    by_name = sorted(range(len(order)), key=[names[place] for place in order].__getitem__)
    rank[0] = 0
    rank[ints(by_name) + 1] = np.arange(1, len(names) + 1)
    return rank
