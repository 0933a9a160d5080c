"""The classes of the messages that are given back and taken."""

from __future__ import annotations

from tfprof.formats.messages import message_class

GraphNodeProto = message_class("tensorflow.tfprof.GraphNodeProto")
MultiGraphNodeProto = message_class("tensorflow.tfprof.MultiGraphNodeProto")
AdviceProto = message_class("tensorflow.tfprof.AdviceProto")
OpLogProto = message_class("tensorflow.tfprof.OpLogProto")
