"""Routes every `Session.run` through a profile context while that context is active."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from tfprof.frameworks import tensorflow

_MISSING = object()


class Call(NamedTuple):
    """The arguments of a `Session.run`."""

    fetches: Any
    feed_dict: Any = None
    options: Any = None
    run_metadata: Any = None


class Context(Protocol):
    """An object that takes over `Session.run`."""

    def run(self, session: Any, run: Callable[..., Any], call: Call) -> Any:
        """Perform `run(session, *call)` and return its result."""


def route_through(context: Context) -> Callable[[], None]:
    """Route every `Session.run` through `context`; call the returned function to undo this.

    Meanwhile `context` is available as `BaseSession.profile_context`, where programs look for it.
    """
    tf = tensorflow()
    from tensorflow.python.client.session import BaseSession  # noqa: PLC0415 -- base class of all sessions

    before = vars(BaseSession).get("profile_context", _MISSING)
    if before not in (_MISSING, None):  # None: TensorFlow's own context was active earlier
        raise tf.errors.InternalError(None, None, "Already in context or context not cleaned.")
    plain = BaseSession.run

    def run(
        self: Any,
        fetches: Any,
        feed_dict: Any = None,
        options: Any = None,
        run_metadata: Any = None,
    ) -> Any:
        return context.run(self, plain, Call(fetches, feed_dict, options, run_metadata))

    def undo() -> None:
        BaseSession.run = plain
        if before is _MISSING:
            del BaseSession.profile_context
        else:
            BaseSession.profile_context = before

    BaseSession.run = run
    BaseSession.profile_context = context
    return undo
