"""A page that compares two profiles: write it to a file, or show it in a notebook."""

from __future__ import annotations

import os
from collections.abc import Iterator

from tfprof import atomic_files
from tfprof.comparison.compared import Compared
from tfprof.page import diff_plain, document, inline
from tfprof.page.diff_content import content, title

_ENTRY = "diff_main.js"
_HEIGHT = 720  # of the frame in a notebook, in pixels


def encode(compared: Compared) -> Iterator[bytes]:
    """The page as one file that needs nothing else, piece by piece."""
    sections = content(compared)
    return document.encode(sections, diff_plain.part(sections), _ENTRY)


class DiffReport:
    """A page that shows what changed between two profiles in a browser."""

    def __init__(self, compared: Compared) -> None:
        self._compared = compared

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to one file, which needs nothing else; the file appears whole."""
        atomic_files.write(os.fspath(path), self.encode())

    def encode(self) -> Iterator[bytes]:
        """The page, piece by piece."""
        return encode(self._compared)

    def to_html(self) -> str:
        """The page as text."""
        return b"".join(self.encode()).decode()

    def _repr_html_(self) -> str:
        return inline.frame(self.to_html(), "tfprof diff", _HEIGHT)

    def __repr__(self) -> str:
        return f"<tfprof diff of {title(self._compared)}>"
