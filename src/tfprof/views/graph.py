"""The graph view: ops arranged by what feeds them, from the outputs down."""

from __future__ import annotations

import numpy as np

from tfprof.columns import Strings
from tfprof.kernels import trees
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
    inputs = profile.ops.inputs
    tops = np.flatnonzero(~profile.ops.is_source())
    ops, ends = trees.search(inputs.offsets, inputs.source, tops)
    return Arrangement(
        tree=Tree(ends),
        name=Strings.joined([Strings([ROOT_NAME]), profile.ops.name.take(ops[1:])]),
        members=single_members(ops),
        own_type=ROOT_TYPE,
        name_rank=ops,  # ops are in name order
    )
