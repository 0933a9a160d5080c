"""Kineto traces, which `torch.profiler` writes as JSON."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfprof.formats.content import Content
    from tfprof.formats.kineto.columns import Trace

# Other programs write lists of events too, among them tfprof; these words are in Kineto's alone.
_MARKS = (
    rb'"(?:schemaVersion|deviceProperties|distributedInfo|baseTimeNanoseconds|External id'
    rb'|Python id|Record function id)"\s*:|"cat"\s*:\s*"(?:cpu_op|python_function|kernel'
    rb'|user_annotation|cpu_instant_event|cuda_runtime|cuda_driver|gpu_\w+)"'
)
_EVENTS = rb'"(?:traceEvents|deviceProperties|distributedInfo|ph)"\s*:'
_OTHER_FORMAT = rb'"schema"\s*:\s*"[^"]*chakra|"nodes"\s*:\s*\['


def looks_like_trace(head: bytes) -> bool:
    """Whether a file that starts with these bytes is a Kineto trace."""
    start = head[:4096].removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    return (
        start in (b"{", b"[")
        and re.search(_EVENTS, head) is not None
        and re.search(_MARKS, head) is not None
        and re.search(_OTHER_FORMAT, head) is None
    )


def read(content: Content) -> Trace:
    """The trace in a file; with `content.is_partial`, what is intact of it.

    Raises `InputError` if it is no trace, and `TruncatedError` if it ends early or is damaged.
    """
    from tfprof.formats.kineto import reading  # noqa: PLC0415 -- all files are recognised first

    return reading.read(content)
