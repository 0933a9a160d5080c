"""The shapes that were fed to a function replace those that its graph leaves open."""

from collections import Counter
from types import SimpleNamespace

import pytest

from tfprof.capture.fed_shapes import Fed, FedArguments
from tfprof.formats.messages import message_class

FLOAT, INT64, STRING = 1, 9, 7


def iterator(*components):
    """A GraphDef with an op that takes elements with these types and shapes from an iterator."""
    graph = message_class("tensorflow.GraphDef")()
    node = graph.node.add(name="next", op="IteratorGetNext")
    for number, shape in components:
        node.attr["output_types"].list.type.append(number)
        for attribute in ("output_shapes", "_output_shapes"):
            stated = node.attr[attribute].list.shape.add()
            for dim in shape:
                stated.dim.add().size = dim
    return graph


def stated(graph):
    """The output shapes of the first op."""
    shapes = graph.node[0].attr["_output_shapes"].list.shape
    return [tuple(dim.size for dim in shape.dim) for shape in shapes]


def fed_with(graph, *sizes):
    fed = Fed(element_bytes=sizes)
    fed.substitute(graph, [])
    return fed


def test_the_batch_size_follows_from_the_bytes_of_an_element():
    graph = iterator((FLOAT, (-1, 5)), (INT64, (-1,)), (FLOAT, (3,)))

    fed_with(graph, 32 * (4 * 5 + 8) + 12)

    assert stated(graph) == [(32, 5), (32,), (3,)]


def test_the_most_frequent_batch_size_is_used():
    graph = iterator((FLOAT, (-1, 5)))

    fed = fed_with(graph, 20 * 8, 20 * 8, 20 * 3)

    assert stated(graph) == [(8, 5)]
    assert fed.batches == {8: 2, 3: 1}


def test_of_equally_frequent_batch_sizes_the_largest_is_used():
    graph = iterator((FLOAT, (-1, 5)))

    fed_with(graph, 20 * 3, 20 * 8)

    assert stated(graph) == [(8, 5)]


@pytest.mark.parametrize(
    "component", [(FLOAT, (-1, -1)), (STRING, (-1,)), (FLOAT, (4, 5)), (FLOAT, (5, -1))]
)
def test_other_shapes_are_left_as_they_are(component):
    graph = iterator(component)

    fed = fed_with(graph, 80)

    assert stated(graph) == [component[1]]
    assert not fed.batches


def test_elements_of_other_iterators_are_ignored():
    graph = iterator((FLOAT, (-1, 5)))

    fed_with(graph, 20 * 3 + 1)

    assert stated(graph) == [(-1, 5)]


class Shape(tuple):
    """The shape of a tensor, as far as it is used."""

    __slots__ = ()
    rank = 2

    def is_fully_defined(self):
        return None not in self


def function(*shapes):
    inputs = [SimpleNamespace(shape=Shape(shape)) for shape in shapes]
    return SimpleNamespace(name=b"step", graph=SimpleNamespace(inputs=inputs))


def call(seen, step, *shapes):
    seen.see(step, [SimpleNamespace(shape=Shape(shape)) for shape in shapes])


def test_calls_are_counted_by_the_shapes_of_open_arguments():
    seen, step = FedArguments(), function((3, 3), (None, 4))
    call(seen, step, (3, 3), (8, 4))
    call(seen, step, (3, 3), (8, 4))
    call(seen, step, (3, 3), (None, 4))  # while another function is traced

    assert seen.of("step") == {((1, (8, 4)),): 2}
    assert seen.of("other") == Counter()


def test_an_argument_has_the_shape_of_most_calls():
    graph = message_class("tensorflow.GraphDef")()
    node = graph.node.add(name="x", op="Placeholder")
    node.attr["_output_shapes"].list.shape.add().dim.add().size = -1
    fed = Fed(Counter({((1, (8, 4)),): 2, ((1, (9, 4)),): 1}))

    fed.substitute(graph, ["w", "x"])

    assert stated(graph) == [(8, 4)]
    assert fed.batches == {8: 2, 9: 1}
