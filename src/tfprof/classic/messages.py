"""The message classes that the classic functions take and return."""

from __future__ import annotations

from tfprof.formats.messages import MessageClass, message_class


def _documented(name: str, summary: str) -> MessageClass:
    found = message_class(f"tensorflow.tfprof.{name}")
    found.__doc__ = summary
    return found


GraphNodeProto = _documented(
    "GraphNodeProto", "A row of the scope or graph view, with the rows below it."
)
MultiGraphNodeProto = _documented(
    "MultiGraphNodeProto", "A row of the code or op view, with its ops and the rows below it."
)
AdviceProto = _documented("AdviceProto", "The reports of each checker.")
OpLogProto = _documented("OpLogProto", "Types, float ops and code lines of ops.")
