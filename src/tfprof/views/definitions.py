"""Applies the options that change the profile: defined types, and what a dialect counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tfprof.columns import Coded, Shapes, Strings
from tfprof.model.ops import TypeSets
from tfprof.model.profile import ProfileColumns
from tfprof.options import Options
from tfprof.patterns import Patterns


def applied(profile: ProfileColumns, options: Options) -> ProfileColumns:
    """`profile` with what `options` defines and its dialect counts; itself if nothing changes.

    The last result is cached, so that questions with the same definitions can reuse its columns.
    """
    dialect = options.generation
    counts = profile.counts_float_ops and (dialect.adds_to_log or not _is_logged(profile))
    is_same = dialect.scalars_have_shape and counts == profile.counts_float_ops
    if is_same and not options.define_type:
        return profile
    key = (options.define_type, dialect.scalars_have_shape, counts)
    known: dict[tuple[Any, ...], ProfileColumns] = profile.memo.setdefault(applied, {})
    if key not in known:
        shape = profile.ops.shape
        ops = replace(
            profile.ops,
            types=_with_types(profile, options.define_type),
            shape=shape if dialect.scalars_have_shape else _without_scalars(shape),
        )
        known.clear()
        known[key] = replace(profile, ops=ops, counts_float_ops=counts).freeze()
    return known[key]


def _is_logged(profile: ProfileColumns) -> bool:
    """Whether an op log states the float operations of any op."""
    return bool(profile.ops.logged_float_ops.any())


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
