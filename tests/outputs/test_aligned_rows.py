"""The table of the layers view."""

from build import layer, op, profile, run
from tfprof.api import Profile


def network():
    trainable = ("_trainable_variables",)
    return profile(
        layer("net", "Functional", (-1, 10)),
        layer("net/conv", "Conv2D", (-1, 8)),
        layer("net/bn", "BatchNormalization", (8,)),
        op("conv/w", "Var", (2000, 3), types=trainable, layer="net/conv"),
        op("bn/mean", "Var", (4,), layer="net/bn"),
        op("net/conv/mul", float_ops=1_000_000, layer="net/conv"),
        op("gradient_tape/net/conv/mul", float_ops=2_000_000, layer="net/conv"),
        op("update", "ApplyAdam", float_ops=1000),
        run("net/conv/mul", 3000),
        run("gradient_tape/net/conv/mul", 5000),
        run("update", 2000),
    )


def lines(p, **options):
    return Profile(p).layers(**options).table.splitlines()


INCLUDES = "A row includes the layers in it."
SHARED = "A variable that several layers share counts once."
TIMES = "Times are those of an average step, summed over ops, even if they ran at the same time."


def test_the_table_has_aligned_columns_in_groups_and_ends_with_the_totals():
    assert lines(network(), select="trainable_params,params,layer_class,output_shape") == [
        "                                             ─────── parameters ──────",
        "layer      class               output shape  total  trainable    share",
        "──────────────────────────────────────────────────────────────────────",
        "net        Functional          (?, 10)       6,004      6,000  100.00%",
        "  conv     Conv2D              (?, 8)        6,000      6,000   99.93%",
        "  bn       BatchNormalization  (8,)              4               0.07%",
        "optimizer",
        "──────────────────────────────────────────────────────────────────────",
        "total                                        6,004      6,000  100.00%",
        "",
        INCLUDES,
        SHARED,
    ]


def test_shares_are_those_of_time_if_it_is_shown():
    assert lines(network(), select="params,float_ops,micros,forward_micros") == [
        "                              ────────── time ─────────",
        "layer      parameters  FLOPs    total  forward    share",
        "───────────────────────────────────────────────────────",
        "net             6,004  3.00m   8.00ms   3.00ms   80.00%",
        "  conv          6,000  3.00m   8.00ms   3.00ms   80.00%",
        "  bn                4",
        "optimizer              1.00k   2.00ms            20.00%",
        "───────────────────────────────────────────────────────",
        "total           6,004  3.00m  10.00ms   3.00ms  100.00%",
        "",
        INCLUDES,
        SHARED,
        TIMES,
    ]


def test_shares_are_those_of_the_number_that_orders_the_rows():
    found = lines(network(), select="params,micros", order_by="params", max_depth=2)

    assert found[:4] == [
        "layer      parameters    share     time",
        "───────────────────────────────────────",
        "net             6,004  100.00%   8.00ms",
        "optimizer                        2.00ms",
    ]


def test_a_number_without_shares_can_be_shown_alone():
    p = profile(op("net/a"), run("net/a", memory={"requested": 4000}))

    assert lines(p, select="bytes")[:1] == ["layer       bytes"]


def test_a_group_is_as_wide_as_its_heading():
    assert lines(network(), select="other_params", max_depth=2)[:4] == [
        "            parameters",
        "layer             other",
        "───────────────────────",
        "net                   4",
    ]


def test_facts_that_do_not_fit_into_a_table_are_left_out():
    found = lines(network(), select="input_shapes,device", max_depth=2)

    assert found[0] == "layer      assigned devices"


def test_a_notebook_shows_the_rows_of_layers():
    shown = Profile(network()).layers(select="params")._repr_html_()

    assert ">optimizer</td>" in shown
    assert ">total</td>" in shown


def test_a_table_that_is_too_wide_leaves_out_the_least_important_columns():
    whole = Profile(network()).layers()
    width = len(whole.table.splitlines()[2])

    assert whole.fitted(width) is whole
    narrow = whole.fitted(width - 1)
    assert [word for word in narrow.table.splitlines()[0].split() if "─" not in word] == [
        "parameters",
        "time",
    ]
    assert narrow.notes[-1] == (
        "columns that do not fit on the terminal: forward_float_ops,backward_float_ops; "
        "-select shows them."
    )


def test_names_parameters_float_operations_and_time_are_never_left_out():
    narrow = Profile(network()).layers().fitted(10)

    assert narrow.table.splitlines()[0] == "layer      parameters  FLOPs     time    share"
    assert narrow.to_dict()["rows"][1]["total_forward_micros"] == 3000  # only the table is narrow


def test_columns_of_zeros_are_left_out_but_none_that_a_table_never_shows():
    answer = Profile(network()).layers(select="params,slots,micros").without_zero_columns()

    assert answer.table.splitlines()[0] == "layer      parameters     time    share"
    assert [note for note in answer.notes if "0 in every row" in note] == [
        "`slots` is 0 in every row: the ops that count have none in these files.",
        "slots: 0 in every row, so not shown; a pipe or a file gets all columns.",
    ]


def test_other_views_are_never_narrowed():
    answer = Profile(network()).scope()

    assert answer.fitted(1) is answer
