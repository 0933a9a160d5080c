"""Which part of a training step an op belongs to, told by its name and its kind."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

import numpy as np

from tfprof.memo import remembered
from tfprof.patterns import Patterns

if TYPE_CHECKING:
    from tfprof.columns import Ints
    from tfprof.model.profile import ProfileColumns


class Phase(IntEnum):
    """The parts of a training step."""

    FORWARD = 0
    BACKWARD = 1
    OPTIMISER = 2


# Scopes that gradients are made in: `tf.gradients`, again and again, and the gradient tape.
_BACKWARD = (
    "gradients/.*",
    ".*/gradients/.*",
    "gradient_tape/.*",
    ".*/gradient_tape/.*",
    "(.*/)?gradients_[0-9]+/.*",
)
_NUMBERED = "gradients_"
_OPTIMISER = Patterns(("(Resource)?(Sparse)?Apply[A-Z].*",))


@remembered
def phases(profile: ProfileColumns) -> Ints:
    """The `Phase` of each op; what is neither backward nor an update is forward."""
    names = profile.ops.name
    *plain, numbered = _BACKWARD
    is_backward = Patterns(plain).match_column(names)
    # A regex costs far more than a search, and most models have no such name at all.
    maybe = np.flatnonzero(~is_backward & (names.find(_NUMBERED) >= 0))
    is_backward[maybe] = Patterns((numbered,)).match_column(names.take(maybe))
    kinds = profile.ops.kind
    is_update = _OPTIMISER.match_column(kinds.values)[kinds.codes]
    found = np.where(is_backward, Phase.BACKWARD, Phase.FORWARD)
    return np.where(is_update, Phase.OPTIMISER, found).astype(np.int64)
