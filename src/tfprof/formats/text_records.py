"""Convert protobuf text to the binary form, with the compiled reader if it is available."""

from __future__ import annotations

import re
from functools import cache

from tfprof.errors import TruncatedError
from tfprof.formats import intact, messages, text
from tfprof.formats.intact import Intact
from tfprof.formats.messages import message_class, parse_text
from tfprof.formats.text import TextFormatError

_PLACE = re.compile(r"^(\d+):(\d+) : ")  # line and column in protobuf's errors
# Texts up to this size are read again by protobuf if the compiled reader refuses them: it follows
# the specification, and protobuf's reader in Python also accepts spaces, digits and escapes that
# Python knows. For long lines it takes quadratic time.
_MOST_READ_AGAIN = 1 << 16
_REPORTED = re.compile(r"line ([\d,]+), column ([\d,]+)")
_LONGEST_REASON = 200  # the most characters of a parser's error to repeat


def to_binary(path: str, data: bytes, name: str) -> bytes | bytearray:
    """The binary form of a message of type `name` that is written as text."""
    refusal: Exception | None = None
    if text.is_compiled():
        try:
            return text.to_wire(_text_schema(name), data)
        except TextFormatError as error:
            refusal = error
    if refusal is None or len(data) <= _MOST_READ_AGAIN:
        try:
            parsed: bytes = parse_text(name, data.decode("utf-8")).SerializeToString()
        # Protobuf raises a plain ValueError for a number that is too large for an enum. Python
        # warns about doubtful escapes; if its warnings are errors, these are refused.
        except (ValueError, messages.TextError, RecursionError, Warning) as error:
            refusal = refusal or error
        else:
            return parsed
    raise TruncatedError(path, f"is not a complete {name} in text form: {_reason(refusal, data)}")


def intact_part(path: str, data: bytes, name: str) -> Intact:
    """What is intact of a message in text form, in binary form."""
    try:
        return Intact(bytes(to_binary(path, data, name)), len(data))
    except TruncatedError as error:
        found = intact.of_text(name, data, _offset(error.trouble, data))
    return found._replace(data=bytes(to_binary(path, found.data, name)))


def _offset(trouble: str, data: bytes) -> int:
    """The byte at which a reader reported a problem, or the end."""
    found = _REPORTED.search(trouble)
    if found is None:
        return len(data)
    line, column = (int(number.replace(",", "")) for number in found.groups())
    start = 0
    for _ in range(line - 1):
        start = data.find(b"\n", start) + 1
    return min(start + column - 1, len(data))


@cache
def _text_schema(name: str) -> text.Schema:
    return text.Schema(message_class(name).DESCRIPTOR)


def _reason(error: Exception, data: bytes) -> str:
    """The line, the column and the problem, in the same form for both readers."""
    reason = str(error)
    if isinstance(error, RecursionError):
        reason = text.TOO_DEEP
    elif isinstance(error, UnicodeDecodeError):
        reason = str(TextFormatError(*text.place(data, error.start), text.NO_UTF8))
    elif isinstance(error, messages.TextError):
        reason = _PLACE.sub(r"line \1, column \2: ", reason)
    reason = _shortened(reason)
    return reason if reason.endswith("?") else f"{reason}."


def _shortened(reason: str) -> str:
    """The reason, shortened in case it quotes a line that may be as long as the file."""
    reason = " ".join(reason.split()).rstrip(".")
    return reason if len(reason) <= _LONGEST_REASON else f"{reason[:80]} … {reason[-80:]}"
