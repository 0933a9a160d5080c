"""Pprof profiles of a traced run, under the name of the oldest documents."""

from tfprof.classic.pprof_profiler import get_profiles, profile

__all__ = ["get_profiles", "profile"]
