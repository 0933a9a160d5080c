"""Flattening graphs: the ops in functions, their names, edges and parameters, and the limits."""

import gzip
import re

import pytest

from sources.tf_files import FOLDER, add, graph, node, read, row, shape
from tfprof.errors import InputError
from tfprof.formats import graph_def
from tfprof.formats.messages import message_class
from tfprof.formats.records import Records
from tfprof.measures.numbers import float_ops_per_run
from tfprof.model.builder import ProfileBuilder
from tfprof.sources.source import Reading
from tfprof.sources.tf_functions import flatten, layout


def function(name, nodes, arguments=(), results=None, also_run=()):
    """A FunctionDef; `results` are written like inputs."""
    results = results or {}
    signature = {
        "name": name,
        "input_arg": [{"name": argument} for argument in arguments],
        "output_arg": [{"name": result} for result in results],
    }
    return message_class("tensorflow.FunctionDef")(
        signature=signature,
        node_def=nodes,
        ret=results,
        control_ret={end: end for end in also_run},
    )


def program(nodes, *functions):
    return message_class("tensorflow.GraphDef")(
        node=nodes, library={"function": functions}
    ).SerializeToString()


def calling(name, called, inputs=(), op="PartitionedCall", **more):
    return node(name, op, inputs, f={"func": {"name": called}}, **more)


def walk(data, notes=None):
    """The profile of a graph, including its functions."""
    builder = ProfileBuilder()
    add("graph", "graph.pb", data, builder, reading=Reading(functions=True))
    if notes is not None:
        notes.extend(builder.notes)
    profile = builder.build()
    profile.check()
    return profile


def sources(profile, name):
    """The inputs of an op as names and slots, in order."""
    inputs = profile.ops.inputs
    edges = inputs.of(row(profile, name))
    found = zip(inputs.source[edges].tolist(), inputs.slot[edges].tolist(), strict=True)
    return [(profile.ops.name[source] if source >= 0 else "", slot) for source, slot in found]


TWICE = function(
    "twice",
    [node("double", "AddV2", ["x", "x"]), node("end", "Identity", ["double:z:0"])],
    ["x"],
    {"y": "end:output:0"},
)


def test_ops_of_a_function_are_named_below_the_call():
    data = program([node("in"), calling("call", "twice", ["in"])], TWICE)

    assert list(walk(data).ops.name) == ["call", "call/double", "call/end", "in"]


def test_by_default_functions_are_not_included_and_a_note_counts_their_ops():
    notes = []
    data = program([node("in"), calling("call", "twice", ["in"])], TWICE)

    profile = read(data, notes=notes)

    assert list(profile.ops.name) == ["call", "in"]
    assert notes == [
        "graph.pb: 2 ops inside functions are not included; include them with --functions."
    ]


def test_a_damaged_library_is_an_error_only_if_functions_are_included():
    data = graph(node("in")) + b"\x12\x02\x0a\x7f"

    assert list(read(data).ops.name) == ["in"]
    with pytest.raises(InputError, match=r"cut short or damaged"):
        walk(data)


def test_paths_lead_through_a_call_from_arguments_to_results():
    data = program(
        [node("in"), calling("call", "twice", ["in:1", "^in"]), node("out", "Neg", ["call"])],
        TWICE,
    )

    profile = walk(data)

    assert sources(profile, "out") == [("call", 0)]
    assert sources(profile, "call") == [("call/end", -1), ("in", 1), ("in", -1)]
    assert sources(profile, "call/end") == [("call/double", 0)]
    assert sources(profile, "call/double") == [("in", 1), ("in", 1)]


def test_a_function_may_return_its_argument():
    same = function("same", [], ["x"], {"y": "x"})
    data = program([node("in"), calling("call", "same", ["in"])], same)

    assert sources(walk(data), "call") == [("in", -1), ("in", 0)]


def test_ops_of_nested_functions_are_named_below_both_calls():
    outer = function("outer", [calling("inner", "twice", ["a"])], ["a"], {"b": "inner:output:0"})
    data = program([node("in"), calling("call", "outer", ["in"])], TWICE, outer)

    profile = walk(data)

    assert "call/inner/double" in profile.ops.name
    assert sources(profile, "call/inner/double") == [("in", 0), ("in", 0)]


def test_the_kind_of_a_call_may_be_the_name_of_the_function():
    data = program([node("in"), node("call", "twice", ["in"])], TWICE)

    assert sources(walk(data), "call/double") == [("in", 0), ("in", 0)]


def test_ops_in_loops_conditionals_and_cases_are_named_below_their_branch():
    parts = {name: {"func": {"name": "twice"}} for name in ("cond", "body")}
    branches = {name: {"func": {"name": "twice"}} for name in ("then_branch", "else_branch")}
    several = {"list": {"func": [{"name": "twice"}, {"name": "twice"}]}}
    notes = []
    data = program(
        [
            node("in"),
            node("which"),
            node("while", "StatelessWhile", ["in"], **parts),
            node("if", "If", ["which", "in"], **branches),
            node("case", "Case", ["which", "in"], branches=several),
        ],
        TWICE,
    )

    profile = walk(data, notes)

    names = [name for name in profile.ops.name if name.endswith("/double")]
    assert names == [
        *("case/branch_0/double", "case/branch_1/double", "if/else/double", "if/then/double"),
        *("while/body/double", "while/cond/double"),
    ]
    assert {tuple(sources(profile, name)) for name in names} == {(("in", 0), ("in", 0))}
    assert notes == [
        (
            "graph.pb contains 2 conditionals: the float ops of all branches are counted, although "
            "only one will run."
        ),
        (
            "graph.pb contains a loop of unknown trip count (`while`): float ops inside are "
            "counted for one iteration, because the number depends on data."
        ),
    ]


def test_an_output_is_found_by_its_name():
    body = [
        node("norm", "FusedBatchNormV3", ["x"]),
        node("parts", "Split", ["x"]),
        node("top", "TopKV2", ["norm:batch_variance:0"]),
        node("end", "Neg", ["top:indices:0"]),
        node("part", "Neg", ["parts:output:3"]),
    ]
    named = function("named", body, ["x"], {"y": "end:y:0", "z": "part:y:0"})
    profile = walk(program([node("in"), calling("call", "named", ["in"])], named))

    assert sources(profile, "call/top") == [("call/norm", 2)]
    assert sources(profile, "call/end") == [("call/top", 1)]
    assert sources(profile, "call/part") == [("call/parts", 3)]


def test_ops_that_contribute_to_no_result_of_a_function_are_not_included():
    body = [node("end", "Neg", ["x"]), node("lost", "Neg", ["x"]), node("print", "PrintV2", ["x"])]
    some = function("some", body, ["x"], {"y": "end:y:0"}, also_run=["print"])
    profile = walk(program([node("in"), calling("call", "some", ["in"])], some))

    assert list(profile.ops.name) == ["call", "call/end", "call/print", "in"]


def test_a_recursive_function_is_included_once_and_reported():
    again = function("again", [calling("more", "again", ["x"])], ["x"], {"y": "more:output:0"})
    notes = []
    profile = walk(program([node("in"), calling("call", "again", ["in"])], again), notes)

    assert list(profile.ops.name) == ["call", "call/more", "in"]
    assert notes == [
        "graph.pb contains recursive functions (`again`); recursive calls are not counted."
    ]


def test_a_missing_function_is_reported():
    notes = []
    walk(program([calling("call", "gone")], TWICE), notes)

    assert notes == [
        "graph.pb calls functions that it does not contain (`gone`); they are not counted."
    ]


def test_a_model_that_expands_to_too_many_ops_is_not_advised_to_leave_out_functions(monkeypatch):
    monkeypatch.setattr(layout, "_MOST_OPS", 1)
    records = Records("model", program([calling("call", "twice")], TWICE))

    with pytest.raises(InputError, match=r"more than 1 ops; profile a part of the model\."):
        flatten(records, graph_def.decode(records), roots=["call"])


def test_functions_that_expand_to_too_many_ops_are_rejected(monkeypatch):
    monkeypatch.setattr(layout, "_MOST_OPS", 1000)
    levels = [
        function(f"f{level}", [calling(f"c{place}", f"f{level + 1}") for place in range(10)])
        for level in range(20)
    ]

    with pytest.raises(InputError) as caught:
        walk(program([calling("call", "f0")], *levels, function("f20", [node("x")])))

    assert str(caught.value) == (
        "graph.pb: its functions expand to more than 1,000 ops; read it without --functions."
    )


def test_functions_that_are_nested_too_deeply_are_rejected():
    levels = [function(f"f{level}", [calling("c", f"f{level + 1}")]) for level in range(150)]

    with pytest.raises(InputError, match=r"function calls are nested more than 100 levels"):
        walk(program([calling("call", "f0")], *levels, function("f150", [node("x")])))


def test_a_function_with_an_undefined_result_is_rejected():
    odd = function("odd", [node("a")], [], {"y": "a:y:0"})
    odd.ret.clear()

    with pytest.raises(InputError, match=r"the function `odd` does not define its result `y`"):
        walk(program([calling("call", "odd")], odd))


def test_a_number_makes_a_repeated_name_unique():
    nodes = [
        node("in"),
        node("call/double"),
        node("call/double_1"),
        calling("call", "twice", ["in"]),
    ]

    profile = walk(program(nodes, TWICE))

    assert "call/double_2" in profile.ops.name
    assert sources(profile, "call/end") == [("call/double_2", 0)]


def test_an_unknown_input_keeps_its_position():
    odd = function("odd", [node("a", "Neg", ["gone:y:0", "x"])], ["x"], {"y": "a:y:0"})

    profile = walk(program([node("in"), calling("call", "odd", ["in"])], odd))

    assert sources(profile, "call/a") == [("", 0), ("in", 0)]


def params(profile):
    sizes = zip(profile.ops.name, profile.ops.shape.sizes().tolist(), strict=True)
    return {name: size for name, size in sizes if size}


def test_variables_are_parameters_and_placeholders_are_not():
    data = graph(
        node("w", "VarHandleOp", shape={"shape": shape(3, 4)}),
        node("v", "VariableV2", shape={"shape": shape(5)}),
        node("x", "Placeholder", shape={"shape": shape(7)}),
    )

    assert params(walk(data)) == {"w": 12, "v": 5}
    assert params(read(data)) == {"w": 12, "v": 5, "x": 7}


def test_a_placeholder_from_which_a_variable_is_read_counts_as_the_variable():
    reading = node(
        "r", "ReadVariableOp", ["handle"], _output_shapes={"list": {"shape": [shape(3, 4)]}}
    )
    body = function("read", [reading], ["handle"], {"y": "r:value:0"})
    handle = node("w", "Placeholder", shape={"shape": shape()})
    calls = [calling("one", "read", ["w"]), calling("two", "read", ["w"])]

    assert params(walk(program([handle, *calls], body))) == {"w": 12}


def test_a_variable_of_unknown_shape_is_reported():
    notes = []
    walk(graph(node("w", "Placeholder"), node("r", "ReadVariableOp", ["w"])), notes)

    assert notes == [
        "graph.pb contains 1 variable of unknown shape (`w`), whose parameters are not counted."
    ]


def test_a_variable_counts_once_even_if_several_ops_refer_to_it():
    variable = node("w", "VarHandleOp", shape={"shape": shape(3)}, shared_name={"s": b"w"})
    body = function("read", [variable], [], {"y": "w:resource:0"})
    calls = [calling("one", "read"), calling("two", "read")]

    assert sum(params(walk(program(calls, body))).values()) == 3


def test_anonymous_variables_are_distinct_though_they_share_a_name():
    anonymous = {"s": b"cd2c89b7-88b7-44c8-ad83-06c2a9158347"}
    variables = [
        node(name, "VarHandleOp", shape={"shape": shape(3)}, shared_name=anonymous)
        for name in ("v", "w")
    ]

    assert params(walk(graph(*variables))) == {"v": 3, "w": 3}


def test_a_call_is_uncounted_only_if_its_function_is_not_included():
    data = program([node("in"), calling("call", "twice", ["in"])], TWICE)

    assert ("PartitionedCall", 1) not in float_ops_per_run(walk(data)).uncounted_kinds()
    assert ("PartitionedCall", 1) in float_ops_per_run(read(data)).uncounted_kinds()


def test_functions_are_read_from_text_files(tmp_path):
    import tfprof  # noqa: PLC0415 -- only this test reads a file

    text = (
        'node { name: "call" op: "PartitionedCall" attr { key: "f" value { func { name: "f" } } } }'
    )
    library = 'library { function { signature { name: "f" } node_def { name: "a" op: "NoOp" } } }'
    path = tmp_path / "graph.pbtxt"
    path.write_text(f"{text}\n{library}\n", "utf-8")

    assert list(tfprof.load(path, functions=True).columns.ops.name) == ["call", "call/a"]


def test_flattening_a_graph_without_functions_keeps_its_ops_and_edges():
    data = gzip.decompress((FOLDER / "mlp_tiny" / "graph.pb.gz").read_bytes())

    walked, plain = walk(data), read(data)

    assert list(walked.ops.name) == list(plain.ops.name)
    assert walked.ops.inputs.source.tolist() == plain.ops.inputs.source.tolist()
    assert walked.ops.inputs.slot.tolist() == plain.ops.inputs.slot.tolist()


# Names as in recordings


def inline(data):
    """The flat graph with names as in a recording, without the calls."""
    records = Records("graph.pb", data)
    strip = re.compile(r"(call\d*/)+")
    return flatten(records, graph_def.decode(records), run_name=lambda path: strip.sub("", path))


def inputs_of(flat, name):
    """The inputs of the first op called `name`."""
    row = list(flat.columns.name).index(name)
    first, end = flat.columns.input_offsets[row : row + 2]
    return list(zip(flat.sources()[row], flat.columns.input_slot[first:end].tolist(), strict=True))


def test_ops_can_have_the_names_under_which_they_run():
    outer = function("outer", [calling("call", "twice", ["a"])], ["a"], {"b": "call:output:0"})
    flat = inline(program([node("in"), calling("call", "outer", ["in"])], TWICE, outer))

    assert list(flat.columns.name) == ["in", "call", "call", "double", "end"]
    assert list(flat.definitions()) == [
        *(("in", ""), ("call", ""), ("call", "outer"), ("double", "twice"), ("end", "twice"))
    ]


def test_inlined_edges_come_from_the_op_that_computes_the_result():
    nodes = [
        node("in"),
        calling("call", "twice", ["in:1", "^in"]),
        node("out", "Neg", ["call", "^call"]),
    ]

    flat = inline(program(nodes, TWICE))

    assert inputs_of(flat, "out") == [("double", 0), ("double", -1)]
    assert inputs_of(flat, "double") == [("in", 1), ("in", 1)]
    assert inputs_of(flat, "call") == inputs_of(flat, "end") == []


def test_inlined_edges_skip_several_calls_and_may_come_from_arguments():
    same = function("same", [], ["x"], {"y": "x"})
    outer = function(
        "outer",
        [calling("call", "twice", ["a"]), calling("call2", "same", ["call:output:0"])],
        ["a"],
        {"b": "call2:output:0", "c": "a"},
    )
    nodes = [node("in"), calling("call", "outer", ["in"]), node("out", "AddV2", ["call", "call:1"])]

    flat = inline(program(nodes, TWICE, same, outer))

    assert inputs_of(flat, "out") == [("double", 0), ("in", 0)]


def test_loops_are_not_inlined():
    parts = {name: {"func": {"name": "twice"}} for name in ("cond", "body")}
    nodes = [node("in"), node("while", "While", ["in"], **parts), node("out", "Neg", ["while"])]

    flat = inline(program(nodes, TWICE))

    assert inputs_of(flat, "out") == [("while", 0)]
    assert inputs_of(flat, "while") == [("while/body/end", -1), ("while/cond/end", -1), ("in", 0)]


def test_inlining_ends_for_a_call_that_returns_its_own_result():
    same = function("same", [], ["x"], {"y": "x"})
    nodes = [calling("call", "same", ["call"]), node("out", "Neg", ["call"])]

    assert inputs_of(inline(program(nodes, same)), "out") == [("call", 0)]


def test_sorted_by_path_the_ops_of_a_function_follow_its_call():
    nodes = [node("in"), calling("call", "twice", ["in"]), node("out", "Neg", ["call"])]
    flat = inline(program(nodes, TWICE))

    in_order = sorted(zip(flat.paths(), flat.columns.name, strict=True))

    assert [name for _, name in in_order] == ["in", "call", "double", "end", "out"]


def test_functions_that_call_each_other_exponentially_often_are_refused():
    functions = [
        function(f"f{at}", [calling(f"m{call}", f"f{at + 1}") for call in range(10)])
        for at in range(30)
    ]
    data = program([calling("a", "f0")], *functions, function("f30", []))

    with pytest.raises(InputError, match=r"called more than 50,000 times; read it without"):
        walk(data)
