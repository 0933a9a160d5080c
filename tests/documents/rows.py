"""A listing of a document: the command line, what is typed in the shell, and the output."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

_PROMPT = "tfprof>"


@dataclass(frozen=True, kw_only=True)
class Row:
    """A command line of a document and the listing it printed."""

    place: str  # the document, and where in it
    dialect: str = ""  # the dialect of the document
    model: Callable[[Path], None]  # writes the files to a folder
    start: str  # the arguments of `tfprof`
    session: str  # lines after a prompt are typed, the others are printed
    instead: Mapping[str, str] = field(default_factory=dict)  # what tfprof prints now instead
    file: str = ""  # the file with the listing, if it is not printed
    is_cut: bool = False  # lines were left out; the others appear in this order
    is_form: bool = False  # of another model: lines only have the same form
    timeline: str = ""  # the timeline that is written

    @property
    def typed(self) -> str:
        """The lines that are typed into the shell."""
        lines = [line for line in self._lines if line.startswith(_PROMPT)]
        return "".join(f"{line.removeprefix(_PROMPT).strip()}\n" for line in lines)

    @property
    def shown(self) -> list[str]:
        """The lines that are printed, without the dots where lines were left out."""
        lines = [line for line in self._lines if not line.startswith(_PROMPT)]
        return [line.rstrip() for line in lines if line.strip(" .")]

    @property
    def _lines(self) -> list[str]:
        text = self.session
        for piece, ours in self.instead.items():
            assert piece in text, f"{self.place} does not show {piece!r}"
            text = text.replace(piece, ours)
        return text.splitlines()
