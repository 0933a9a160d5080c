"""Notes that say why an answer has fewer rows than expected, and what to type instead."""

import pytest

from asking import RUNS, ask
from build import CPU, op, profile, run
from tfprof.views.notes import notes

NET = profile(
    op("net/conv1/w", "VariableV2", shape=(3, 4)),
    op("net/conv1/mul", "MatMul", inputs=["net/conv1/w"], float_ops=48),
    op("net/conv2/w", "VariableV2", shape=(5,)),
    op("prob", "Softmax", inputs=["net/conv1/mul"]),
)


def notes_on(kind="scope", p=NET, **options):
    return list(notes(ask(kind, p, **{"select": "params"} | options)))


def test_a_complete_answer_has_no_notes():
    assert notes_on() == []


# Regexes that match nothing.

WHOLE = "A regex must match the whole name:"


@pytest.mark.parametrize("verb", ["start", "trim", "show", "hide"])
def test_each_option_with_a_regex_that_matches_no_row_is_named(verb):
    assert notes_on(**{f"{verb}_name_regexes": ["conv1"]}) == [
        f"-{verb}_name_regexes: no row matches `conv1`. {WHOLE} `.*conv1` matches `net/conv1`."
    ]


@pytest.mark.parametrize(
    ("regex", "hint"),
    [
        ("net/", f"{WHOLE} `net` matches `net`."),
        ("net/conv", f"{WHOLE} `net/conv.*` matches 5 rows, such as `net/conv1`."),
        ("onv", f"{WHOLE} `.*onv.*` matches 5 rows, such as `net/conv1`."),
        ("conv1|onv2", f"{WHOLE} `.*(?:conv1|onv2)` matches 2 rows, such as `net/conv1`."),
        ("NET/CONV1", f"{WHOLE} `net/conv1` matches `net/conv1`."),
        ("prbo", "Did you mean `prob`?"),
    ],
)
def test_a_regex_that_matches_nothing_gets_one_that_does(regex, hint):
    [note] = notes_on(show_name_regexes=[regex])

    assert note == f"-show_name_regexes: no row matches `{regex}`. {hint}"


def test_of_several_regexes_those_that_match_nothing_are_noted():
    [note] = notes_on(show_name_regexes=["prob", "zzz", "net.*"])

    assert note.startswith("-show_name_regexes: no row matches `zzz`.")


def test_an_op_kind_that_does_not_exist_is_noted_in_the_op_view():
    [note] = notes_on("op", show_name_regexes=["Matmul"])

    assert note == "-show_name_regexes: no row matches `Matmul`. Did you mean `MatMul`?"


def test_a_defined_type_without_ops_is_noted_once():
    assert notes_on(define_type="x=zzz", account_type_regexes=["x"]) == [
        "no op name matches `zzz`, so no op has the type `x`."
    ]


def test_a_device_that_does_not_exist_is_noted():
    p = profile(op("a", shape=(2,)), run("a", device=CPU))

    assert notes_on(p=p, device_regexes=["cpu:0"]) == [
        f"-device_regexes: no device matches `cpu:0`. {WHOLE} `.*cpu:0` matches `{CPU}`."
    ]


def test_devices_are_unknown_without_a_run():
    assert notes_on(device_regexes=[".*cpu.*"]) == [
        f"-device_regexes: no op has a device, because no run was recorded; give {RUNS}."
    ]


# Depth.


@pytest.mark.parametrize(
    ("depth", "note"),
    [
        (1, "7 rows below the root are not shown; -max_depth 4 shows all."),
        (2, "5 rows below depth 2 are not shown; -max_depth 4 shows all."),
        (3, "3 rows below depth 3 are not shown; -max_depth 4 shows all."),
    ],
)
def test_rows_that_are_too_deep_are_counted(depth, note):
    assert notes_on(max_depth=depth) == [note]
    assert notes_on(max_depth=4) == []


def test_only_rows_that_a_larger_depth_would_show_are_counted():
    assert notes_on(max_depth=2, show_name_regexes=[".*/w"]) == [
        "2 rows below depth 2 are not shown; -max_depth 4 shows all."
    ]
    assert notes_on(max_depth=3, min_params=6, show_name_regexes=[".*/w"]) == [
        "1 row below depth 3 is not shown; -max_depth 4 shows all."
    ]


def test_a_depth_that_changes_nothing_is_not_noted():
    assert notes_on(max_depth=3, show_name_regexes=["net"]) == []


def test_rows_after_the_last_one_shown_are_counted_in_the_op_view():
    assert notes_on("op", max_depth=0) == [
        "2 rows after the first 1 are not shown; -max_depth 2 shows all."
    ]


def test_it_is_noted_if_rows_that_are_too_deep_are_not_counted_either():
    assert notes_on(max_depth=2, account_displayed_op_only=True) == [
        "`params` is 0 in every row: the ops that count have none in these files.",
        "5 rows below depth 2 are neither shown nor counted; -max_depth 4 shows all.",
    ]


# Thresholds.


def test_a_threshold_that_no_row_reaches_is_noted_with_the_largest_number():
    assert notes_on(min_params=100) == [
        (
            "no row reaches -min_params 100: the largest number is 12 (`net/conv1/w`); "
            "-min_params 12 shows it."
        )
    ]
    assert notes_on(min_params=12) == []


def test_a_threshold_on_numbers_that_are_all_zero_is_noted():
    assert notes_on(show_name_regexes=["prob"], min_params=1) == [
        "no row reaches -min_params 1: the largest number is 0 (`prob`); leave out -min_params."
    ]


def test_the_largest_number_is_the_one_that_is_compared():
    [note] = notes_on("op", min_params=100)

    assert "the largest number is 17 (`MatMul`)" in note  # a running total


def test_thresholds_that_no_row_reaches_together_are_noted():
    assert notes_on(min_params=6, min_float_ops=40) == [
        (
            "no row passes all of -min_params, -min_float_ops; "
            "leave one out to see what the others keep."
        )
    ]


def test_filters_that_no_row_passes_together_are_noted():
    assert notes_on(start_name_regexes=["prob"], show_name_regexes=["net"]) == [
        (
            "no row passes all of -start_name_regexes, -show_name_regexes; "
            "leave one out to see what the others keep."
        )
    ]


# Defaults of a dialect.


def test_rows_hidden_by_the_default_of_a_dialect_are_counted():
    p = profile(op("save/w", "Variable", shape=(3,)), op("v", "Variable", shape=(3,)))

    assert notes_on(p=p, dialect="contrib") == [
        (
            "1 row is hidden by the default of -hide_name_regexes in this dialect; "
            '-hide_name_regexes "" shows all.'
        )
    ]
    assert notes_on(p=p, dialect="contrib", hide_name_regexes="") == []


# Numbers that are all zero, and options without effect.


def test_a_number_that_is_zero_in_every_row_is_noted():
    assert notes_on(show_name_regexes=["prob"], account_displayed_op_only=True) == [
        "`params` is 0 in every row: the ops that count have none in these files."
    ]


@pytest.mark.parametrize(
    ("kind", "options", "note"),
    [
        (
            "scope",
            {"order_by": "occurrence"},
            "the scope view sorts by name instead of occurrence; the op view sorts by it.",
        ),
        (
            "op",
            {"select": "params,num_hidden_ops"},
            "the op view does not show num_hidden_ops; the graph view does.",
        ),
        (
            "op",
            {"define_type": "x=net.*"},
            "-define_type x has no effect without -account_type_regexes x.",
        ),
    ],
)
def test_an_option_without_effect_is_noted(kind, options, note):
    assert notes_on(kind, **options) == [note]


def test_the_code_view_notes_that_it_ignores_min_occurrence():
    p = profile(op("a", shape=(2,), code=["a.py:1:f"]))

    assert notes_on("code", p, min_occurrence=3) == [
        "the code view ignores min_occurrence; the other views do not."
    ]
