"""The command `ui`: serve a page on the files, and answer its questions."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from tfprof.commands.command import Command, Place, options_of
from tfprof.errors import OptionError, nearest
from tfprof.options import (
    GENERAL_OPTIONS,
    INPUT_OPTIONS,
    OUTPUT_OPTIONS,
    VIEW_OPTIONS,
    Kind,
    Options,
    find,
)
from tfprof.options.words import parsed
from tfprof.page.views import WHOLE
from tfprof.views.registry import VIEWS
from tfprof.web import browser
from tfprof.web.live_profile import LiveProfile
from tfprof.web.server import ADDRESS, Server
from tfprof.web.site import Site
from tfprof.web.watching import Watcher, fingerprint

if TYPE_CHECKING:
    from tfprof.commands.command import Call

_LARGEST_PORT = 65_535
# The page shows answers itself. It must not make the server write files.
_NOT_ON_THE_PAGE = ("output", "dump_to_file", "viz", *OUTPUT_OPTIONS, *GENERAL_OPTIONS)


def ui(call: Call) -> None:
    """Serve the page until the user stops it."""
    port = call.value("port")
    if not 0 <= port <= _LARGEST_PORT:
        raise OptionError(f"`port` takes a number from 0 to {_LARGEST_PORT}, not {port}.")
    look = partial(fingerprint, _paths(call))
    loaded = look()
    live = LiveProfile(call.load)
    site = Site(live, partial(view_options, call.front.commands))
    watcher = Watcher(look, loaded, live.reload)
    with suppress(_Terminated), Server(port, site.reply) as server, _stopped_by_sigterm():
        watcher.start()
        threading.Thread(target=site.prepare, daemon=True).start()  # while the browser starts
        address = f"http://{ADDRESS}:{server.server_port}"
        _greet(call, f"{address}/{site.token}/")
        if not call.value("no_browser"):
            browser.open_page(f"{address}/{site.entry}")
        try:
            server.serve_forever()
        finally:
            watcher.stop()


def view_options(
    commands: Mapping[str, Command], kind: str, texts: Sequence[tuple[str, str]]
) -> Options:
    """Read the options of a view as the command line does, with the same errors.

    Without options, a page shows all rows.
    """
    if kind not in VIEWS:
        raise OptionError(f"Unknown view `{kind}`. {nearest(kind, VIEWS)}")
    known = GENERAL_OPTIONS | options_of(commands.values(), Place.COMMAND_LINE)
    names = [find(name, known).name for name, _ in texts]
    command = _on_the_page(commands[kind])
    command.require_known(names, Place.COMMAND_LINE, commands.values())
    return WHOLE.taking(parsed(texts, command.options))


def _on_the_page(command: Command) -> Command:
    """A command with the options that the page may set."""
    return replace(
        command,
        inputs={},
        options={name: VIEW_OPTIONS[name] for name in VIEW_OPTIONS if name not in _NOT_ON_THE_PAGE},
        instead=dict.fromkeys(INPUT_OPTIONS, "The page shows the files it was started with.")
        | dict.fromkeys(_NOT_ON_THE_PAGE, "Use it on the command line."),
    )


def _paths(call: Call) -> list[str]:
    """All files and folders that the call names."""
    paths = list(call.words)
    for name, value in call.given_of(INPUT_OPTIONS).items():
        if INPUT_OPTIONS[name].kind is Kind.PATH:
            paths.append(value)
        elif INPUT_OPTIONS[name].kind is Kind.PATHS:
            paths += [path for _, path in value]
    return paths


def _greet(call: Call, address: str) -> None:
    call.show([f"{address}\n"])
    if sys.stdout is not None:
        sys.stdout.flush()  # for programs that wait for the address
    call.say("this page is available on this machine until you press Ctrl-C.")


@contextmanager
def _stopped_by_sigterm() -> Iterator[None]:
    """Exit in good order on SIGTERM; only the main thread can receive signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _exit)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class _Terminated(BaseException):
    """SIGTERM is how a server is stopped; the program goes on to its end."""


def _exit(*_: object) -> None:
    raise _Terminated
