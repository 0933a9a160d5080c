"""Parse options from the words of a command line or a shell line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tfprof.errors import OptionError
from tfprof.options import find
from tfprof.options.values import ADDED, FALSE, TRUE, Kind, Option


def take_options(
    words: Sequence[str],
    known: Mapping[str, Option],
    *,
    dashes: tuple[str, ...] = ("--", "-"),
    loose: bool = True,
    stops: bool = False,
) -> tuple[dict[str, Any], list[str]]:
    """The values of the options in `words`, and the words that are not part of an option.

    With `loose`, as on the command line, `-name=value` is accepted and a switch may be followed by
    any word. Without it, as in the shell, a switch must be followed by its value, by another option
    or by the end of the line. With `stops`, parsing ends at the first word that is not part of an
    option, or after an option that ends the others.
    """
    texts, rest = take_texts(words, known, dashes=dashes, loose=loose, stops=stops)
    return parsed(texts, known), rest


def take_texts(
    words: Sequence[str],
    known: Mapping[str, Option],
    *,
    dashes: tuple[str, ...] = ("--", "-"),
    loose: bool = True,
    stops: bool = False,
) -> tuple[list[tuple[str, str]], list[str]]:
    """Like `take_options`, with each option as its name and the text of its value."""
    found: list[tuple[str, str]] = []
    rest: list[str] = []
    names = {option.short: name for name, option in known.items() if option.short}
    queue = list(reversed(words))
    while queue:
        word = queue.pop()
        name = _option_name(word, dashes)
        if name is None:
            rest.append(word)
            if stops:
                return found, [*rest, *reversed(queue)]
            continue
        name, equals, value = name.partition("=") if loose else (name, "", "")
        option = find(names.get(name, name), known)
        if not equals:
            value = _next_value(option, queue, loose=loose)
        found.append((option.name, value))
        if stops and option.ends:
            return found, [*rest, *reversed(queue)]
    return found, rest


def parsed(texts: Iterable[tuple[str, str]], known: Mapping[str, Option]) -> dict[str, Any]:
    """The values of options, given as names and texts.

    Type definitions and repeatable files accumulate; of any other option the last value counts.
    """
    given: dict[str, Any] = {}
    for name, text in texts:
        value = known[name].parse(text)
        is_added = known[name].kind in ADDED
        given[name] = given.get(name, ()) + value if is_added else value
    return given


def _option_name(word: str, dashes: tuple[str, ...]) -> str | None:
    """`word` without its dashes, or None if it is not an option."""
    for dash in dashes:
        if word.startswith(dash) and len(word) > len(dash) and not word[len(dash)].isdigit():
            return word[len(dash) :]
    return None


def _next_value(option: Option, queue: list[str], *, loose: bool) -> str:
    if option.kind is Kind.SWITCH:
        if not queue or queue[-1].startswith("-"):
            return "true"
        if loose and queue[-1].lower() not in TRUE | FALSE:
            return "true"
    if not queue:
        raise OptionError(f"`-{option.name}` requires a value: -{option.name} {option.value}.")
    return queue.pop()
