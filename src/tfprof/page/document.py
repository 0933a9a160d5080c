"""The HTML document of a report: a plain part that needs no script, the data and the script."""

from __future__ import annotations

import gzip
from base64 import b64encode
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any, NamedTuple

from tfprof.page import assets, container

_ENTRY = "main.js"
_FIRST = "first_paint.js"
_QUICK = 1
_LEVEL = 6  # higher levels take much longer and save little


class Served(NamedTuple):
    """A document for a server, which sends the policy as a header too."""

    html: bytes
    policy: str


def served(title: str) -> Served:
    """The document without data: its script asks the server for it, and nothing else."""
    connection = "connect-src 'self'"
    waiting = (
        "<main><p>Loading the profile…</p><noscript>This page needs JavaScript.</noscript></main>"
    )
    html = b"".join([_head(title, connection), waiting.encode(), _script()])
    return Served(html, _policy(connection))


def packed(content: Mapping[str, Any], *, quick: bool = False) -> bytes:
    """Data as the script reads it; `quick` for a browser on this machine, where size is nothing."""
    return gzip.compress(container.pack(content), _QUICK if quick else _LEVEL, mtime=0)


def encode(content: Mapping[str, Any], plain: str, entry: str = _ENTRY) -> Iterator[bytes]:
    """The document as one file that needs nothing else and cannot reach the network.

    `plain` is HTML that is shown until the script has started, and without scripts. `entry` is the
    module that starts the page.
    """
    data = b64encode(packed(content))
    yield _head(str(content["title"]), "connect-src 'none'", entry)
    yield _encoded(plain)
    yield b'<script type="application/octet-stream" id="data">'
    yield data
    yield b"</script>"
    yield _script(entry)


def _head(title: str, connection: str, entry: str = _ENTRY) -> bytes:
    style = assets.style()
    return _encoded(
        "<!DOCTYPE html>\n"
        '<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(connection, entry)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="referrer" content="no-referrer">'
        f"<title>{escape(title)} · tfprof</title><style>{style}</style>"
        f"<script>{assets.script(_FIRST)}</script></head><body>"
    )


def _encoded(html: str) -> bytes:
    """HTML as UTF-8; names of files can contain bytes that are not."""
    return html.encode(errors="backslashreplace")


def _policy(connection: str, entry: str = _ENTRY) -> str:
    """A Content-Security-Policy that permits only the scripts and style of the page."""
    scripts = " ".join(assets.source_hash(assets.script(name)) for name in (_FIRST, entry))
    style = assets.source_hash(assets.style())
    return (
        f"default-src 'none'; script-src {scripts}; style-src {style}; img-src data:; "
        f"{connection}; base-uri 'none'; form-action 'none'"
    )


def _script(entry: str = _ENTRY) -> bytes:
    return f'<script type="module">{assets.script(entry)}</script></body></html>\n'.encode()
