"""The addresses of the page, below its token: the page, its data, its questions and events."""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from email.message import Message
from http import HTTPStatus
from urllib.parse import parse_qsl

from tfprof.api import Profile
from tfprof.errors import MissingInputError, OptionError, TfprofError, one_line
from tfprof.options import Options
from tfprof.web import content
from tfprof.web.access import is_token, new_token, refusal
from tfprof.web.live_profile import LiveProfile, State
from tfprof.web.reply import EVENTS, HTML, PACKED, Reply, event, failed, refused

# Reads the options of a view from their names and texts; raises `OptionError`.
Reader = Callable[[str, Sequence[tuple[str, str]]], Options]

_MOST_FIELDS = 200  # of a question
_HEARTBEAT_SECONDS = 15.0
_HEARTBEAT = b": still here\n\n"  # a comment; the write fails if the browser has left
_CANNOT_ASK = (OptionError, MissingInputError)


class Site:
    """Answers requests about a profile."""

    def __init__(self, live: LiveProfile, read: Reader) -> None:
        self.token = new_token()
        # For opening a browser: other users can see the address in the list of processes, so this
        # one works once.
        self.entry = new_token()
        self._entered = threading.Lock()  # acquired by the first who uses it, and never released
        self._live = live
        self._read = read
        self._routes: dict[str, Callable[[str], Reply]] = {
            "": self._page,
            "data": self._data,
            "graph": self._graph,
            "view": self._view,
            "events": self._events,
        }

    def reply(self, method: str, target: str, headers: Message) -> Reply:
        """The reply to a request for `target`, which is a path and a query."""
        if (status := refusal(method, headers)) is not None:
            return refused(status)
        path, _, query = target.partition("?")
        if self._enters(path):
            return Reply(HTTPStatus.SEE_OTHER, more={"Location": f"/{self.token}/"})
        start, _, rest = path.removeprefix("/").partition("/")
        route = self._routes.get(rest)
        if not is_token(start, self.token) or route is None or path != f"/{self.token}/{rest}":
            return refused(HTTPStatus.NOT_FOUND)
        return _guarded(route, query)

    def prepare(self) -> None:
        """Compute the data of the page, so that the first requests do not wait for it."""
        _guarded(self._data, "")
        _guarded(self._graph, "")

    def _enters(self, path: str) -> bool:
        return is_token(path, f"/{self.entry}") and self._entered.acquire(blocking=False)

    def _page(self, _: str) -> Reply:
        page = content.document(self._live.state.generation.profile)
        # A document cannot forbid frames itself.
        return Reply(
            HTTPStatus.OK, HTML, page.html, policy=f"{page.policy}; frame-ancestors 'none'"
        )

    def _data(self, _: str) -> Reply:
        return self._packed("data", content.data)

    def _graph(self, _: str) -> Reply:
        return self._packed("graph", content.graph)

    def _view(self, query: str) -> Reply:
        try:
            fields = parse_qsl(
                query, keep_blank_values=True, errors="strict", max_num_fields=_MOST_FIELDS
            )
        except ValueError:
            raise OptionError("The question cannot be decoded.") from None
        kinds = [value for name, value in fields if name == "kind"]
        if len(kinds) != 1:
            raise OptionError("A question has one `kind`, the view.")
        texts = [(name, text) for name, text in fields if name != "kind"]
        kind, options = kinds[0], self._read(kinds[0], texts)
        return self._packed(
            ("view", kind, options), lambda profile: content.view(profile, kind, options)
        )

    def _packed(self, question: object, compute: Callable[[Profile], bytes]) -> Reply:
        generation = self._live.state.generation
        body = generation.answer(question, compute)
        more = {"Tfprof-Generation": str(generation.number)}
        return Reply(HTTPStatus.OK, PACKED, body, more=more)

    def _events(self, _: str) -> Reply:
        return Reply(HTTPStatus.OK, EVENTS, stream=self._changes())

    def _changes(self) -> Iterator[bytes]:
        """The current state as an event, then each change, with heartbeats in between."""
        state = self._live.state
        yield _event(state)
        while True:
            newer = self._live.wait(state.version, _HEARTBEAT_SECONDS)
            yield _HEARTBEAT if newer.version == state.version else _event(newer)
            state = newer


def _event(state: State) -> bytes:
    about: dict[str, object] = {"generation": state.generation.number}
    if state.error:
        return event("failed", about | {"error": state.error})
    return event("changed", about)


def _guarded(route: Callable[[str], Reply], query: str) -> Reply:
    """The reply of a route; an error becomes one line for the page."""
    try:
        return route(query)
    except _CANNOT_ASK as error:
        return failed(HTTPStatus.BAD_REQUEST, one_line(error))
    except TfprofError as error:
        return failed(HTTPStatus.INTERNAL_SERVER_ERROR, one_line(error))
    except Exception:  # noqa: BLE001 -- a defect must not end the server, nor show its insides
        traceback.print_exc(file=sys.stderr)
        sentence = "The question cannot be answered; the terminal shows the cause."
        return failed(HTTPStatus.INTERNAL_SERVER_ERROR, sentence)
