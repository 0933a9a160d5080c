"""What a row of a document is: a command line, what is typed behind it, and what that shows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

_PROMPT = "tfprof>"


@dataclass(frozen=True, kw_only=True)
class Row:
    """A command line of a document with its listing."""

    place: str  # the document and where in it
    dialect: str = ""  # in which it was printed
    model: Callable[[Path], None]  # writes the files into a folder
    start: str  # the words behind `tfprof`
    session: str  # lines behind a prompt are typed, the others are shown
    instead: Mapping[str, str] = field(default_factory=dict)  # what cannot be repeated: our words
    file: str = ""  # where the listing is, if not on the standard output
    is_cut: bool = False  # the document left lines out: those it has come in this order
    is_form: bool = False  # the model is another one: only the form of each line is that shown
    timeline: str = ""  # the timeline that it writes

    @property
    def typed(self) -> str:
        """The lines that are typed into the shell."""
        lines = [line for line in self._lines if line.startswith(_PROMPT)]
        return "".join(f"{line.removeprefix(_PROMPT).strip()}\n" for line in lines)

    @property
    def shown(self) -> list[str]:
        """The lines that are shown, without the dots where the document was cut."""
        lines = [line for line in self._lines if not line.startswith(_PROMPT)]
        return [line.rstrip() for line in lines if line.strip(" .")]

    @property
    def _lines(self) -> list[str]:
        text = self.session
        for piece, ours in self.instead.items():
            assert piece in text, f"{self.place} does not show {piece!r}"
            text = text.replace(piece, ours)
        return text.splitlines()
