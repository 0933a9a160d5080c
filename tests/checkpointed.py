"""Adds a checkpoint to a profile, for tests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from tfprof.columns import Shapes, Strings
from tfprof.model.profile import ProfileColumns
from tfprof.model.tensors import Tensors


def with_tensors(profile: ProfileColumns, tensors: Mapping[str, ArrayLike]) -> ProfileColumns:
    """`profile` with a checkpoint of these `tensors`; texts are arrays of `bytes` objects."""
    arrays = {name: np.asarray(tensors[name]) for name in sorted(tensors)}
    dtypes = ["string" if a.dtype == object else a.dtype.name for a in arrays.values()]
    return replace(
        profile,
        tensors=Tensors(
            Strings(list(arrays)),
            Strings(dtypes),
            Shapes.of([array.shape for array in arrays.values()]),
            arrays.__getitem__,
        ),
    )
