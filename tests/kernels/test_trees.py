"""Walks over trees and graphs give each row its place."""

import runpy
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfprof.columns import Ragged, ints
from tfprof.kernels import trees

PLAIN = SimpleNamespace(**runpy.run_path(trees.__file__.partition(".")[0] + ".py"))
WAYS = [pytest.param(trees, id="as installed"), pytest.param(PLAIN, id="plain")]
each_way = pytest.mark.parametrize("way", WAYS)

GRAPHS = st.lists(st.lists(st.integers(-1, 9), max_size=4), min_size=10, max_size=10)


@st.composite
def parents_of_trees(draw):
    """For each node but the root its parent, -1 for the root, in any order."""
    count = draw(st.integers(0, 12))
    return [draw(st.integers(-1, node - 1)) for node in range(count)]


def preorder(children, node):
    """The node and everything below it, and where that ends."""
    found = [node]
    for child in children.get(node, ()):
        found += preorder(children, child)
    return found


@each_way
@given(parents_of_trees(), st.randoms())
def test_siblings_are_arranged_in_the_order_asked_for(way, parents, random):
    order = list(range(len(parents)))
    random.shuffle(order)
    children = {}
    for node in order:
        children.setdefault(parents[node], []).append(node)

    nodes, ends = way.arranged(ints(parents), ints(order))

    assert nodes.tolist() == preorder(children, -1)
    sizes = [len(preorder(children, node)) for node in nodes.tolist()]
    assert (ends - np.arange(len(ends))).tolist() == sizes


@each_way
@given(parents_of_trees())
def test_ends_levels_and_depths_tell_the_same_tree(way, parents):
    nodes, ends = way.arranged(ints(parents), np.arange(len(parents)))

    above, depths = way.levels(ends)

    row_of = {node: row for row, node in enumerate(nodes.tolist())}
    expected = [-1, *(row_of[parents[node]] for node in nodes.tolist()[1:])]
    assert above.tolist() == expected
    assert depths.tolist() == [1, *(depths[row] + 1 for row in expected[1:])]
    assert way.ends_of(depths).tolist() == ends.tolist()


@each_way
@given(GRAPHS, st.lists(st.integers(0, 9), unique=True))
def test_a_search_goes_deeper_first_and_finds_each_node_once(way, graph, tops):
    found, children = [], {}

    def visit(node, above):
        found.append(node)
        children.setdefault(above, []).append(node)
        for source in graph[node]:
            if source >= 0 and source not in found:
                visit(source, node)

    for top in tops:
        if top not in found:
            visit(top, -1)
    column = Ragged.of(graph)

    nodes, ends = way.search(column.offsets, column.values, ints(tops))

    assert nodes.tolist() == [-1, *found]
    sizes = [len(preorder(children, node)) for node in nodes.tolist()]
    assert (ends - np.arange(len(ends))).tolist() == sizes


def test_a_node_number_that_does_not_exist_is_refused():
    with pytest.raises(IndexError):
        trees.search(ints([0, 1]), ints([7]), ints([0]))


@each_way
def test_a_chain_goes_from_a_row_up_to_the_one_below_the_first(way):
    parents = ints([-1, 0, 1, 2, 0])

    found = way.chains(parents, ints([3, 0, 4]), ints([0, 3, 4, 5]))

    assert found.tolist() == [3, 2, 1, 0, 4]
