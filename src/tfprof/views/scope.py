"""The scope view: ops arranged by the slashes in their names."""

from __future__ import annotations

import numpy as np

from tfprof.columns import Ints, Strings
from tfprof.memo import remembered
from tfprof.model.profile import ProfileColumns
from tfprof.options import Options
from tfprof.views.accounting import account_single
from tfprof.views.select import Arrangement, select
from tfprof.views.tree import Tree
from tfprof.views.view import ROOT_NAME, View, single_members

SCOPE_TYPE = "_kTFScopeParent"


def build(profile: ProfileColumns, options: Options, only: Ints | None = None) -> View:
    """Arrange `profile` by name scope, accounting and showing what `options` asks for."""
    policy = options.generation.policy("scope")
    arrangement = arrange(profile)
    accounts = account_single(profile, options, arrangement, policy)
    return select(
        "scope",
        profile,
        options,
        arrangement=arrangement,
        accounts=accounts,
        policy=policy,
        only=only,
    )


@remembered
def arrange(profile: ProfileColumns) -> Arrangement:
    """Place every op under its scope; scopes that are not ops get rows too."""
    names = profile.ops.name
    rows = names.scope_rows()
    root = Strings([ROOT_NAME])
    scopes = Strings.of_spans(names.data, names.starts[rows.first], rows.end)
    return Arrangement(
        tree=Tree.of_depths(np.concatenate(([1], rows.depth + 1))),
        name=Strings.joined([root, scopes]),
        members=single_members(np.concatenate(([-1], rows.whole))),
        own_type=SCOPE_TYPE,
        is_in_name_order=True,
    )
