"""Applies the options that change the profile: defined types, and how scalars count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tfprof.columns import Coded, Shapes, Strings
from tfprof.model.ops import TypeSets
from tfprof.model.profile import ProfileColumns
from tfprof.options import Options
from tfprof.patterns import Patterns


def applied(profile: ProfileColumns, options: Options) -> ProfileColumns:
    """`profile` with the types that `options` defines; `profile` itself if nothing changes.

    The last result is cached, so that questions with the same definitions can reuse its columns.
    """
    has_shapes = options.generation.scalars_have_shape
    if has_shapes and not options.define_type:
        return profile
    key = (options.define_type, has_shapes)
    known: dict[tuple[tuple[str, ...], bool], ProfileColumns] = profile.memo.setdefault(applied, {})
    if key not in known:
        ops = replace(
            profile.ops,
            types=_with_types(profile, options.define_type),
            shape=profile.ops.shape if has_shapes else _without_scalars(profile.ops.shape),
        )
        known.clear()
        known[key] = replace(profile, ops=ops).freeze()
    return known[key]


def _with_types(profile: ProfileColumns, definitions: Sequence[str]) -> TypeSets:
    """The types of each op, with `name` added for each definition `name=regex` that matches it."""
    types = profile.ops.types
    pairs = [(types.members.owners, Coded(types.members.values, types.names))]
    for definition in definitions:
        name, _, regex = definition.partition("=")
        ops = np.flatnonzero(Patterns((regex,)).match_column(profile.ops.name))
        pairs.append((ops, Coded(np.zeros(len(ops), np.int64), Strings([name]))))
    return TypeSets.of_pairs(pairs, len(profile.ops))


def _without_scalars(shapes: Shapes) -> Shapes:
    """The same column, with unknown shapes instead of scalars."""
    return Shapes(shapes.codes, tuple(shape or None for shape in shapes.values))
