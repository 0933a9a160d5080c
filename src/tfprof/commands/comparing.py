"""The command `diff`: compares two profiles."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tfprof.comparisons import Diff
from tfprof.errors import OptionError, nearest
from tfprof.views.registry import VIEWS

if TYPE_CHECKING:
    from tfprof.commands.command import Call

_BETWEEN = "vs"


def diff(call: Call) -> None:
    """Show or write the comparison of two profiles."""
    kind = str(call.value("view"))
    if kind not in VIEWS:
        raise OptionError(f"Unknown view `{kind}`. {nearest(kind, VIEWS)}")
    formats = [name for name in ("json", "markdown") if call.value(name)]
    options = call.view_options()
    if len(formats) > 1 or (formats and options.output):
        raise OptionError("Use only one of -json, -markdown and -output.")
    base, new = (call.front.load(replace(call, words=words)) for words in sides(call.words))
    answer = Diff(base, new).view(kind, options, unchanged=bool(call.value("unchanged")))
    if formats:
        call.show([answer.to_json() if formats == ["json"] else answer.to_markdown()])
    else:
        call.say(*answer.write(show=call.show))
    call.say(*answer.notes)


def sides(words: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The files of the base and of the new profile."""
    if _BETWEEN in words:
        place = words.index(_BETWEEN)
        base, new = words[:place], words[place + 1 :]
    elif len(words) == 2:
        base, new = words[:1], words[1:]
    else:
        base, new = words, ()
    if not base or not new or _BETWEEN in new:
        raise OptionError(
            "A comparison takes BASE and NEW; separate several files of a side from those of the "
            f"other with the word {_BETWEEN}: tfprof diff A1 A2 {_BETWEEN} B1 B2."
        )
    return base, new
