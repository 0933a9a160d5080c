"""Which ops are of a kind that checkers know by how it begins."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tfprof.columns import Bools
from tfprof.model.profile import Profile


def of_kinds(profile: Profile, beginnings: Iterable[str]) -> Bools:
    """For each op, whether its kind begins with one of these."""
    kinds = profile.ops.kind
    flags = np.zeros(len(kinds.values), np.bool_)
    for beginning in beginnings:
        flags |= kinds.values.starts_with(beginning)
    return flags[kinds.codes]
