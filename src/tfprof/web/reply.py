"""Replies to a browser: a status, a body or a stream, and headers that keep the page private."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from types import MappingProxyType
from typing import Any

HTML = "text/html; charset=utf-8"
JSON = "application/json"
PACKED = "application/octet-stream"
EVENTS = "text/event-stream"

_ALWAYS = {
    "Cache-Control": "no-store",
    "Connection": "close",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_NOTHING_LOADED = "default-src 'none'; frame-ancestors 'none'"


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply; with `stream`, the body is sent piece by piece until the browser leaves."""

    status: HTTPStatus
    media_type: str = ""
    body: bytes = b""
    stream: Iterable[bytes] | None = None
    policy: str = _NOTHING_LOADED  # the Content-Security-Policy
    more: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def headers(self) -> dict[str, str]:
        """All headers of the reply."""
        about = {"Content-Type": self.media_type} if self.media_type else {}
        if self.stream is None:
            about["Content-Length"] = str(len(self.body))
        return _ALWAYS | {"Content-Security-Policy": self.policy} | about | dict(self.more)


def refused(status: HTTPStatus) -> Reply:
    """A refusal, which reveals nothing but its status."""
    more = {"Allow": "GET"} if status is HTTPStatus.METHOD_NOT_ALLOWED else {}
    return Reply(status, more=more)


def failed(status: HTTPStatus, sentence: str) -> Reply:
    """An error for the page to show."""
    return Reply(status, JSON, json.dumps({"error": sentence}).encode())


def event(name: str, data: Mapping[str, Any]) -> bytes:
    """A server-sent event."""
    return f"event: {name}\ndata: {json.dumps(data)}\n\n".encode()
