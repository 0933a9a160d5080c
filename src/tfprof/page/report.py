"""A report on a profile: write it to a file, or show it in a notebook."""

from __future__ import annotations

import os
from collections.abc import Iterator

from tfprof import atomic_files
from tfprof.page import document, inline, plain
from tfprof.page.content import content, graph_content, served_content
from tfprof.page.subject import Subject
from tfprof.page.views import build_views

_HEIGHT = 720  # of the frame in a notebook, in pixels


class Report:
    """A page that shows a profile in a browser."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to one file, which needs nothing else; the file appears whole."""
        atomic_files.write(os.fspath(path), self.encode())

    def encode(self) -> Iterator[bytes]:
        """The page, piece by piece."""
        built = build_views(self._subject.profile)
        sections = content(self._subject, built)
        return document.encode(sections, plain.part(sections, built["layers"]))

    def served(self) -> document.Served:
        """The page for a server, which sends `data` when the page asks for it."""
        return document.served(self._subject.name)

    def data(self) -> bytes:
        """The data of the page that is served, without `graph`."""
        return document.packed(served_content(self._subject), quick=True)

    def graph(self) -> bytes:
        """The data of the drawn graph."""
        return document.packed(graph_content(self._subject), quick=True)

    def to_html(self) -> str:
        """The page as text."""
        return b"".join(self.encode()).decode()

    def _repr_html_(self) -> str:
        return inline.frame(self.to_html(), "tfprof report", _HEIGHT)

    def __repr__(self) -> str:
        return f"<tfprof report on {self._subject.name}>"
