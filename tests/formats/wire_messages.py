"""Random encoded messages: regular ones, as programs write them, and very odd ones."""

import random

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from tfprof.formats.text_schema import is_repeated

TEXTS = (
    *("", "a", "net/w", "a:1", "a:12", "^a", "^a/b:1", "a:", "a:x", "a:1:2", ":", "^", "^:1"),
    *("a:123456789", "a:1234567890", "a:-1", "shape", "_output_shapes", "GPU_0_bfc", "MatMul"),
)
KEYS = ("shape", "_output_shapes", "shape", "_output_shapes", "T", "", "shapf")
OTHER_TEXTS = (
    b"\xc3\xa9",
    b"a\xff",
    b"caf\xc3\xa9:1",
    "a:\u0663".encode(),
    b"\xed\xa0\x80",
    b"\x00",
)
FAVOURED = {"AttrValue": ("shape", "list"), "ListValue": ("shape",)}
NUMBERS = (0, 1, 2, 3, 7, 127, 128, 300, 2**31 - 1, 2**31, 2**32, 2**32 + 5, 2**63 - 1, 2**63)
DEEPEST = 6


class Maker:
    """Makes messages from their descriptors; a field is odd with probability `oddity`."""

    def __init__(self, seed: int, oddity: float = 0) -> None:
        self.random = random.Random(seed)  # noqa: S311 -- for tests
        self.oddity = oddity

    def message(self, kind: Descriptor, depth: int = 0) -> bytes:
        """A message with some of its fields, in any order."""
        fields = [field for field in kind.fields if depth < DEEPEST or field.message_type is None]
        if kind.name in FAVOURED and self.random.random() < 0.8:
            fields = [field for field in fields if field.name in FAVOURED[kind.name]]
        if kind.oneofs and fields:
            fields = self.random.sample(fields, k=self.random.random() < 0.95)
        parts = []
        for field in fields:
            parts += [self.field(field, depth) for _ in range(self.count(field, depth))]
            if self.is_odd():
                parts.append(self.unknown())
        if self.is_odd():
            parts += [self.field(self.random.choice(kind.fields), depth)] if depth < DEEPEST else []
        self.random.shuffle(parts)
        return b"".join(parts)

    def is_odd(self) -> bool:
        return self.random.random() < self.oddity

    def count(self, field: FieldDescriptor, depth: int) -> int:
        if not is_repeated(field):
            return self.random.random() < 0.8
        return self.random.randrange(5 if depth < 3 else 3)

    def field(self, field: FieldDescriptor, depth: int) -> bytes:
        """A field; in an odd message it may have another wire type."""
        if self.is_odd() and self.is_odd():
            return self.any_value(field.number)
        if field.message_type is not None:
            return span(field.number, self.message(field.message_type, depth + 1))
        if field.type in (FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES):
            return span(field.number, self.text(field))
        if field.type == FieldDescriptor.TYPE_FLOAT:
            return tag(field.number, 5) + self.random.randbytes(4)
        if is_repeated(field) and self.random.random() < 0.7:
            numbers = [self.number() for _ in range(self.random.randrange(4))]
            return span(field.number, b"".join(map(varint, numbers)))
        return tag(field.number, 0) + self.padded(varint(self.number()))

    def text(self, field: FieldDescriptor) -> bytes:
        if self.is_odd() and self.is_odd():
            return self.random.choice(OTHER_TEXTS)
        return self.random.choice(KEYS if field.name == "key" else TEXTS).encode()

    def number(self) -> int:
        number = self.random.choice(NUMBERS)
        return -number % 2**64 if self.random.random() < 0.2 else number

    def padded(self, encoded: bytes) -> bytes:
        """A varint; in an odd message it may have more bytes than it needs."""
        if not self.is_odd():
            return encoded
        zeros = self.random.randrange(11)
        return encoded[:-1] + bytes([encoded[-1] | 0x80]) + b"\x80" * zeros + b"\x00"

    def unknown(self) -> bytes:
        return self.any_value(self.random.choice((9, 11, 13, 15, 16, 99, 5000, 2**29 - 1)))

    def any_value(self, number: int) -> bytes:
        """A field of any wire type, including unused ones."""
        kind = self.random.choice((0, 0, 0, 1, 1, 2, 2, 2, 5, 5, 3, 4, 6, 7))
        content = self.random.randbytes(self.random.randrange(5))
        match kind:
            case 0:
                return tag(number, 0) + self.padded(varint(self.number()))
            case 1:
                return tag(number, 1) + self.random.randbytes(8)
            case 2:
                return span(number, content)
            case 3:
                return tag(number, 3) + content + tag(number, 4)
            case 5:
                return tag(number, 5) + self.random.randbytes(4)
        return tag(number, kind)

    def damaged(self, data: bytes) -> bytes:
        """The bytes with some of them changed, inserted, removed or cut off."""
        found = bytearray(data)
        for _ in range(self.random.randrange(1, 3)):
            at = self.random.randrange(len(found) + 1)
            match self.random.randrange(5):
                case 0:
                    found[at : at + 1] = self.random.randbytes(1)
                case 1:
                    found[at:at] = self.random.randbytes(self.random.randrange(1, 3))
                case 2:
                    del found[at : at + self.random.randrange(1, 4)]
                case 3:
                    found[at : at + 1] = bytes([self.random.choice((0, 1, 2, 0x7F, 0x80, 0xFF))])
                case 4 if self.random.random() < 0.3:
                    del found[at:]
        return bytes(found)


def span(number: int, content: bytes) -> bytes:
    return tag(number, 2) + varint(len(content)) + content


def tag(number: int, kind: int) -> bytes:
    return varint(number << 3 | kind)


def varint(number: int) -> bytes:
    digits = bytearray()
    while number > 0x7F:
        digits.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(digits) + bytes([number])
