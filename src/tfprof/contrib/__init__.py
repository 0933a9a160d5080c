"""The oldest names of the API: `tf.contrib.tfprof` becomes `tfprof.contrib`."""

from tfprof.classic.context import ProfileContext
from tfprof.contrib import model_analyzer, pprof_profiler, tfprof_log_pb2, tfprof_logger

__all__ = [
    "ProfileContext",
    "model_analyzer",
    "pprof_profiler",
    "tfprof_log_pb2",
    "tfprof_logger",
]
