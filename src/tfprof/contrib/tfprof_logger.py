"""Op logs, under the name of the oldest documents."""

from tfprof.classic.op_log import write_op_log

__all__ = ["write_op_log"]
