"""Who may ask: a browser on this machine that knows the token, and no other web page.

- Other machines cannot connect, because the server listens on the loopback address only.
- Other users and programs of this machine do not know the token.
- Other web pages in the same browser are refused by `Origin` and `Sec-Fetch-Site`, and could not
  guess the token either.
- A web page whose host name was made to resolve to this machine (DNS rebinding) counts as the same
  origin for the browser. Its requests have its own name in `Host`, which is refused. The port there
  may differ from ours, so that forwarded ports work. That is safe, because only pages that are
  served on this machine can send `localhost` or `127.0.0.1`, and they lack the token as well.
"""

from __future__ import annotations

import hmac
import re
import secrets
from email.message import Message
from http import HTTPStatus

_HOST = re.compile(r"(?:127\.0\.0\.1|localhost)(?::[0-9]{1,5})?")
_SAME_SITE = ("same-origin", "none")  # `none`: typed, a bookmark, or opened by another program


def new_token() -> str:
    """A word that cannot be guessed, for use in a URL."""
    return secrets.token_urlsafe(24)


def is_token(word: str, token: str) -> bool:
    """Whether `word` is `token`; takes the same time wherever they differ."""
    return hmac.compare_digest(word.encode(errors="replace"), token.encode())


def refusal(method: str, headers: Message) -> HTTPStatus | None:
    """The status to refuse a request with because of its headers or method; None if it may ask."""
    hosts, origins = headers.get_all("Host", []), headers.get_all("Origin", [])
    if len(hosts) != 1 or not _HOST.fullmatch(hosts[0]):
        return HTTPStatus.FORBIDDEN
    if any(origin != f"http://{hosts[0]}" for origin in origins):
        return HTTPStatus.FORBIDDEN
    if any(site not in _SAME_SITE for site in headers.get_all("Sec-Fetch-Site", [])):
        return HTTPStatus.FORBIDDEN
    return None if method == "GET" else HTTPStatus.METHOD_NOT_ALLOWED
