"""The phases of kernels whose launch was not recorded, from annotations of the accelerator.

The profiler repeats annotations of the program on each stream, from the first kernel that was
launched inside to the last one. Streams work in order, so a kernel between them was inside too.
"""

from __future__ import annotations

import numpy as np

from tfprof.columns import Ints
from tfprof.formats.kineto.columns import Slices
from tfprof.kernels import nesting
from tfprof.sources.kineto.host import of_category
from tfprof.sources.kineto.launches import Launches
from tfprof.sources.torch_annotations import named_phases


def annotated_phases(slices: Slices, launched: Launches) -> Ints:
    """For each activity without a launch, the phase that the annotation around it names, or -1."""
    found = np.full(len(launched), -1)
    lost = np.flatnonzero(launched.call < 0)
    spans = np.flatnonzero(of_category(slices, lambda category: category == "gpu_user_annotation"))
    if not len(lost) or not len(spans):
        return found
    codes, place = np.unique(slices.name.codes[spans], return_inverse=True)
    phase = named_phases(slices.name.values.take(codes)).phase[place]
    spans, phase = spans[phase >= 0], phase[phase >= 0]
    rows = np.concatenate((spans, launched.slice[lost]))
    start, lane = slices.start_ns[rows], slices.thread[rows]
    end = start + slices.duration_ns[rows]
    is_kernel = np.arange(len(rows)) >= len(spans)
    order = np.lexsort((is_kernel, -end, start, lane))
    kind = np.where(is_kernel, -1, 0)[order]
    (around,) = nesting.containers(lane[order], start[order], end[order], kind, 1)
    here = is_kernel[order] & (around >= 0)
    found[lost[order[here] - len(spans)]] = phase[order[around[here]]]
    return found
