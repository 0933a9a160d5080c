"""Calls in which the host waits for an accelerator. They are ops, but the host does not compute."""

from __future__ import annotations

import numpy as np

from tfprof.columns import Bools
from tfprof.model.profile import ProfileColumns


def is_host_wait(profile: ProfileColumns) -> Bools:
    """For each op, whether it is a call in which the host waits for an accelerator."""
    kind = profile.ops.kind
    flags = [is_synchronisation(name) or is_blocking_copy(name) for name in kind.values]
    return np.array(flags, np.bool_)[kind.codes]


def is_synchronisation(kind: str) -> bool:
    """Whether a kind is a call that waits until an accelerator has finished."""
    return "Synchronize" in kind


def is_blocking_copy(kind: str) -> bool:
    """Whether a kind is a call that copies and waits; such calls are ops only if they wait."""
    return kind.startswith(("cudaMemcpy", "hipMemcpy"))
