"""The op log message, under its `tf.contrib.tfprof` names."""

from tfprof.classic.messages import OpLogProto

__all__ = ["OpLog", "OpLogProto"]

OpLog = OpLogProto
