"""Trees as arrays, compared with a recursive reference implementation."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tfprof.columns import ints
from tfprof.views.select import descending
from tfprof.views.tree import Tree

# net            0
# ├── conv       1
# │   ├── w      2
# │   └── b      3
# └── loss       4
SMALL = [-1, 0, 1, 1, 0]


NUMBERS = st.integers(-3, 3)


def trees(values=NUMBERS):
    """The parent of each row, and a value for each row."""
    steps = st.lists(st.tuples(st.integers(0, 4), values), min_size=1, max_size=20)
    return steps.map(lambda rows: (_parents([up for up, _ in rows]), [value for _, value in rows]))


def _parents(ups):
    """Place each row below the previous row, or below its ancestor `up` levels higher."""
    parents, path = [-1], [0]
    for row, up in enumerate(ups[1:], start=1):
        path = path[: max(1, len(path) - up)]
        parents.append(path[-1])
        path.append(row)
    return parents


# The reference implementation.


def children(parents, row):
    return [child for child, parent in enumerate(parents) if parent == row]


def subtree(parents, row):
    """The row and all rows below it."""
    return [row, *(each for child in children(parents, row) for each in subtree(parents, child))]


def ancestors(parents, row):
    """The rows above the row, its parent first."""
    above = parents[row]
    return [] if above < 0 else [above, *ancestors(parents, above)]


def ordered(parents, row, key):
    """The row and those below it, siblings by key and then in their old order."""
    below = sorted(children(parents, row), key=lambda child: key[child])
    return [row, *(each for child in below for each in ordered(parents, child, key))]


# Comparisons with random trees.


@given(trees())
def test_a_tree_built_from_parents_returns_the_same_parents(drawn):
    parents, _ = drawn

    assert Tree.of_parents(parents).parents.tolist() == parents


def test_in_a_flat_tree_all_rows_are_children_of_the_root():
    assert Tree.flat(4).parents.tolist() == [-1, 0, 0, 0]
    assert Tree.flat(1).parents.tolist() == [-1]


@given(st.lists(st.integers(0, 3), min_size=1))
def test_a_flat_tree_is_ordered_and_filtered_like_any_other(key):
    flat, plain = Tree.flat(len(key)), Tree(Tree.flat(len(key)).end)
    left = np.flatnonzero(np.array([3, *key[1:]]) > 1)

    assert flat.ordered(ints(key))[1].tolist() == plain.ordered(ints(key))[1].tolist()
    assert flat.keep(left).end.tolist() == plain.keep(left).end.tolist()
    assert flat.keep(left).is_flat


@given(trees())
def test_the_size_of_a_subtree_includes_its_root(drawn):
    parents, _ = drawn

    sizes = Tree.of_parents(parents).sizes

    assert sizes.tolist() == [len(subtree(parents, row)) for row in range(len(parents))]


@given(trees())
def test_the_root_is_at_depth_one(drawn):
    parents, _ = drawn

    depths = Tree.of_parents(parents).depths

    assert depths.tolist() == [1 + len(ancestors(parents, row)) for row in range(len(parents))]


@given(trees())
def test_sums_below_cover_the_subtree(drawn):
    parents, column = drawn

    sums = Tree.of_parents(parents).sums_below(np.array(column))

    assert sums.tolist() == [
        sum(column[below] for below in subtree(parents, row)) for row in range(len(parents))
    ]


@given(trees())
def test_sums_above_cover_the_ancestors_and_the_row(drawn):
    parents, column = drawn

    sums = Tree.of_parents(parents).sums_above(np.array(column))

    assert sums.tolist() == [
        sum(column[above] for above in [row, *ancestors(parents, row)])
        for row in range(len(parents))
    ]


@given(trees(st.booleans()))
def test_a_row_is_below_a_flagged_ancestor_but_not_below_itself(drawn):
    parents, flags = drawn

    found = Tree.of_parents(parents).is_below(np.array(flags))

    assert found.tolist() == [
        any(flags[above] for above in ancestors(parents, row)) for row in range(len(parents))
    ]


@given(trees(st.booleans()))
def test_kept_rows_move_up_to_their_nearest_kept_ancestor(drawn):
    parents, flags = drawn
    flags[0] = True

    found = Tree.of_parents(parents).keep(np.flatnonzero(flags)).parents

    rows = [row for row, is_kept in enumerate(flags) if is_kept]
    kept_above = [[above for above in ancestors(parents, row) if flags[above]] for row in rows]
    assert found.tolist() == [-1, *(rows.index(above[0]) for above in kept_above[1:])]


@given(trees())
def test_siblings_are_sorted_stably_by_a_key(drawn):
    parents, key = drawn

    tree, rows = Tree.of_parents(parents).ordered(np.array(key))

    assert rows.tolist() == ordered(parents, 0, key)
    assert rows[tree.parents[1:]].tolist() == [parents[row] for row in rows[1:]]


# Examples.


def test_a_subtree_is_a_slice():
    assert Tree.of_parents(SMALL).end.tolist() == [5, 4, 3, 4, 5]


def test_a_tree_has_a_row_for_each_node():
    assert len(Tree.of_parents(SMALL)) == 5


def test_a_single_root_is_a_tree():
    tree, rows = Tree.of_parents([-1]).ordered(np.array([7]))

    assert tree.parents.tolist() == [-1]
    assert rows.tolist() == [0]


def test_the_children_of_a_removed_row_move_up():
    kept = Tree.of_parents(SMALL).keep(np.array([0, 2, 3, 4]))

    assert kept.parents.tolist() == [-1, 0, 0, 0]


def test_a_subtree_moves_with_its_root():
    _, rows = Tree.of_parents(SMALL).ordered(np.array([0, 9, 1, 0, 2]))

    assert rows.tolist() == [0, 4, 1, 3, 2]


def test_a_sum_is_correct_even_if_the_running_sum_overflows():
    sums = Tree.of_parents([-1, 0, 0, 0]).sums_below(np.array([0, 2**62, 2**62, 2**62]))

    assert sums[1:].tolist() == [2**62, 2**62, 2**62]


def test_a_descending_key_handles_the_smallest_number():
    column = np.array([0, -(2**63), 2**63 - 1, 5])

    assert np.argsort(descending(column)).tolist() == [2, 3, 0, 1]


def test_a_walk_enters_a_node_before_its_subtree_and_leaves_it_afterwards():
    tree = Tree.of_parents([-1, 0, 1, 0])

    entered, left = tree.walk()

    assert entered.tolist() == [0, 1, 2, 5]
    assert left.tolist() == [7, 4, 3, 6]
