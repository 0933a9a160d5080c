"""The names of the oldest documents: `tf.contrib.tfprof` becomes `tfprof.contrib`."""

from tfprof.contrib import model_analyzer, tfprof_logger

__all__ = ["model_analyzer", "tfprof_logger"]
