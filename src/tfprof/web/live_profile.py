"""The profile that is served: loaded again when its files change, with answers computed once."""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Callable, Hashable
from typing import NamedTuple

from tfprof.api import Profile
from tfprof.errors import TfprofError, one_line

_MOST_ANSWER_BYTES = 1 << 26


class Generation:
    """A loaded profile with its number, and the answers computed from it."""

    def __init__(self, number: int, profile: Profile) -> None:
        self.number = number
        self.profile = profile
        self._answers: dict[Hashable, bytes] = {}
        self._access = threading.Lock()
        self._computing = threading.Lock()

    def answer(self, question: Hashable, compute: Callable[[Profile], bytes]) -> bytes:
        """The answer to `question`, computed on first use; the oldest answers are dropped.

        One answer is computed at a time, because a profile stores results without locking. Known
        answers do not wait for that.
        """
        if (known := self._known(question)) is not None:
            return known
        with self._computing:
            # Another request may have asked the same in the meantime.
            if (known := self._known(question)) is not None:
                return known
            found = compute(self.profile)
            self._keep(question, found)
            return found

    def _known(self, question: Hashable) -> bytes | None:
        with self._access:
            if question not in self._answers:
                return None
            self._answers[question] = self._answers.pop(question)  # the first is the oldest
            return self._answers[question]

    def _keep(self, question: Hashable, answer: bytes) -> None:
        with self._access:
            self._answers[question] = answer
            size = sum(map(len, self._answers.values()))
            for oldest in list(self._answers)[:-1]:
                if size <= _MOST_ANSWER_BYTES:
                    break
                size -= len(self._answers.pop(oldest))


class State(NamedTuple):
    """The served generation, and why newer files could not be loaded, if so."""

    version: int  # counts changes of the state, including failures
    generation: Generation
    error: str = ""


class LiveProfile:
    """The current state; requests read it while another thread loads the next one."""

    def __init__(self, load: Callable[[], Profile]) -> None:
        self._load = load
        self._state = State(1, Generation(1, load()))
        self._changed = threading.Condition()

    @property
    def state(self) -> State:
        """The current state."""
        return self._state

    def reload(self) -> None:
        """Load the files again; if that fails, keep the profile and report the error."""
        version, generation, _ = self._state
        try:
            profile = self._load()
        except TfprofError as error:
            self._publish(State(version + 1, generation, one_line(error)))
        except Exception:  # noqa: BLE001 -- a defect must not end the thread that watches files
            traceback.print_exc(file=sys.stderr)
            trouble = "the files cannot be loaded; the terminal shows the cause."
            self._publish(State(version + 1, generation, trouble))
        else:
            self._publish(State(version + 1, Generation(generation.number + 1, profile)))

    def wait(self, version: int, seconds: float) -> State:
        """Wait until the state is newer than `version`, for at most `seconds`."""
        with self._changed:
            self._changed.wait_for(lambda: self._state.version != version, seconds)
            return self._state

    def _publish(self, state: State) -> None:
        with self._changed:
            self._state = state
            self._changed.notify_all()
