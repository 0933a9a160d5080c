"""Pprof profiles of a traced run, one per device."""

from tfprof.classic.pprof_profiler import get_profiles, profile

__all__ = ["get_profiles", "profile"]
