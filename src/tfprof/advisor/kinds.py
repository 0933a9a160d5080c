"""Ops by how their kinds begin, and an order of names that depends on no file."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tfprof.columns import Bools, Ints, Strings
from tfprof.model.profile import ProfileColumns


def of_kinds(profile: ProfileColumns, beginnings: Iterable[str]) -> Bools:
    """For each op, whether its kind begins with one of these."""
    kinds = profile.ops.kind
    flags = np.zeros(len(kinds.values), np.bool_)
    for beginning in beginnings:
        flags |= kinds.values.starts_with(beginning)
    return flags[kinds.codes]


def ranks(texts: Strings) -> Ints:
    """Numbers that ascend with the texts: codes go by first use, which saving changes."""
    found = np.empty(len(texts), np.int64)
    found[texts.order()] = np.arange(len(texts))
    return found
