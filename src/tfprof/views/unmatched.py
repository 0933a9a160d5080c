"""Notes on regexes that match nothing, with one that does."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tfprof.columns import Strings
from tfprof.errors import nearest
from tfprof.metrics import Need
from tfprof.options import default_of
from tfprof.patterns import Patterns
from tfprof.views.view import View

_NAME_FILTERS = tuple(f"{verb}_name_regexes" for verb in ("start", "trim", "show", "hide"))


def notes(view: View) -> Iterator[str]:
    """A sentence for each regex that matches no type, device or row."""
    profile, options = view.profile, view.options
    if not len(profile.ops):
        return
    types = profile.ops.types.names
    defined = {text.partition("=")[0] for text in options.define_type}  # these have their own note
    for regex in filter(None, options.account_type_regexes):
        if regex not in defined and not Patterns((regex,)).match_column(types).any():
            yield _sentence("account_type_regexes", regex, "op type", types)
    yield from _devices(view)
    if view.trail is None:
        return
    for option in _NAME_FILTERS:
        is_default = getattr(options, option) == default_of(option, options.dialect)
        if not is_default and option_is_used(view, option):
            for regex in view.trail.unmatched(option):
                yield _sentence(option, regex, "row", view.trail.names)


def option_is_used(view: View, option: str) -> bool:
    """Whether an option with regexes filters anything."""
    patterns = view.options.patterns(option)
    return not patterns.is_empty and not patterns.is_everything


def _devices(view: View) -> Iterator[str]:
    """Devices are matched in lower case, and an op that did not run has none."""
    if not option_is_used(view, "device_regexes"):
        return
    names = Strings(dict.fromkeys(view.profile.devices.name))
    if not len(names):
        files = view.profile.remedies[Need.RUNS]
        yield f"-device_regexes: no op has a device, because no run was recorded; give {files}."
        return
    for regex in view.options.device_regexes:
        if not Patterns((f"(?i){regex}",)).match_column([*names, ""]).any():
            yield _sentence("device_regexes", regex, "device", names)


def _sentence(option: str, regex: str, what: str, names: Strings) -> str:
    return f"-{option}: no {what} matches `{regex}`. {_hint(regex, what, names)}"


def _hint(regex: str, what: str, names: Strings) -> str:
    """A similar regex that matches, or the names that are most like it."""
    for wider in _wider(regex):
        matches = Patterns((wider,)).match_column(names)
        if count := int(matches.sum()):
            example = names[int(matches.argmax())]
            found = f"{count:,} {what}s, such as `{example}`" if count > 1 else f"`{example}`"
            return f"A regex must match the whole name: `{wider}` matches {found}."
    literal = re.sub(r"\\(.)", r"\1", regex).replace(".*", "").strip("^$")
    return nearest(literal, names, alike=names.alike(literal), most=3)


def _wider(regex: str) -> Sequence[str]:
    """Regexes that a user may have meant by `regex`, the narrowest first."""
    if not regex:
        return ()
    inner = f"(?:{regex})" if "|" in regex else regex
    found = [f"{inner}.*", f".*{inner}", f".*{inner}.*"]
    if regex.endswith("/"):
        found.insert(0, regex.rstrip("/"))
    lower = regex.lower()  # device names are in lower case
    return [*found, lower, f".*{lower}.*"] if lower != regex else found
