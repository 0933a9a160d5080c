"""What a question shows and sorts by if it does not say."""

import pytest

from build import GPU, op, profile, run
from tfprof.api import Profile
from tfprof.errors import OptionError
from tfprof.options import Options
from tfprof.views.defaults import resolved

X = op("x", outputs=[(2, 3)])
W = op("w", "VariableV2", shape=(3, 4))
SQUARE = op("a", "Square", inputs=["x"])


def chosen(*facts, kind="scope", **options):
    found = resolved(kind, profile(*facts, counts_float_ops=True), Options.of(**options))
    return found.select, found.order_by


def test_time_is_selected_if_a_run_was_recorded():
    assert chosen(W, run("w")) == (("micros",), "micros")


def test_parameters_and_float_operations_are_selected_without_a_run():
    assert chosen(W, X, SQUARE) == (("float_ops", "params"), "params")


def test_parameters_are_selected_if_there_are_no_float_operations():
    assert chosen(W)[0] == ("params",)


def test_float_operations_are_selected_if_there_are_no_parameters():
    assert chosen(X, SQUARE) == (("float_ops",), "float_ops")


@pytest.mark.parametrize(
    ("kind", "found"),
    [
        ("scope", (("occurrence",), "name")),
        ("op", (("occurrence",), "occurrence")),
        ("code", (("op_types",), "name")),
    ],
)
def test_ops_without_numbers_are_counted(kind, found):
    assert chosen(op("a", "NoOp"), kind=kind) == found


def test_auto_can_be_combined_with_other_metrics():
    assert chosen(W, select="auto,device")[0] == ("device", "params")


@pytest.mark.parametrize(
    ("kind", "select", "key"),
    [
        ("scope", "micros,params", "params"),  # the first column of this view
        ("op", "micros,params", "micros"),
        ("op", "occurrence,device", "occurrence"),
        ("scope", "occurrence", "name"),
        ("graph", "op_types,device", "name"),
        ("scope", "", "name"),
    ],
)
def test_rows_are_sorted_by_the_first_number_shown(kind, select, key):
    assert chosen(W, run("w"), kind=kind, select=select)[1] == key


@pytest.mark.parametrize("output", ["timeline", "pprof", "speedscope", "perfetto"])
def test_rows_that_are_drawn_are_sorted_by_name_as_in_the_original(output):
    assert chosen(W, run("w"), output=f"{output}:outfile=f")[1] == "name"


@pytest.mark.parametrize("dialect", ["early", "contrib"])
def test_older_dialects_select_parameters_and_sort_by_name(dialect):
    assert chosen(W, run("w"), dialect=dialect) == (("params",), "name")


def test_explicit_options_are_kept():
    assert chosen(W, select="micros", order_by="name") == (("micros",), "name")


def test_auto_is_not_a_metric_of_other_options():
    with pytest.raises(OptionError, match="`order_by` cannot be `automatic`"):
        Options.of(order_by="automatic")


def test_the_largest_rows_come_first_by_default():
    small, large = op("a", "VariableV2", shape=(1,)), op("b", "VariableV2", shape=(9,))

    rows = Profile(profile(small, large)).scope()

    assert [row["name"] for row in rows] == ["_TFProfRoot", "b", "a"]


# Columns of zeros, which a terminal does not show.


def legend(*facts, **options):
    answer = Profile(profile(*facts)).scope(**options).without_zero_columns()
    return answer.table.partition("\n")[0], answer.notes[-1:]


def test_columns_of_zeros_are_left_out_with_a_note():
    assert legend(W, run("w"), select=["micros"]) == (
        "node name | total execution time | cpu execution time",
        ("accelerator_micros: 0 in every row, so not shown; a pipe or a file gets all columns.",),
    )


def test_the_explanation_of_a_column_is_left_out_with_it():
    answer = Profile(profile(W, run("w"))).scope(select=["micros"])

    assert "accelerator execution time" in answer.report
    assert "accelerator execution time" not in answer.without_zero_columns().report


def test_a_column_with_a_number_is_shown():
    assert "accelerator" in legend(W, run("w", device=f"{GPU}/stream:all"), select=["micros"])[0]


def test_one_column_is_shown_even_if_all_are_zeros():
    assert legend(op("a"), select=["params", "float_ops"])[0] == "node name | # parameters"


def test_an_answer_without_columns_of_zeros_is_unchanged():
    answer = Profile(profile(W)).scope(select=["params", "op_types"])

    assert answer.without_zero_columns() is answer
