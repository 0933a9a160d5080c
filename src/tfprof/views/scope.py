"""The scope view: ops arranged by the slashes in their names."""

from __future__ import annotations

from collections.abc import Mapping

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
    op_of = {name: op for op, name in enumerate(profile.ops.name)}
    names = [*op_of, *_missing_scopes(op_of)]
    keys = _tree_keys(names)
    order = sorted(range(len(names)), key=keys.__getitem__)
    shown = [names[place] for place in order]
    row_of = {name: row for row, name in enumerate(shown, start=1)}
    parents = [row_of[name.rpartition("/")[0]] if "/" in name else 0 for name in shown]
    ops = [-1, *(op if op < len(op_of) else -1 for op in order)]
    return Arrangement(
        tree=Tree.of_parents([-1, *parents]),
        name=[ROOT_NAME, *shown],
        name_rank=_rank(shown),
        own_types={row: (SCOPE_TYPE,) for row, op in enumerate(ops) if op < 0},
        members=single_members(ops),
    )


def _missing_scopes(op_of: Mapping[str, int]) -> set[str]:
    """The scopes that ops are in and that are no ops."""
    missing: set[str] = set()
    scopes = {name.rpartition("/")[0] for name in op_of if "/" in name}
    while scopes:
        # The scopes of a scope that is an op are among those of ops.
        found = scopes - op_of.keys() - missing
        missing |= found
        scopes = {scope.rpartition("/")[0] for scope in found if "/" in scope}
    return missing


def _tree_keys(names: list[str]) -> list[str] | list[list[str]]:
    """Keys that order a scope before its content, and siblings by name."""
    if any("\0" in name for name in names):
        return [name.split("/") for name in names]
    # Text compares three times as fast as lists, and nothing sorts before this letter.
    return [name.replace("/", "\0") for name in names]


def _rank(shown: list[str]) -> Ints:
    """The place in byte order of each row's name, the root's first."""
    rank = np.empty(len(shown) + 1, np.int64)
    rank[0] = 0
    rank[ints(sorted(range(len(shown)), key=shown.__getitem__)) + 1] = np.arange(1, len(rank))
    return rank
