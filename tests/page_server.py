"""A server of the page on a free port, and requests to it, byte by byte."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import tfprof
from tfprof.commands.command import Place
from tfprof.commands.served_page import view_options
from tfprof.commands.table import available
from tfprof.web.live_profile import LiveProfile, State
from tfprof.web.server import Server
from tfprof.web.site import Site
from tfprof.web.watching import Watcher, fingerprint

SECONDS = 60  # no test waits longer for anything
QUICK = 0.01  # seconds between two looks at the files
_WRITE_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Answered:
    """A reply as it came over the wire."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def error(self) -> str:
        return json.loads(self.body)["error"]


@dataclass(frozen=True, slots=True)
class Served:
    """A running server."""

    site: Site
    live: LiveProfile
    port: int

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=SECONDS)

    def send(self, request: bytes) -> Answered:
        """The reply to these bytes."""
        with self.connect() as connection:
            connection.sendall(request)
            return parsed(everything(connection))

    def ask(
        self, path: str = "", *, method: str = "GET", target: str | None = None, **headers: str
    ) -> Answered:
        """The reply to a request below the token, or for `target`; underscores mean dashes."""
        return self.send(self.request(path, method=method, target=target, **headers))

    def request(
        self, path: str = "", *, method: str = "GET", target: str | None = None, **headers: str
    ) -> bytes:
        target = f"/{self.site.token}/{path}" if target is None else target
        lines = {"Host": f"127.0.0.1:{self.port}"} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        return f"{method} {target} HTTP/1.1\r\n{head}\r\n".encode("latin-1")

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/{self.site.token}/"


def everything(connection: socket.socket) -> bytes:
    """All bytes until the other side closes the connection, also if it does not read ours."""
    found = b""
    try:
        while piece := connection.recv(1 << 16):
            found += piece
    except ConnectionResetError:
        pass
    return found


def parsed(raw: bytes) -> Answered:
    head, _, body = raw.partition(b"\r\n\r\n")
    status, *lines = head.decode("latin-1").split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines)
    return Answered(int(status.split()[1]), headers, body)


class _Impatient(LiveProfile):
    """A profile whose streams write often: they end when a write finds that the browser has left.

    Otherwise their threads would outlive the test.
    """

    def __init__(self, live: LiveProfile) -> None:
        self._live = live

    @property
    def state(self) -> State:
        return self._live.state

    def wait(self, version: int, seconds: float) -> State:
        return self._live.wait(version, min(seconds, _WRITE_SECONDS))


@contextmanager
def serve(load: Callable[[], tfprof.Profile]) -> Iterator[Served]:
    """Serve what `load` returns until the end of the block."""
    live = LiveProfile(load)
    site = Site(_Impatient(live), partial(view_options, available(Place.COMMAND_LINE)))
    with Server(0, site.reply) as server:
        thread = threading.Thread(target=server.serve_forever, args=(QUICK,))
        thread.start()
        try:
            yield Served(site, live, server.server_port)
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def watched(*paths: str) -> Iterator[Served]:
    """Serve files that are looked at in short intervals."""
    loaded = fingerprint(paths)
    with serve(lambda: tfprof.load(*paths)) as served:
        watcher = Watcher(partial(fingerprint, paths), loaded, served.live.reload, seconds=QUICK)
        watcher.start()
        try:
            yield served
        finally:
            watcher.stop()
            watcher.join(SECONDS)
            assert not watcher.is_alive(), f"the watcher did not stop within {SECONDS} s"
