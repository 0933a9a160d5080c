"""Selects ops by the beginning of their kinds, and ranks names independently of file order."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tfprof.columns import Bools, Ints, Strings
from tfprof.model.profile import ProfileColumns


def of_kinds(profile: ProfileColumns, prefixes: Iterable[str]) -> Bools:
    """For each op, whether its kind starts with one of `prefixes`."""
    kinds = profile.ops.kind
    flags = np.zeros(len(kinds.values), np.bool_)
    for prefix in prefixes:
        flags |= kinds.values.starts_with(prefix)
    return flags[kinds.codes]


def ranks(texts: Strings) -> Ints:
    """The rank of each text in sorted order; codes depend on first use, which saving changes."""
    found = np.empty(len(texts), np.int64)
    found[texts.order()] = np.arange(len(texts))
    return found
