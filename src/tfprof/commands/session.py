"""Commands about the session itself: its options, its beginning and its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.options import Options, default_of, find
from tfprof.outputs import registry

if TYPE_CHECKING:
    from tfprof.commands.command import Call


class QuitError(Exception):
    """The user wants to leave the shell."""


def shell(call: Call) -> int:
    """Open the shell, with the options of views that were typed in force."""
    options = call.view_options()
    registry.require(options.destination)
    profile = call.load()
    call.say(*profile.notes)
    return call.front.open_shell(profile, options)


def keep(call: Call) -> None:
    """Keep the options that were typed for the following lines."""
    options = call.view_options()
    registry.require(options.destination)
    call.front.options = options


def reset(call: Call) -> None:
    """Reset all options to their defaults, or those that are named."""
    front = call.front
    if not call.words:
        front.options = Options()
    for name in [find(word.removeprefix("-")).name for word in call.words]:
        default = default_of(name, front.options.dialect)
        front.options = front.options.taking({name: default})


def leave(_: Call) -> None:
    """Leave the shell."""
    raise QuitError
