"""Trees are arranged, measured and searched, compiled or not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.plain_source import plain
from tfprof.columns import Ragged, ints
from tfprof.kernels import trees

PLAIN = plain(trees)
KERNELS = [pytest.param(trees, id="as installed"), pytest.param(PLAIN, id="plain")]
each_kernel = pytest.mark.parametrize("kernel", KERNELS)

GRAPHS = st.lists(st.lists(st.integers(-1, 9), max_size=4), min_size=10, max_size=10)


@st.composite
def parents_of_trees(draw):
    """The parent of each node of a random tree; -1 is the root."""
    count = draw(st.integers(0, 12))
    return [draw(st.integers(-1, node - 1)) for node in range(count)]


def preorder(children, node):
    """The node and everything below it."""
    found = [node]
    for child in children.get(node, ()):
        found += preorder(children, child)
    return found


@each_kernel
@given(parents_of_trees(), st.randoms())
def test_siblings_are_arranged_in_the_given_order(kernel, parents, random):
    order = list(range(len(parents)))
    random.shuffle(order)
    children = {}
    for node in order:
        children.setdefault(parents[node], []).append(node)

    nodes, ends = kernel.arranged(ints(parents), ints(order))

    assert nodes.tolist() == preorder(children, -1)
    sizes = [len(preorder(children, node)) for node in nodes.tolist()]
    assert (ends - np.arange(len(ends))).tolist() == sizes


@each_kernel
@given(parents_of_trees())
def test_ends_parents_and_depths_describe_the_same_tree(kernel, parents):
    nodes, ends = kernel.arranged(ints(parents), np.arange(len(parents)))

    above, depths = kernel.levels(ends)

    row_of = {node: row for row, node in enumerate(nodes.tolist())}
    expected = [-1, *(row_of[parents[node]] for node in nodes.tolist()[1:])]
    assert above.tolist() == expected
    assert depths.tolist() == [1, *(depths[row] + 1 for row in expected[1:])]
    assert kernel.ends_of(depths).tolist() == ends.tolist()


@each_kernel
@given(GRAPHS, st.lists(st.integers(0, 9), unique=True))
def test_a_search_is_depth_first_and_finds_each_node_once(kernel, graph, tops):
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

    nodes, ends = kernel.search(column.offsets, column.values, ints(tops))

    assert nodes.tolist() == [-1, *found]
    sizes = [len(preorder(children, node)) for node in nodes.tolist()]
    assert (ends - np.arange(len(ends))).tolist() == sizes


def test_an_unknown_node_number_is_refused():
    with pytest.raises(IndexError):
        trees.search(ints([0, 1]), ints([7]), ints([0]))


@each_kernel
def test_a_chain_leads_from_a_row_to_its_ancestor_below_the_root(kernel):
    parents = ints([-1, 0, 1, 2, 0])

    found = kernel.chains(parents, ints([3, 0, 4]), ints([0, 3, 4, 5]))

    assert found.tolist() == [3, 2, 1, 0, 4]
