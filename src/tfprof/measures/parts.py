"""Numbers that are the part of another number that certain ops have, such as the forward ops."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from tfprof.columns import Bools
from tfprof.model.ops import TRAINABLE_VARIABLE, Phase
from tfprof.model.profile import ProfileColumns


def _is_in(phase: Phase, profile: ProfileColumns) -> Bools:
    return np.asarray(profile.phase == phase)


def is_trainable(profile: ProfileColumns) -> Bools:
    """Whether each op is a variable that training changes."""
    return profile.ops.types.having(TRAINABLE_VARIABLE)


_is_forward = partial(_is_in, Phase.FORWARD)
_is_backward = partial(_is_in, Phase.BACKWARD)

# Each part, the number that it is a part of, and which ops it counts.
PARTS: dict[str, tuple[str, Callable[[ProfileColumns], Bools]]] = {
    "trainable_params": ("params", is_trainable),
    "other_params": ("params", lambda profile: ~is_trainable(profile)),
    "forward_float_ops": ("float_ops", _is_forward),
    "backward_float_ops": ("float_ops", _is_backward),
    "forward_macs": ("macs", _is_forward),
    "backward_macs": ("macs", _is_backward),
    "forward_micros": ("micros", _is_forward),
    "backward_micros": ("micros", _is_backward),
    "forward_accelerator_micros": ("accelerator_micros", _is_forward),
    "backward_accelerator_micros": ("accelerator_micros", _is_backward),
    "forward_accelerator_nanos": ("accelerator_nanos", _is_forward),
    "backward_accelerator_nanos": ("accelerator_nanos", _is_backward),
    "forward_nanos": ("nanos", _is_forward),
    "backward_nanos": ("nanos", _is_backward),
}
