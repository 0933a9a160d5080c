"""Reading the functions in the library of a graph."""

from sources.test_tf_functions import TWICE, calling, function, node, program
from tfprof.columns import Coded, Shapes, Strings
from tfprof.formats import function_def, graph_def
from tfprof.formats.function_def import Library
from tfprof.formats.records import Records


def plain(body):
    """A body as lists."""
    found = {}
    for name in function_def.Body.__slots__:
        column = getattr(body, name)
        is_rows = isinstance(column, Coded | Shapes | Strings)
        found[name] = [column[row] for row in range(len(column))] if is_rows else column.tolist()
    return found


def library_of(data):
    records = Records("graph.pb", data)
    return Library(records, graph_def.decode(records).libraries)


def test_functions_are_found_by_name():
    library = library_of(program([calling("call", "twice")], TWICE, function("other", [])))

    assert (len(library), "twice" in library, "gone" in library) == (2, True, False)
    assert library.size == 2
    assert library["twice"].arguments == ("x",)
    assert library["twice"].results == ("end:output:0",)


def test_of_two_functions_with_the_same_name_the_first_counts():
    library = library_of(program([], function("f", [node("a")]), function("f", [node("b")])))

    assert list(library["f"].body.name) == ["a"]


def test_a_body_is_scanned_as_protobuf_reads_it():
    odd = node("c", "Neg", ["x:y:1", "^b", "x"], shape={"shape": {"dim": [{"size": 3}]}})
    shaped = node("d", _output_shapes={"list": {"shape": [{"dim": [{"size": 2}]}, {}]}})
    for found in (TWICE, function("f", [odd, shaped, node("é")]), function("none", [])):
        records = Records("graph.pb", found.SerializeToString())
        scanned = function_def._scanned(records.data)

        if scanned is not None:
            assert plain(scanned) == plain(function_def._parsed(records))
        else:
            assert found.signature.name == "f"  # left to protobuf, as it is not ASCII
