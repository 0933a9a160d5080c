"""The HTTP server: on the loopback address only, with limits on size, time and connections."""

from __future__ import annotations

import io
import os
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from email.message import Message
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any

from tfprof.errors import OutputError
from tfprof.web.reply import Reply, refused

ADDRESS = "127.0.0.1"
MOST_CONNECTIONS = 64
MOST_HEAD_BYTES = 1 << 15
HEAD_SECONDS = 5.0
SEND_SECONDS = 120.0  # for a whole reply, also through a slow forwarded port
_END = b"\r\n\r\n"

# Takes method, target and headers of a request.
Answerer = Callable[[str, str, Message], Reply]


class Server(ThreadingHTTPServer):
    """Answers each request in a thread of its own."""

    daemon_threads = True
    block_on_close = False  # a browser that listens to events would block the exit
    request_queue_size = MOST_CONNECTIONS
    allow_reuse_address = os.name == "posix"  # elsewhere, two programs could use one port

    def __init__(self, port: int, answer: Answerer) -> None:
        self.answer = answer
        self._free = threading.Semaphore(MOST_CONNECTIONS)
        try:
            super().__init__((ADDRESS, port), _Handler)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise OutputError(
                f"cannot listen on port {port}: {reason}; choose another --port, or leave it out "
                "to use a free one."
            ) from error

    def server_bind(self) -> None:
        """Bind the socket; without the lookup of a host name, which can take seconds."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = ADDRESS, self.server_address[1]

    def process_request(self, request: Any, client_address: Any) -> None:
        """Start a thread for a request, or refuse it if there are too many."""
        if not self._free.acquire(blocking=False):
            _refuse_now(request)
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except BaseException:
            self._free.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer a request, then make room for another."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Report defects on the terminal; a browser that has left is none."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


def _refuse_now(connection: socket.socket) -> None:
    """Refuse a request without waiting for its sender."""
    with suppress(OSError):
        connection.setblocking(False)
        connection.send(b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n\r\n")


class _Handler(BaseHTTPRequestHandler):
    """One request and its reply; the connection is closed after it."""

    server: Server
    protocol_version = "HTTP/1.1"

    def handle(self) -> None:
        """Read the request and send the reply."""
        head = _read_head(self.connection)
        self.connection.settimeout(SEND_SECONDS)
        if isinstance(head, HTTPStatus):
            self.request_version = self.protocol_version
            self._send(refused(head))
            return
        self.rfile = io.BytesIO(head)
        self.raw_requestline = self.rfile.readline()
        if head and self.parse_request():  # otherwise it has called `send_error`
            self._send(self.server.answer(self.command, self.path, self.headers))

    def handle_expect_100(self) -> bool:
        """Don't ask for the body of a request: it is never read."""
        return True

    def send_error(self, code: int, *_: object) -> None:
        """Refuse a malformed request without repeating any of it."""
        self.request_version = self.protocol_version
        self._send(refused(HTTPStatus(code)))

    def log_message(self, *_: object) -> None:
        """Log nothing: requests contain the token."""

    def _send(self, reply: Reply) -> None:
        self.send_response_only(reply.status)
        for name, value in reply.headers().items():
            self.send_header(name, value)
        self.end_headers()
        if reply.stream is None:
            self.wfile.write(reply.body)
            return
        for piece in reply.stream:
            self.wfile.write(piece)


def _read_head(connection: socket.socket) -> bytes | HTTPStatus:
    """The request line and headers, or the status to refuse a long, slow or partial request with.

    The time limit is for all of it: a limit per read would let a client send byte by byte for
    hours. Returns nothing if nothing was sent: browsers open spare connections.
    """
    head = b""
    deadline = time.monotonic() + HEAD_SECONDS
    while _END not in head:
        connection.settimeout(max(deadline - time.monotonic(), 0.001))
        try:
            piece = connection.recv(MOST_HEAD_BYTES + 1 - len(head))
        except TimeoutError:
            return HTTPStatus.REQUEST_TIMEOUT if head else b""
        if not piece:
            return HTTPStatus.BAD_REQUEST if head else b""
        head += piece
        if len(head) > MOST_HEAD_BYTES:
            return HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
    return head.partition(_END)[0] + _END
