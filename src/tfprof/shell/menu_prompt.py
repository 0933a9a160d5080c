"""The prompt with prompt_toolkit: a completion menu, and suggestions from the history."""

from __future__ import annotations

from collections.abc import Iterable

from prompt_toolkit import PromptSession
from prompt_toolkit import completion as toolkit_completion
from prompt_toolkit import history as toolkit_history
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.document import Document
from prompt_toolkit.filters import completion_is_selected
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

from tfprof.shell.completion import Completer
from tfprof.shell.history import History
from tfprof.shell.screen import PROMPT


class MenuPrompt:
    """Reads lines from a terminal, with a completion menu and suggestions."""

    def __init__(self, completer: Completer, history: History, *, has_colour: bool) -> None:
        self._session: PromptSession[str] = PromptSession(
            [("bold" if has_colour else "", PROMPT)],
            completer=_Menu(completer),
            complete_while_typing=False,
            history=_SavedHistory(history),
            enable_history_search=True,
            # Without colour, a suggestion would look like typed text.
            auto_suggest=AutoSuggestFromHistory() if has_colour else None,
            key_bindings=_menu_keys(),
            enable_suspend=True,
        )

    def read(self, kept: str) -> str:
        """The next line, edited from `kept`."""
        return self._session.prompt(default=kept)


def _menu_keys() -> KeyBindings:
    """Key bindings: with a menu item selected, Enter and slash accept it."""
    keys = KeyBindings()

    @keys.add("enter", filter=completion_is_selected)
    def accept(event: KeyPressEvent) -> None:
        event.current_buffer.complete_state = None

    @keys.add("/", filter=completion_is_selected)
    def enter_scope(event: KeyPressEvent) -> None:
        event.current_buffer.complete_state = None
        if not event.current_buffer.document.text_before_cursor.endswith("/"):
            event.current_buffer.insert_text("/")

    return keys


class _Menu(toolkit_completion.Completer):
    def __init__(self, completer: Completer) -> None:
        self._completer = completer

    def get_completions(
        self, document: Document, complete_event: toolkit_completion.CompleteEvent
    ) -> Iterable[toolkit_completion.Completion]:
        del complete_event
        typed, candidates = self._completer.complete(document.text_before_cursor)
        for candidate in candidates:
            yield toolkit_completion.Completion(
                candidate.text,
                start_position=-len(typed),
                display=candidate.shown,
                display_meta=candidate.meaning,
            )


class _SavedHistory(toolkit_history.History):
    def __init__(self, history: History) -> None:
        super().__init__()
        self._history = history

    def load_history_strings(self) -> Iterable[str]:
        return reversed(self._history.lines)

    def store_string(self, string: str) -> None:
        self._history.add(string)
