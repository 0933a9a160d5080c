"""The prompt without prompt_toolkit: Python's `input`, with readline if available."""

from __future__ import annotations

from tfprof.shell.completion import Completer
from tfprof.shell.history import History
from tfprof.shell.screen import PROMPT

try:
    import readline
except ImportError:  # on Windows
    readline = None  # type: ignore[assignment]


class PlainPrompt:
    """Reads lines from a terminal, with history and completion if readline is available."""

    def __init__(self, completer: Completer, history: History) -> None:
        self._completer = completer
        self._history = history
        self._matches: list[str] = []
        if readline is not None:
            for line in history.lines:
                readline.add_history(line)
            readline.set_completer_delims(" \t\n")
            readline.set_completer(self._match)
            is_libedit = "libedit" in (readline.__doc__ or "")
            readline.parse_and_bind("bind ^I rl_complete" if is_libedit else "tab: complete")

    def read(self, kept: str) -> str:
        """The next line; with readline, `kept` is there to edit."""
        if readline is not None:
            readline.set_startup_hook(lambda: readline.insert_text(kept))
        try:
            line = input(PROMPT)
        except (EOFError, KeyboardInterrupt):
            print()  # start a new line after the prompt
            raise
        self._history.add(line)
        return line

    def _match(self, word: str, number: int) -> str | None:
        """The candidate with that number for `word`, the word at the cursor, or None.

        readline calls this with 0, 1, 2, … until it returns None.
        """
        if number == 0:
            before = readline.get_line_buffer()[: readline.get_endidx()]
            typed, candidates = self._completer.complete(before)
            unchanged = word.removesuffix(typed)
            self._matches = [unchanged + candidate.text for candidate in candidates]
        return self._matches[number] if number < len(self._matches) else None
