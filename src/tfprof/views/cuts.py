"""Notes on rows that options leave out: by depth, by threshold, or altogether."""

from __future__ import annotations

from collections.abc import Iterator

from tfprof.metrics import BY_KEY
from tfprof.options import VIEW_OPTIONS, default_of
from tfprof.units import counted
from tfprof.views.registry import Trait
from tfprof.views.unmatched import option_is_used
from tfprof.views.view import Trail, View

_FILTERS = (
    *("account_type_regexes", "start_name_regexes", "trim_name_regexes", "show_name_regexes"),
    *("hide_name_regexes", "device_regexes"),
)


def notes(view: View, *, is_explained: bool = False) -> Iterator[str]:
    """How many rows are left out without being asked for, or why none is left.

    With `is_explained`, another note explains why no row is left.
    """
    trail = view.trail
    if trail is None:
        return
    if not len(view.profile.ops):
        yield "these files contain no ops."
        return
    found = [*_depth(view, trail), *_thresholds(view, trail), *_default_names(view, trail)]
    yield from found or (() if is_explained else _emptied(view))


def _depth(view: View, trail: Trail) -> Iterator[str]:
    depths = trail.too_deep()
    if not len(depths):
        return
    is_nested, limit = Trait.NESTED in view.traits, view.options.max_depth
    where = f"after the first {limit + 1:,}"
    if is_nested:
        where = f"below depth {limit}" if limit > 1 else "below the root"
    rows, are = counted(len(depths), "row"), "is" if len(depths) == 1 else "are"
    missing = "neither shown nor counted" if trail.recounts else "not shown"
    yield f"{rows} {where} {are} {missing}; -max_depth {int(depths.max())} shows all."


def _thresholds(view: View, trail: Trail) -> Iterator[str]:
    for key, (largest, name) in trail.unreached().items():
        if not view.profile.has(BY_KEY[key].needs):
            continue  # the note on the missing file explains it
        least = view.options.threshold(key)
        largest_of = f"the largest number is {largest:,} (`{name}`)"
        what_to_do = f"-min_{key} {largest} shows it" if largest > 0 else f"leave out -min_{key}"
        yield f"no row reaches -min_{key} {least}: {largest_of}; {what_to_do}."


def _default_names(view: View, trail: Trail) -> Iterator[str]:
    """Rows that only the default of a dialect hides."""
    options = view.options
    default = default_of("hide_name_regexes", options.dialect)
    if not default or options.hide_name_regexes != default:
        return
    if hidden := trail.hidden_by_name():
        rows_are = counted(hidden, "row is", "rows are")
        yield (
            f"{rows_are} hidden by the default of -hide_name_regexes in this dialect; "
            '-hide_name_regexes "" shows all.'
        )


def _emptied(view: View) -> Iterator[str]:
    """Which filters leave no row, if no single one explains it."""
    if len(view) > 1:
        return
    used = [f"-{option}" for option in _FILTERS if option_is_used(view, option)]
    used += [
        f"-{name}"
        for name in VIEW_OPTIONS
        if name.startswith("min_") and getattr(view.options, name) > 0
    ]
    if len(used) > 1:
        yield f"no row passes all of {', '.join(used)}; leave one out to see what the others keep."
