"""Pprof profiles of a traced run, under their `tf.contrib.tfprof` name."""

from tfprof.classic.pprof_profiler import get_profiles, profile

__all__ = ["get_profiles", "profile"]
