"""Replaces `auto`, the default of `select` and `order_by`, by what suits the files and the view."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from importlib import import_module

from tfprof.measures.numbers import EVERYTHING, per_op
from tfprof.metrics import AUTO, Need, selected_columns
from tfprof.model.profile import ProfileColumns
from tfprof.options import Options
from tfprof.views.registry import VIEWS, Trait

# What is selected without a recorded run, as far as the files contain it.
_OF_DEFINITIONS = ("float_ops", "params")


def resolved(kind: str, profile: ProfileColumns, options: Options) -> Options:
    """`options` with the metrics to select and the key to sort by, instead of `auto`."""
    if AUTO in options.select:
        others = [key for key in options.select if key != AUTO]
        select = tuple(sorted({*others, *_contents(kind, profile)}))
        options = replace(options, select=select)
    if options.order_by == AUTO:
        options = replace(options, order_by=_first_number(kind, options))
    return options


def _contents(kind: str, profile: ProfileColumns) -> tuple[str, ...]:
    """The metrics that describe the files best: time, memory, or else what is defined."""
    if VIEWS[kind].has_own_defaults:
        found: Iterable[str] = import_module(f"{__package__}.{kind}").columns(profile)
        return tuple(found)
    if profile.has(Need.RUNS):
        return ("bytes", "peak_bytes") if _has_only_memory(profile) else ("micros",)
    numbers = per_op(profile, EVERYTHING)
    filled = tuple(key for key in _OF_DEFINITIONS if numbers[key].any())
    return filled or (("op_types",) if Trait.CODE in VIEWS[kind].traits else ("occurrence",))


def _has_only_memory(profile: ProfileColumns) -> bool:
    """Whether runs have memory and no times, as in a memory snapshot; stores have sums of both."""
    is_untimed = profile.stored_runs is None and not len(profile.executions)
    return is_untimed and len(profile.memory) > 0


def _first_number(kind: str, options: Options) -> str:
    """The first column that can be sorted by; the name if there is none, or rows are drawn.

    Empty for views with an order of their own.
    """
    is_gathered = Trait.GATHERED in VIEWS[kind].traits
    if VIEWS[kind].has_own_defaults:
        return ""
    if options.destination.is_drawn:
        return "name"
    for metric in selected_columns(options.select, gathered=is_gathered):
        if metric.is_number or (metric.key == "occurrence" and is_gathered):
            return metric.key
    return "name"
