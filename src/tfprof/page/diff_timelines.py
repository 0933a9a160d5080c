"""The section `timelines` of a diff page: the runs of both sides, and the rows they belong to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tfprof.columns import Coded, Strings
from tfprof.model.ops import Phase
from tfprof.model.profile import ProfileColumns
from tfprof.page import timeline
from tfprof.page.diff_views import Rows, rows_of_ops
from tfprof.page.views import coded
from tfprof.views.steps import StepTimes

_PHASES = tuple(phase.name.lower() for phase in Phase)


def section(
    profile: ProfileColumns, times: StepTimes, views: Mapping[str, Rows], *, is_new: bool
) -> dict[str, Any]:
    """The timeline of one side, with only the ops that ran."""
    found = timeline.section(profile, times, timeline.MOST_RUNS // 2)
    op = found["runs"]["op"]
    used = np.unique(op[op >= 0])
    place = np.zeros(len(profile.ops), np.int64)
    place[used] = np.arange(len(used))
    found["runs"]["op"] = np.where(op >= 0, place[op], op)
    return {
        "data": found,
        "ops": {
            "count": len(used),
            "name": profile.ops.name.take(used),
            "kind": coded(Coded(profile.ops.kind.codes[used], profile.ops.kind.values)),
            "phase": coded(Coded(profile.phase[used], Strings(_PHASES))),
        },
        "row": {kind: rows_of_ops(rows, used, is_new=is_new) for kind, rows in views.items()},
    }
