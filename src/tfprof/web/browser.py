"""Open the page in the user's browser."""

from __future__ import annotations

import os
import sys
import threading
import webbrowser
from contextlib import suppress


def open_page(address: str) -> None:
    """Open `address` in a browser, if there is one, without waiting for it."""
    if _has_screen():
        threading.Thread(target=_open, args=(address,), daemon=True).start()


def _has_screen() -> bool:
    """Whether a browser would open a window; in a terminal it would hide ours."""
    if sys.platform in ("win32", "darwin"):
        return True
    return any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")))


def _open(address: str) -> None:
    with suppress(OSError, webbrowser.Error):  # the user can open the address that was printed
        webbrowser.open(address)
