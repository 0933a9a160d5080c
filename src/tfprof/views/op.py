"""The op view: ops grouped by kind; a row's total covers the row and all later ones."""

from __future__ import annotations

import numpy as np

from tfprof.columns import Ints, Ragged, Strings, offsets_of
from tfprof.kernels.rows import grouped
from tfprof.memo import remembered
from tfprof.model.profile import ProfileColumns
from tfprof.options import Options
from tfprof.views.accounting import account_gathered
from tfprof.views.select import Arrangement, select
from tfprof.views.tree import Tree
from tfprof.views.view import ROOT_NAME, View


def build(profile: ProfileColumns, options: Options, only: Ints | None = None) -> View:
    """Group `profile` by op kind, accounting and showing what `options` asks for."""
    policy = options.generation.policy("op")
    arrangement = arrange(profile)
    accounts = account_gathered(profile, options, arrangement)
    return select(
        "op", profile, options, arrangement=arrangement, accounts=accounts, policy=policy, only=only
    )


@remembered
def arrange(profile: ProfileColumns) -> Arrangement:
    """One row per kind of op, in name order, with the ops of that kind."""
    kinds = profile.ops.kind
    by_name = kinds.values.order()
    place = np.empty(len(by_name), np.int64)
    place[by_name] = np.arange(len(by_name))
    row = place[kinds.codes]
    lengths = np.bincount(row, minlength=len(by_name))
    return Arrangement(
        tree=Tree.flat(len(by_name) + 1),
        name=Strings.joined([Strings([ROOT_NAME]), kinds.values.take(by_name)]),
        members=Ragged(offsets_of(np.concatenate(([0], lengths))), grouped(row, len(by_name))),
        is_in_name_order=True,
    )
