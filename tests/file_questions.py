"""Questions about files, each a function of paths, for `peak_memory.resident`."""

from __future__ import annotations

import tfprof
from tfprof.api import Profile

_VIEWS = ("scope", "graph", "op", "layers")


def views(*paths: str) -> None:
    _show_views(tfprof.load(*paths))


def everything(*paths: str) -> None:
    """The views and the report page."""
    profile = tfprof.load(*paths)
    _show_views(profile)
    _write_page(profile)


def code(*paths: str) -> None:
    _ = tfprof.load(*paths).code(select=["params"]).table


def steps(*paths: str) -> None:
    _ = tfprof.load(*paths).step_times().report


def memory(*paths: str) -> None:
    """The memory report and the report page."""
    profile = tfprof.load(*paths)
    _ = profile.memory().report
    _write_page(profile)


def _show_views(profile: Profile) -> None:
    for view in _VIEWS:
        _ = getattr(profile, view)(select=["params", "op_types", "occurrence"]).table


def _write_page(profile: Profile) -> None:
    for _ in profile.report().encode():
        pass
