"""The classes of the messages that are given back and taken."""

from __future__ import annotations

from tfprof.formats.messages import MessageClass, message_class


def _described(name: str, sentence: str) -> MessageClass:
    found = message_class(f"tensorflow.tfprof.{name}")
    found.__doc__ = sentence
    return found


GraphNodeProto = _described("GraphNodeProto", "A row of the scope or graph view, and those below.")
MultiGraphNodeProto = _described(
    "MultiGraphNodeProto", "A row of the code or op view, with its ops, and those below."
)
AdviceProto = _described("AdviceProto", "What each checker reports.")
OpLogProto = _described("OpLogProto", "Types, float ops and lines of code of ops.")
