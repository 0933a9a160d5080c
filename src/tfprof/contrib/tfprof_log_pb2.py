"""The message of an op log, under the names that it had."""

from tfprof.classic.messages import OpLogProto

__all__ = ["OpLog", "OpLogProto"]

OpLog = OpLogProto
