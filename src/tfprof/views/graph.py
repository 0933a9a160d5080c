"""The graph view: ops arranged by what feeds them, from the outputs down."""

from __future__ import annotations

import numpy as np

from tfprof.columns import ints
from tfprof.memo import remembered
from tfprof.model.profile import Profile
from tfprof.options import Options
from tfprof.views.accounting import account_single
from tfprof.views.select import Arrangement, Policy, select
from tfprof.views.tree import Tree
from tfprof.views.view import ROOT_NAME, View, single_members

ROOT_TYPE = "_TFGraphParent"

_POLICY = Policy(unaccounted_vanish=True)


def build(profile: Profile, options: Options) -> View:
    """Arrange `profile` by its edges, accounting and showing what `options` asks for."""
    arrangement = arrange(profile)
    accounts = account_single(profile, options, arrangement)
    return select(
        "graph", profile, options, arrangement=arrangement, accounts=accounts, policy=_POLICY
    )


@remembered
def arrange(profile: Profile) -> Arrangement:
    """Every op under the first op that was found to take it as an input.

    The search goes depth first from the ops that feed nobody, in name order; what only feeds
    itself in a circle is never found.
    """
    ops, parents = _search(profile)
    names = profile.ops.name
    return Arrangement(
        tree=Tree.of_parents(parents),
        name=[ROOT_NAME, *(names[op] for op in ops[1:])],
        name_rank=ints(ops) + 1,  # ops are in name order
        own_types={0: (ROOT_TYPE,)},
        members=single_members(ops),
    )


def _search(profile: Profile) -> tuple[list[int], list[int]]:
    """The op of each row (-1 for the root), and the row above it."""
    offsets = profile.ops.inputs.offsets.tolist()
    sources = profile.ops.inputs.source.tolist()
    is_found = [False] * len(profile.ops)
    ops, parents = [-1], [-1]
    for top in np.flatnonzero(~profile.ops.is_source()).tolist():
        # Each entry is an op's row and the edges of it that are still to be followed.
        is_found[top] = True
        ops.append(top)
        parents.append(0)
        path = [(len(ops) - 1, iter(sources[offsets[top] : offsets[top + 1]]))]
        while path:
            row, edges = path[-1]
            for source in edges:
                if source >= 0 and not is_found[source]:
                    is_found[source] = True
                    ops.append(source)
                    parents.append(row)
                    path.append(
                        (len(ops) - 1, iter(sources[offsets[source] : offsets[source + 1]]))
                    )
                    break
            else:
                path.pop()
    return ops, parents
