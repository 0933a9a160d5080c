"""A view as a text table."""

from __future__ import annotations

from dataclasses import replace

import pytest

from asking import ask
from build import CPU, GPU, GPU_STREAM, op, profile, run
from tfprof.metrics import BY_KEY, METRICS
from tfprof.outputs import text
from tfprof.views.registry import VIEWS

TREE_LABELS = {
    "layer_class": "layer class",
    "output_shape": "output shape",
    "params": "# parameters",
    "trainable_params": "# trainable parameters",
    "other_params": "# other parameters",
    "slots": "# slots",
    "float_ops": "# float_ops",
    "forward_float_ops": "# forward float_ops",
    "backward_float_ops": "# backward float_ops",
    "macs": "# macs",
    "forward_macs": "# forward macs",
    "backward_macs": "# backward macs",
    "bytes": "requested bytes",
    "peak_bytes": "peak bytes",
    "residual_bytes": "residual bytes",
    "output_bytes": "output bytes",
    "held_bytes": "",
    "micros": "total execution time | accelerator execution time | cpu execution time",
    "accelerator_micros": "accelerator execution time",
    "cpu_micros": "cpu execution time",
    "transfer_micros": "transfer time",
    "forward_micros": "forward execution time",
    "backward_micros": "backward execution time",
    "forward_accelerator_micros": "forward accelerator time",
    "backward_accelerator_micros": "backward accelerator time",
    "device": "assigned devices",
    "op_types": "op types",
    "occurrence": "op count (run|defined)",
    "input_shapes": "input shapes",
    "tensor_value": "",
    "num_hidden_ops": "",
}
GATHERED_LABELS = TREE_LABELS | {"occurrence": "op occurrence (run|defined)"}
EVERYTHING = list(TREE_LABELS)
CLASSIC = [key for key, metric in BY_KEY.items() if not metric.part_of and not metric.heading]
CLASSIC += ["params", "float_ops", "macs", "micros", "accelerator_micros"]


def lines(kind, p, **options):
    return text.table(ask(kind, p, **options)).splitlines()


def op_fields(p, **options):
    """The rows of the op view without alignment."""
    shown = text.table(ask("op", p, **options)).splitlines()[1:]
    return [" ".join(line.split()) for line in shown]


def test_the_labels_above_cover_all_metrics():
    assert {metric.key for metric in METRICS} == TREE_LABELS.keys()


@pytest.mark.parametrize("key", TREE_LABELS)
def test_a_tree_has_a_legend_for_every_metric(key):
    p = profile(op("a"))

    assert lines("scope", p, select=[key])[0] == f"node name | {TREE_LABELS[key]}"
    assert lines("graph", p, select=[key])[0] == f"node name | {TREE_LABELS[key]}"


@pytest.mark.parametrize("key", GATHERED_LABELS)
def test_rows_of_many_ops_have_a_legend_for_every_metric(key):
    p = profile(op("a", code=["m.py:1:f"]))

    assert lines("code", p, select=[key])[0] == f"node name | {GATHERED_LABELS[key]}"
    assert lines("op", p, select=[key])[0] == f"node name | {GATHERED_LABELS[key]}"


def test_a_tree_shows_sizes_first_whatever_the_order_of_select():
    legend = lines("scope", profile(op("a")), select=reversed(CLASSIC))[0]

    assert legend == (
        "node name | # parameters | # slots | # float_ops | # macs | requested bytes | "
        "peak bytes | residual bytes | output bytes | total execution time | "
        "accelerator execution time | cpu execution time | "
        "assigned devices | op types | op count (run|defined) | input shapes"
    )


def test_rows_of_many_ops_show_memory_and_time_first():
    legend = lines("op", profile(op("a")), select=CLASSIC)[0]

    assert legend == (
        "node name | requested bytes | peak bytes | residual bytes | output bytes | "
        "total execution time | accelerator execution time | cpu execution time | # parameters | "
        "# slots | # float_ops | # macs | assigned devices | op types | "
        "op occurrence (run|defined) | input shapes"
    )


def test_times_that_micros_includes_are_shown_once():
    legend = lines("scope", profile(op("a")), select=["micros", "cpu_micros"])[0]

    assert legend == (
        "node name | total execution time | accelerator execution time | cpu execution time"
    )


def test_rows_are_indented_below_their_parents():
    p = profile(op("a/b/c"), op("d"))

    assert lines("scope", p, select=["float_ops"]) == [
        "node name | # float_ops",
        "_TFProfRoot (--/0 flops)",
        "  a (0/0 flops)",
        "    a/b (0/0 flops)",
        "      a/b/c (0/0 flops)",
        "  d (0/0 flops)",
    ]


def test_a_row_shows_its_own_number_and_its_total():
    p = profile(op("a", shape=(2,)), op("a/b", shape=(3,)))

    assert lines("scope", p, select=["params"])[1:] == [
        "_TFProfRoot (--/5 params)",
        "  a (2, 2/5 params)",
        "    a/b (3, 3/3 params)",
    ]


def test_a_row_that_is_not_accounted_for_has_dashes():
    p = profile(op("a", "Foo", float_ops=100), op("a/b", "Bar", float_ops=10))

    shown = lines("scope", p, select=["float_ops", "occurrence"], account_type_regexes=["Bar"])

    assert shown[2:] == [
        "  a (--/110 flops, --/0|--/2)",
        "    a/b (10/10 flops, 0/0|1/1)",
    ]


def test_large_numbers_are_scaled_to_larger_units():
    p = profile(
        op("a", shape=(1_500, 1_000), float_ops=17_630_000_000),
        run("a", 2_675, memory={"requested": 158_210, "peak": 3_740_000}),
        run("a", 1_890_000, device=GPU_STREAM),
    )

    row = lines("scope", p, select=["params", "float_ops", "bytes", "peak_bytes", "micros"])[2]

    assert row == (
        "  a (1500x1000, 1.50m/1.50m params, 17.63b/17.63b flops, 158.21KB/158.21KB, "
        "3.74MB/3.74MB, 1.89sec/1.89sec, 1.89sec/1.89sec, 2.67ms/2.67ms)"
    )


def test_each_kind_of_bytes_has_its_own_field():
    memory = {"requested": 4, "peak": 3, "residual": 2, "output": 1}
    p = profile(op("a"), run("a", memory=memory))

    select = ["output_bytes", "residual_bytes", "peak_bytes", "bytes"]
    assert lines("scope", p, select=select)[2] == "  a (4B/4B, 3B/3B, 2B/2B, 1B/1B)"


def test_a_negative_number_is_shown_with_its_sign():
    p = profile(op("a"), run("a", memory={"residual": -5}))

    shown = lines("scope", p, select=["residual_bytes"], min_residual_bytes=-10, step=0)

    assert shown[2] == "  a (-5B/-5B)"


def test_time_is_shown_in_total_for_the_accelerator_and_for_the_cpu():
    p = profile(op("a"), run("a", 3), run("a", 20, device=GPU_STREAM))

    assert lines("scope", p, select=["micros"])[2] == "  a (23us/23us, 20us/20us, 3us/3us)"


@pytest.mark.parametrize(
    ("shape", "field"),
    [
        ((8, 4), "8x4, 32/32 params"),
        ((), "1, 1/1 params"),
        ((-1, 8), "-1x8, 0/0 params"),
        ((0, 3), "0x3, 0/0 params"),
        (None, "0/0 params"),
    ],
)
def test_a_shape_is_shown_before_its_parameters(shape, field):
    p = profile(op("a", shape=shape))

    assert lines("scope", p, select=["params"])[2] == f"  a ({field})"


def test_rows_of_many_ops_show_no_shape():
    p = profile(op("a", shape=(8, 4), code=["m.py:1:f"]))

    assert lines("code", p, select=["params"])[2] == "  m.py:1:f (32/32 params)"


def test_an_op_that_never_ran_shows_no_device():
    p = profile(op("a"), op("b"), run("b"))

    assert lines("scope", p, select=["device", "float_ops"])[1:] == [
        "_TFProfRoot (--/0 flops)",
        "  a (0/0 flops)",
        f"  b (0/0 flops, {CPU})",
    ]


def test_a_line_of_code_shows_all_its_devices_and_an_empty_one_for_ops_that_never_ran():
    at = ["m.py:1:f"]
    p = profile(
        op("a", code=at), op("b", code=at), op("c", code=at), run("a", device=GPU), run("b")
    )

    assert lines("code", p, select=["device"])[2] == f"  m.py:1:f (|{CPU}|{GPU})"


def test_a_line_of_code_without_ops_of_its_own_has_no_device_field():
    p = profile(op("a", code=["m.py:1:f", "m.py:2:g"]), run("a"))

    assert lines("code", p, select=["device"])[1:] == [
        "_TFProfRoot ()",
        "  m.py:1:f ()",
        f"    m.py:2:g ({CPU})",
    ]


def test_types_are_sorted_and_joined():
    p = profile(op("a", "MatMul", types=["_b", "Z"]))

    assert lines("scope", p, select=["op_types"])[2] == "  a (MatMul|Z|_b)"


def test_the_type_of_the_root_depends_on_the_view():
    p = profile(op("a/b", "Foo", code=["m.py:1:f"]))

    assert lines("scope", p, select=["op_types"])[1:3] == [
        "_TFProfRoot (_kTFScopeParent)",
        "  a (_kTFScopeParent)",
    ]
    assert lines("graph", p, select=["op_types"])[1] == "_TFProfRoot (_TFGraphParent)"
    assert lines("code", p, select=["op_types"])[1] == "_TFProfRoot ()"


def test_occurrence_counts_runs_and_ops():
    p = profile(op("a"), op("a/b"), run("a"), *[run("a/b")] * 3)

    assert lines("scope", p, select=["occurrence"])[1:] == [
        "_TFProfRoot (--/4|--/2)",
        "  a (1/4|1/2)",
        "    a/b (3/3|1/1)",
    ]


def test_input_shapes_are_listed_by_position_and_can_be_unknown():
    p = profile(
        op("a", outputs=[(2, 3), (9, 9)]),
        op("b", outputs=[None]),
        op("c", outputs=[()]),
        op("d", inputs=["a:1", "b", "c", "gone", "^a"]),
    )

    shown = lines("scope", p, select=["input_shapes"], show_name_regexes=["d"])

    assert shown[2] == "  d (0:2x3|1:unknown|2:1|3:unknown|4:2x3)"


def test_an_op_without_inputs_has_an_empty_field():
    p = profile(op("a"))

    assert lines("scope", p, select=["float_ops", "input_shapes"])[2] == "  a (0/0 flops, )"


def test_without_a_selection_only_names_are_shown():
    p = profile(op("a/b", code=["m.py:1:f"]))

    assert lines("scope", p, select=[]) == [
        "node name | ",
        "_TFProfRoot ()",
        "  a ()",
        "    a/b ()",
    ]
    assert lines("code", p, select=[]) == ["node name | ", "_TFProfRoot ()", "  m.py:1:f ()"]
    assert lines("op", p, select=[]) == ["node name | ", "Op                       "]


def test_the_code_view_marks_facts_that_it_does_not_have():
    p = profile(op("a", code=["m.py:1:f"]))

    assert lines("code", p, select=["occurrence", "input_shapes"])[2] == (
        "  m.py:1:f (occurrence N/A in code view, input_shapes N/A in code view)"
    )


def test_a_row_of_the_op_view_has_fixed_widths():
    p = profile(op("a", "MatMul", float_ops=30), op("b", "Add", float_ops=10))

    assert lines("op", p, select=["float_ops", "occurrence"], order_by="float_ops")[1:] == [
        "MatMul                   30 float_ops (100.00%, 75.00%),        0|1",
        "Add                       10 float_ops (25.00%, 25.00%),        0|1",
    ]


def test_a_long_kind_is_not_separated_from_its_numbers():
    p = profile(op("a", "ResourceApplyGradientDescent", shape=(5,)))

    assert lines("op", p, select=["params"])[1] == (
        "ResourceApplyGradientDescent   5 params (100.00%, 100.00%)"
    )


def test_a_kind_is_aligned_by_its_bytes():
    p = profile(op("a", "Näher", shape=(5,)))

    assert lines("op", p, select=["params"])[1] == (
        "Näher                      5 params (100.00%, 100.00%)"
    )


def test_the_op_view_does_not_show_its_root():
    assert op_fields(profile(op("a")), select=["params"]) == ["Op 0 params (0.00%, 0.00%)"]


def test_without_any_op_the_op_view_shows_its_root_and_no_legend():
    assert lines("op", profile(), select=["params"]) == [
        "_TFProfRoot                     0 params (0.00%, 0.00%)"
    ]


def test_without_any_op_no_input_shapes_are_listed():
    assert text.table(ask("op", profile(), select=["input_shapes"])) == f"{'_TFProfRoot':25}\n"


def test_byte_shares_are_nan_or_infinite_if_rows_cancel_out():
    p = profile(
        op("a", "A"),
        op("b", "B"),
        run("a", memory={"residual": 64}),
        run("b", memory={"residual": -64}),
    )

    assert op_fields(p, select=["residual_bytes"]) == ["A 64B (-nan%, inf%)"]


def test_byte_shares_are_zero_if_a_row_has_no_bytes_of_its_own():
    p = profile(op("a", "A"), op("b", "B"), run("b", memory={"requested": 8}))

    assert op_fields(p, select=["bytes"]) == ["A 0B (0.00%, 0.00%)", "B 8B (100.00%, 100.00%)"]


def test_time_shares_are_zero_only_if_the_following_rows_have_no_time_either():
    p = profile(op("a", "A"), op("b", "B"), op("c", "C"), run("b", 8))

    assert op_fields(p, select=["cpu_micros"]) == [
        "A 0us (100.00%, 0.00%)",
        "B 8us (100.00%, 100.00%)",
        "C 0us (0.00%, 0.00%)",
    ]


@pytest.mark.parametrize(("key", "unit"), [("params", "params"), ("float_ops", "float_ops")])
def test_count_shares_are_zero_only_if_the_following_rows_have_none_either(key, unit):
    p = profile(op("a", "A"), op("b", "B", shape=(4,), float_ops=4))

    assert op_fields(p, select=[key]) == [
        f"A 0 {unit} (100.00%, 0.00%)",
        f"B 4 {unit} (100.00%, 100.00%)",
    ]


def test_shares_refer_to_all_rows_whether_shown_or_not():
    p = profile(op("a", "A", shape=(1,)), op("b", "B", shape=(3,)))

    shown = op_fields(p, select=["params"], hide_name_regexes=["A"])

    assert shown == ["B 3 params (75.00%, 75.00%)"]


def test_the_op_view_shows_an_empty_device_for_ops_that_never_ran():
    p = profile(op("a", "K"), op("b", "K"), op("c", "L"), run("b"))

    assert lines("op", p, select=["device", "occurrence"])[1:] == [
        f"K                        |{CPU},        1|2",
        "L                        ,        0|1",
    ]


def test_the_op_view_lists_the_input_shapes_of_a_kind_with_most_runs_first():
    p = profile(
        op("x", outputs=[(2, 3)]),
        op("y", outputs=[(4,)]),
        op("a", "K", inputs=["x", "y"]),
        op("b", "K", inputs=["y"]),
        op("c", "K", inputs=["y"]),
        op("d", "K"),
        run("b", 5),
        run("c", 1_000),
    )

    table = text.table(ask("op", p, select=["input_shapes"], show_name_regexes=["K"]))

    assert table == (
        "node name | input shapes\n"
        "K                        \n"
        "\n"
        "input_type: 0:4\t(run*2|defined*2)\texec_time: 1.00ms\n"
        "input_type: \t(run*0|defined*1)\texec_time: 0us\n"
        "input_type: 0:2x3,\t1:4\t(run*0|defined*1)\texec_time: 0us\n"
        "\n"
    )


def test_input_shapes_with_the_same_text_are_listed_once():
    p = profile(
        op("scalar", outputs=[()]),
        op("one", outputs=[(1,)]),
        op("a", "K", inputs=["scalar"]),
        op("b", "K", inputs=["one"]),
        run("a", 2),
        run("b", 3),
    )

    table = text.table(ask("op", p, select=["input_shapes"], show_name_regexes=["K"]))

    assert table.splitlines()[3] == "input_type: 0:1\t(run*2|defined*2)\texec_time: 5us"


def test_names_may_contain_non_ascii_characters():
    p = profile(op("größe/名", shape=(2,)))

    assert lines("scope", p, select=["params"])[3] == "    größe/名 (2, 2/2 params)"


@pytest.mark.parametrize("kind", ["scope", "graph", "code"])
@pytest.mark.parametrize("block", [1, 3])
def test_the_block_size_does_not_change_the_table(kind, block, monkeypatch):
    at, below = ["m.py:1:f"], ["m.py:1:f", "m.py:2:g"]
    p = profile(
        op("a/b", "K", shape=(2, 3), outputs=[(4,)], types=["mine"], code=at),
        op("a/c", "L", inputs=["a/b", "gone"], code=below),
        op("d", "K", inputs=["^a/c", "a/b"], shape=(), code=below),
        op("e", code=["n.py:3:h"]),
        run("a/b", 2_675),
        run("d", 7, device=GPU),
    )
    view = ask(kind, p, select=EVERYTHING)
    whole = text.table(view)

    monkeypatch.setattr(text, "_BLOCK_ROWS", block)

    assert text.table(view) == whole
    assert len(list(text.encode(view))) == 2 + -(-len(view) // block)
    assert list(text.lines(view)) == whole.splitlines(keepends=True)


def test_a_report_explains_each_selected_metric_in_a_sentence():
    p = profile(op("a", shape=(2,)))

    assert text.report(ask("scope", p, select=["params", "bytes"])) == (
        "\n"
        "Doc:\n"
        "Ops by name scope: a scope's total includes everything below it.\n"
        "requested bytes: all memory the op asked for while it ran.\n"
        "# parameters: the elements of each op's `shape`, variables and placeholders alike.\n"
        "\n"
        "Profile:\n"
        "node name | # parameters | requested bytes\n"
        "_TFProfRoot (--/2 params, --/0B)\n"
        "  a (2, 2/2 params, 0B/0B)\n"
    )


def test_a_report_explains_micros_in_three_sentences():
    report = text.report(ask("op", profile(), select=["micros"]))

    assert [line.partition(":")[0] for line in report.splitlines()[2:6]] == [
        "Ops by kind",
        "total execution time",
        "cpu execution time",
        "accelerator execution time",
    ]


def test_a_report_without_metrics_has_an_empty_line_instead_of_sentences():
    report = text.report(ask("scope", profile(), select=[]))

    assert report == (
        "\nDoc:\nOps by name scope: a scope's total includes everything below it.\n\n\n"
        "Profile:\nnode name | \n_TFProfRoot ()\n"
    )


@pytest.mark.parametrize("kind", ["scope", "graph", "code", "op"])
def test_a_report_explains_its_view(kind):
    p = profile(op("a", code=["m.py:1:f"]))

    assert f"Doc:\n{VIEWS[kind].sentence}\n" in text.report(ask(kind, p))


def test_a_report_starts_with_a_warning_if_accelerator_time_is_missing():
    p = replace(profile(op("a")), lacks_accelerator_time=True)

    assert text.report(ask("scope", p)).startswith(
        "Warning: ops ran on a GPU, but its streams were not traced: accelerator time is missing."
    )
    assert "Warning" not in text.table(ask("scope", p))


def test_blocks_of_deeply_indented_rows_are_smaller(monkeypatch):
    p = profile(op("/".join("abcdefgh")), op("z"))
    view = ask("scope", p, max_depth=100)
    whole = text.table(view)
    monkeypatch.setattr(text, "_BLOCK_BYTES", 30)

    assert len(list(text.encode(view))) > 5
    assert text.table(view) == whole


# Older generations.


def test_early_has_one_column_of_time():
    p = profile(op("a"), run("a", micros=7))

    assert lines("scope", p, dialect="early", select=["micros"]) == [
        "node name | execution time",
        "_TFProfRoot (--/7us)",
        "  a (7us/7us)",
    ]


def test_early_counts_only_definitions():
    p = profile(op("a"), run("a"), run("a", start=2000))

    assert lines("scope", p, dialect="early", select=["occurrence"]) == [
        "node name | op occurrence",
        "_TFProfRoot (--/1)",
        "  a (1/1)",
    ]
    assert op_fields(p, dialect="early", select=["occurrence"]) == ["Op 1"]


@pytest.mark.parametrize("dialect", ["early", "contrib"])
def test_an_older_report_is_only_the_table(dialect):
    view = ask("scope", profile(op("a")), dialect=dialect)

    assert text.report(view) == text.table(view)


def test_contrib_has_no_legend():
    p = profile(op("w", "Variable", shape=(2, 3)))

    assert lines("scope", p, dialect="contrib") == [
        "_TFProfRoot (--/6 params)",
        "  w (2x3, 6/6 params)",
    ]


def test_contrib_shows_only_names_if_nothing_is_selected():
    p = profile(op("w", "Variable"))

    assert lines("scope", p, dialect="contrib", select=[]) == ["_TFProfRoot", "  w"]
    assert lines("scope", p, select=[]) == ["node name | ", "_TFProfRoot ()", "  w ()"]


def test_a_graph_shows_how_many_ops_are_hidden_above_a_row():
    p = profile(
        op("a", inputs=["hid_1"]),
        op("hid_1", inputs=["hid_2"]),
        op("hid_2", inputs=["b"]),
        op("b", inputs=["c"]),
        op("c"),
    )
    shown = {"select": ["num_hidden_ops"], "hide_name_regexes": ["hid.*"]}

    assert lines("graph", p, **shown)[1:] == [
        "_TFProfRoot ()",
        "  a ()",
        "    ...hidden 2...",
        "      b ()",
        "        c ()",
    ]
    assert lines("scope", p, **shown)[1:] == ["_TFProfRoot ()", "  a ()", "  b ()", "  c ()"]
