"""Protobuf message classes built from tfprof's own schemas in a private descriptor pool.

The private pool lets tfprof share a process with any TensorFlow: the default pool rejects a second
definition of a message. Protobuf is imported on first use, as many files are read without it.
"""

from __future__ import annotations

import threading
from functools import cache
from typing import Any, TypeAlias

MessageClass: TypeAlias = type[Any]
Message: TypeAlias = Any  # its fields come from a schema that type checkers do not see

_DESCRIPTORS = "descriptors.binpb"
_LOCK = threading.Lock()


@cache
def message_class(name: str) -> MessageClass:
    """The class of a message, given its full name, such as `tensorflow.GraphDef`."""
    from google.protobuf import message_factory  # noqa: PLC0415

    return message_factory.GetMessageClass(_pool().FindMessageTypeByName(name))


def decode(name: str, encoded: bytes | bytearray) -> Message:
    """The message of type `name` in its binary form; raises `DecodeError` if it is damaged."""
    # Before version 5.28, protobuf decodes no bytearray; `bytes` returns bytes as they are.
    return message_class(name).FromString(bytes(encoded))


def parse_text(name: str, text: str) -> Message:
    """The message described by protobuf text; fields missing from our schema are skipped."""
    from google.protobuf import text_format  # noqa: PLC0415

    return text_format.Parse(
        text, message_class(name)(), allow_unknown_field=True, descriptor_pool=_pool()
    )


def __getattr__(name: str) -> Any:
    """Protobuf's `DecodeError` and `TextError`, imported only when they are needed."""
    if name == "DecodeError":
        from google.protobuf.message import DecodeError  # noqa: PLC0415

        return DecodeError
    if name == "TextError":
        from google.protobuf.text_format import ParseError  # noqa: PLC0415

        return ParseError
    raise AttributeError(name)


def _pool() -> Any:  # a DescriptorPool
    # `cache` alone lets several threads make one each, and the messages of two pools do not mix.
    with _LOCK:
        return _new_pool()


@cache
def _new_pool() -> Any:
    import pkgutil  # noqa: PLC0415 -- `importlib.resources` takes longer to import

    from google.protobuf import descriptor_pb2, descriptor_pool  # noqa: PLC0415

    encoded = pkgutil.get_data("tfprof.formats.schemas", _DESCRIPTORS) or b""
    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(encoded).file:
        pool.Add(file)
    return pool
