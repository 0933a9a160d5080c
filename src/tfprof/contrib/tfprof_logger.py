"""Op logs, under their `tf.contrib.tfprof` name."""

from tfprof.classic.op_log import write_op_log

__all__ = ["write_op_log"]
