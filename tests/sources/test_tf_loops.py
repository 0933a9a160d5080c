"""Trip counts of loops, the shapes of their variables, and lists of tensors."""

import pytest

from sources.shape_programs import const, inferred, loaded, op, repeats
from sources.test_tf_functions import function
from sources.tf_files import row
from tfprof.errors import TfprofError
from tfprof.measures.numbers import EVERYTHING, per_op
from tfprof.model.ops import UNKNOWN_REPEATS
from tfprof.views import ledger

X = op("x", "Placeholder", [], (-1, 4))


def condition(*nodes, arguments=("i", "n", "x"), result="test:z:0"):
    return function("c", nodes, arguments, {"r": result})


def body(*nodes, results, arguments=("i", "n", "x"), name="b"):
    return function(name, nodes, arguments, {f"r{i}": r for i, r in enumerate(results)})


def loop(name="loop", inputs=("start", "limit", "x"), **functions):
    wanted = functions or {"cond": "c", "body": "b"}
    found = {key: {"func": {"name": value}} for key, value in wanted.items()}
    return op(name, "While", list(inputs), **found)


BELOW = condition(op("test", "Less", ["i", "n"]))
COUNTING = body(
    const("by", 1),
    op("next", "AddV2", ["i", "by:output:0"]),
    op("work", "Relu", ["x"]),
    results=("next:z:0", "n", "work:activations:0"),
)
INPUTS = [X, const("start", 0), const("limit", 32)]


def test_the_ops_of_a_loop_run_as_often_as_its_counter_says():
    found = repeats(*INPUTS, loop(), functions=[BELOW, COUNTING])

    assert found["loop/body/work"] == 32
    assert found["loop/cond/test"] == 33
    assert found["loop"] == found["x"] == 1


@pytest.mark.parametrize(
    ("test", "start", "limit", "step", "trips"),
    [
        (("Less", ["i", "n"]), 0, 10, 3, 4),
        (("LessEqual", ["i", "n"]), 0, 9, 3, 4),
        (("Greater", ["n", "i"]), 2, 10, 1, 8),
        (("Greater", ["i", "n"]), 10, 0, -2, 5),
        (("GreaterEqual", ["i", "n"]), 10, 0, -2, 6),
    ],
)
def test_the_trip_count_follows_from_start_limit_and_step(test, start, limit, step, trips):
    nodes = [X, const("start", start), const("limit", limit)]
    counting = body(
        const("by", step),
        op("same", "Identity", ["i"]),
        op("next", "AddV2", ["by:output:0", "same:output:0"]),
        op("work", "Relu", ["x"]),
        results=("next:z:0", "n", "work:activations:0"),
    )

    functions = [condition(op("test", *test)), counting]

    assert repeats(*nodes, loop(), functions=functions)["loop/body/work"] == trips


def test_of_two_limits_the_first_to_be_reached_counts():
    test = condition(
        const("most", 9),
        op("a", "Less", ["i", "n"]),
        op("b", "Less", ["i", "most:output:0"]),
        op("both", "LogicalAnd", ["a:z:0", "b:z:0"]),
        op("test", "Identity", ["both:z:0"]),
        result="test:output:0",
    )

    assert repeats(*INPUTS, loop(), functions=[test, COUNTING])["loop/body/work"] == 9


def test_nested_loops_multiply():
    outer = body(
        const("by", 1),
        const("limit", 5),
        const("zero", 0),
        op("next", "AddV2", ["i", "by:output:0"]),
        loop("inner", ("zero:output:0", "limit:output:0", "x"), cond="c", body="b"),
        results=("next:z:0", "n", "inner:output:2"),
        name="outer",
    )
    nodes = [*INPUTS, loop(cond="c", body="outer")]

    found = repeats(*nodes, functions=[BELOW, COUNTING, outer])

    assert found["loop/body/inner/body/work"] == 32 * 5
    assert found["loop/body/inner/cond/test"] == 32 * 6


def test_a_later_loop_may_count_to_the_last_value_of_a_counter():
    nodes = [*INPUTS, loop(), loop("again", ("start", "loop", "loop:2"))]

    assert repeats(*nodes, functions=[BELOW, COUNTING])["again/body/work"] == 32


def test_the_body_of_a_loop_without_iterations_never_runs_and_its_condition_runs_once():
    notes = []
    nodes = [X, const("start", 5), const("limit", 5), loop()]

    profile = loaded(*nodes, functions=[BELOW, COUNTING], notes=notes)

    times = dict(zip(profile.ops.name, profile.ops.repeats.tolist(), strict=True))
    assert (times["loop/body/work"], times["loop/cond/test"]) == (0, 1)
    assert per_op(profile, EVERYTHING)["float_ops"][row(profile, "loop/body/work")] == 0
    assert notes == []
    assert ledger.NO_TRIP_COUNT not in {one.reason for one in ledger.build(profile).uncounted}


def test_a_loop_inside_one_without_iterations_never_runs_even_if_its_trip_count_is_unknown():
    outer = body(
        const("by", 1),
        op("next", "AddV2", ["i", "by:output:0"]),
        op("size", "Placeholder", [], ()),
        loop("inner", ("i", "size:output:0", "x")),
        results=("next:z:0", "n", "inner:output:2"),
        name="o",
    )
    nodes = [X, const("start", 0), const("limit", 0), loop(cond="c", body="o")]

    found = repeats(*nodes, functions=[BELOW, COUNTING, outer])

    assert found["loop/body/inner/body/work"] == 0


@pytest.mark.parametrize("limit", [2**41, 2**62, 2**63 - 1])
def test_a_loop_that_would_never_finish_is_counted_once_with_a_note(limit):
    notes = []
    nodes = [X, const("start", 0, "i8"), const("limit", limit, "i8"), loop()]

    profile = loaded(*nodes, functions=[BELOW, COUNTING], notes=notes)

    assert profile.ops.repeats[row(profile, "loop/body/work")] == UNKNOWN_REPEATS
    assert len(notes) == 1
    assert "`loop`" in notes[0]


def test_the_product_of_nested_trip_counts_does_not_overflow():
    notes = []
    outer = body(
        const("by", 1),
        op("next", "AddV2", ["i", "by:output:0"]),
        const("zero", 0),
        loop("inner", ("zero:output:0", "n", "x")),
        results=("next:z:0", "n", "inner:output:2"),
        name="o",
    )
    nodes = [X, const("start", 0), const("limit", 2**31 - 1), loop(cond="c", body="o")]

    profile = loaded(*nodes, functions=[BELOW, COUNTING, outer], notes=notes)

    assert profile.ops.repeats[row(profile, "loop/body/inner")] == 2**31 - 1
    assert profile.ops.repeats[row(profile, "loop/body/inner/body/work")] == UNKNOWN_REPEATS
    assert "`loop/body/inner`" in notes[0]


def test_float_ops_that_exceed_64_bits_are_refused():
    nodes = [op("x", "Placeholder", [], (2**30, 4)), const("start", 0), const("limit", 2**31 - 1)]
    work = [op(f"work{at}", "Relu", ["x"]) for at in range(3)]
    busy = body(
        const("by", 1),
        op("next", "AddV2", ["i", "by:output:0"]),
        *work,
        op("sum", "AddN", [f"work{at}:activations:0" for at in range(3)]),
        results=("next:z:0", "n", "sum:sum:0"),
    )

    profile = loaded(*nodes, loop(), functions=[BELOW, busy])

    with pytest.raises(TfprofError, match="`float_ops` of all ops exceeds 64 bits: op `loop/body/"):
        _ = per_op(profile, EVERYTHING)["float_ops"]


UNKNOWN = [X, const("start", 0), op("limit", "Placeholder", [], ())]


def test_an_unknown_trip_count_is_noted_and_listed_as_not_counted():
    notes = []

    profile = loaded(*UNKNOWN, loop(), functions=[BELOW, COUNTING], notes=notes)

    place = row(profile, "loop/body/work")
    assert profile.ops.repeats[place] == UNKNOWN_REPEATS
    assert per_op(profile, EVERYTHING)["float_ops"][place] == 7 * 4
    assert notes == [
        (
            "graph.pb contains a loop of unknown trip count (`loop`): float ops inside are counted "
            "for one iteration, because the number depends on data."
        )
    ]
    reasons = {(one.kind, one.ops, one.reason) for one in ledger.build(profile).uncounted}
    assert ("Relu", 1, ledger.NO_TRIP_COUNT) in reasons


def test_float_ops_include_all_iterations():
    profile = loaded(*INPUTS, loop(), functions=[BELOW, COUNTING])

    found = per_op(profile, EVERYTHING)["float_ops"]

    assert found[row(profile, "loop/body/work")] == 32 * 7 * 4


def test_loop_variables_keep_their_shapes():
    nodes = [*INPUTS, loop(), op("y", "Neg", ["loop:2"])]

    found = inferred(*nodes, functions=[BELOW, COUNTING])

    assert found["loop"] == [(), (), (7, 4)]
    assert found["loop/body/work"] == found["y"] == (7, 4)


def test_the_dim_that_an_iteration_changes_is_open():
    growing = body(
        const("by", 1),
        const("axis", 0),
        op("next", "AddV2", ["i", "by:output:0"]),
        op("work", "ConcatV2", ["x", "x", "axis:output:0"]),
        results=("next:z:0", "n", "work:output:0"),
    )

    found = inferred(*INPUTS, loop(), functions=[BELOW, growing])

    assert found["loop/body/work"] == (-1, 4)
    assert found["loop"][2] == (-1, 4)


def test_the_value_of_a_variable_that_changes_is_unknown_inside_the_loop():
    filling = body(
        const("by", 1),
        op("next", "AddV2", ["i", "by:output:0"]),
        op("dims", "Pack", ["i", "n"]),
        op("work", "Fill", ["dims:output:0", "by:output:0"]),
        results=("next:z:0", "n", "work:output:0"),
    )

    found = inferred(*INPUTS, loop(), functions=[BELOW, filling])

    assert found["loop/body/work"] == (-1, 32)


def test_lists_keep_the_shape_and_number_of_their_elements():
    lists = ("i", "n", "given", "made")
    stepping = body(
        const("by", 1),
        const("any", -1),
        op("next", "AddV2", ["i", "by:output:0"]),
        op("item", "TensorListGetItem", ["given", "i", "any:output:0"]),
        op("work", "Relu", ["item:item:0"]),
        op("set", "TensorListSetItem", ["made", "i", "work:activations:0"]),
        results=("next:z:0", "n", "given", "set:output_handle:0"),
        arguments=lists,
    )
    nodes = [
        *INPUTS,
        const("any", -1),
        op("frames", "Placeholder", [], (32, -1, 4)),
        op("steps", "Placeholder", [], (-1, 3)),
        const("shape", [-1, 3]),
        op("given", "TensorListFromTensor", ["x", "any"]),
        op("made", "TensorListReserve", ["any", "limit"]),
        loop(inputs=("start", "limit", "given", "made")),
        op("stacked", "TensorListStack", ["loop:3", "any"]),
        op("pushed", "TensorListPushBack", ["made", "steps"]),
        op("popped", "TensorListPopBack", ["pushed", "any"]),
    ]
    test = condition(op("test", "Less", ["i", "n"]), arguments=lists)

    found = inferred(*nodes, functions=[test, stepping])

    assert found["loop/body/item"] == (4,)
    assert found["stacked"] == (32, 4)
    assert found["popped"] == [(), (7, 3)]


def old_loop(frame, *, start, limit, given, before=()):
    """A loop of TensorFlow 1 with the variables `i` and `x`, and the results `i/exit`, `x/exit`."""
    named = {"frame_name": {"s": frame.encode()}}

    def variable(name, source, result):
        at = f"{frame}/{name}"
        return [
            op(f"{at}/enter", "Enter", [source], **named),
            op(f"{at}/merge", "Merge", [f"{at}/enter", f"{at}/next"]),
            op(f"{at}/switch", "Switch", [f"{at}/merge", f"{frame}/cond"]),
            op(f"{at}/next", "NextIteration", [result]),
            op(f"{at}/exit", "Exit", [f"{at}/switch"]),
        ]

    return [
        *before,
        *variable("i", start, f"{frame}/add"),
        *variable("x", given, f"{frame}/work"),
        op(f"{frame}/limit", "Enter", [limit], is_constant={"b": True}, **named),
        op(f"{frame}/less", "Less", [f"{frame}/i/merge", f"{frame}/limit"]),
        op(f"{frame}/cond", "LoopCond", [f"{frame}/less"], ()),
        op(f"{frame}/body", "Identity", [f"{frame}/i/switch:1"]),
        const_after(f"{frame}/by", 1, f"{frame}/body"),
        op(f"{frame}/add", "AddV2", [f"{frame}/body", f"{frame}/by"]),
    ]


def const_after(name, value, control):
    found = const(name, value)
    found.input.append(f"^{control}")
    return found


def test_loops_of_tensorflow_1_have_trip_counts_and_shapes():
    nodes = [
        *INPUTS,
        *old_loop("f", start="start", limit="limit", given="x"),
        op("f/work", "Relu", ["f/x/switch:1"]),
        op("y", "Neg", ["f/x/exit"]),
    ]

    found, times = inferred(*nodes), repeats(*nodes)

    assert found["f/work"] == found["y"] == (7, 4)
    assert found["f/cond"] == ()
    assert (times["f/work"], times["f/add"], times["f/less"], times["y"]) == (32, 32, 33, 1)


def test_nested_loops_of_tensorflow_1_multiply():
    inner = old_loop("g", start="g/start", limit="five", given="f/x/switch:1")
    nodes = [
        *INPUTS,
        const("five", 5),
        *old_loop("f", start="start", limit="limit", given="x"),
        const_after("g/start", 0, "f/body"),
        *inner,
        op("g/work", "Relu", ["g/x/switch:1"]),
        op("f/work", "Neg", ["g/x/exit"]),
        op("y", "Neg", ["f/x/exit"]),
    ]

    found, times = inferred(*nodes), repeats(*nodes)

    assert found["g/work"] == found["y"] == (7, 4)
    assert (times["g/work"], times["g/less"], times["f/work"], times["y"]) == (160, 192, 32, 1)


def test_a_loop_that_is_damaged_stays_as_stated():
    nodes = [
        *INPUTS,
        *old_loop("f", start="f/i/exit", limit="f/add", given="f/x/exit"),
        op("f/work", "Relu", ["f/x/switch:1"], (-1, 4)),
        op("lone", "LoopCond", []),
        op("odd", "Switch", ["lone", "lone"]),
    ]

    assert inferred(*nodes)["f/work"] == (-1, 4)
    assert repeats(*nodes)["f/work"] == UNKNOWN_REPEATS
