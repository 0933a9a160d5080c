"""Protobuf message classes from our own schemas, in a pool of their own.

A private descriptor pool lets tfprof and any TensorFlow live in one process: the default pool
refuses two definitions of one message. Protobuf itself is imported when it is first needed, as many
files are read without it.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Any, TypeAlias

MessageClass: TypeAlias = type[Any]
Message: TypeAlias = Any  # its fields come from a schema, which a type checker does not read

_DESCRIPTORS = "descriptors.binpb"


@cache
def message_class(name: str) -> MessageClass:
    """The class of a message, by its full name such as `tensorflow.GraphDef`."""
    from google.protobuf import message_factory  # noqa: PLC0415

    return message_factory.GetMessageClass(_pool().FindMessageTypeByName(name))


def parse_text(name: str, text: str) -> Message:
    """The message that protobuf text describes; fields our schema leaves out are skipped."""
    from google.protobuf import text_format  # noqa: PLC0415

    return text_format.Parse(
        text, message_class(name)(), allow_unknown_field=True, descriptor_pool=_pool()
    )


def __getattr__(name: str) -> Any:
    """Protobuf's own `DecodeError` and `TextError`, for those who must catch one."""
    if name == "DecodeError":
        from google.protobuf.message import DecodeError  # noqa: PLC0415

        return DecodeError
    if name == "TextError":
        from google.protobuf.text_format import ParseError  # noqa: PLC0415

        return ParseError
    raise AttributeError(name)


@cache
def _pool() -> Any:  # a DescriptorPool
    from google.protobuf import descriptor_pb2, descriptor_pool  # noqa: PLC0415

    encoded = resources.files("tfprof.formats.schemas").joinpath(_DESCRIPTORS).read_bytes()
    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(encoded).file:
        pool.Add(file)
    return pool
