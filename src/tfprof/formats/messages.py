"""Protobuf message classes from our own schemas, in a pool of their own.

A private descriptor pool lets tfprof and any TensorFlow live in one process: the default pool
refuses two definitions of one message.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any, TypeAlias

from google.protobuf import descriptor_pb2, descriptor_pool, message, message_factory, text_format

MessageClass: TypeAlias = type[Any]
Message: TypeAlias = Any  # its fields come from a schema, which a type checker does not read

DecodeError = message.DecodeError
_DESCRIPTORS = "descriptors.binpb"


@cache
def message_class(name: str) -> MessageClass:
    """The class of a message, by its full name such as `tensorflow.GraphDef`."""
    return message_factory.GetMessageClass(_pool().FindMessageTypeByName(name))


def parse_text(name: str, text: str) -> Message:
    """The message that protobuf text describes; fields our schema leaves out are skipped."""
    return text_format.Parse(
        text, message_class(name)(), allow_unknown_field=True, descriptor_pool=_pool()
    )


TextError = text_format.ParseError


@cache
def _pool() -> descriptor_pool.DescriptorPool:
    encoded = resources.files("tfprof.formats.schemas").joinpath(_DESCRIPTORS).read_bytes()
    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(encoded).file:
        pool.Add(file)
    return pool
