"""Commands that open the shell, set its options and leave it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfprof.options import Options, default_of, find
from tfprof.outputs import registry

if TYPE_CHECKING:
    from tfprof.commands.command import Call


class QuitError(Exception):
    """Raised by the commands that leave the shell."""


def shell(call: Call) -> int:
    """Open the shell with the view options of this call."""
    options = call.view_options()
    registry.require(options.destination)
    profile = call.load()
    return call.front.open_shell(profile, options)


def keep(call: Call) -> None:
    """Apply the options of this call to the following lines too."""
    options = call.view_options()
    registry.require(options.destination)
    call.front.options = options


def reset(call: Call) -> None:
    """Reset the named options, or all, to their defaults."""
    front = call.front
    if not call.words:
        front.options = Options()
    for name in [find(word.removeprefix("-")).name for word in call.words]:
        default = default_of(name, front.options.dialect)
        front.options = front.options.taking({name: default})


def leave(_: Call) -> None:
    """Leave the shell."""
    raise QuitError
