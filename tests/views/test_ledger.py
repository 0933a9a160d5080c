"""The ledger of float operations: each op is counted, does no arithmetic, or is not counted."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from build import op, profile, run
from profile_strategies import profiles
from tfprof.api import Profile
from tfprof.measures.numbers import EVERYTHING, per_op
from tfprof.views import ledger
from tfprof.views.ledger import CountedKind, UncountedKind

X = op("x", "Placeholder", outputs=[(2, 3)])


def build(*facts, counts_float_ops=True):
    return ledger.build(profile(*facts, counts_float_ops=counts_float_ops))


def test_a_kind_has_its_number_of_ops_its_phases_and_its_rule():
    found = build(
        X,
        op("a", "Square", inputs=["x"]),
        op("b", "Square", inputs=["x"]),
        op("gradients/a_grad/Square", "Square", inputs=["x"]),
        op("update", "ApplyGradientDescent", inputs=["x", "x", "x"]),
    )

    one_each = "N(input 0): one operation for each element."
    assert found.entries == (
        CountedKind("Square", 3, 0, forward=12, backward=6, optimizer=0, other=0, rule=one_each),
        CountedKind("ApplyGradientDescent", 1, 0, 0, 0, 12, 0, found.entries[1].rule),
    )
    assert (found.forward, found.backward, found.optimizer, found.float_ops) == (12, 6, 12, 30)
    assert found.idle_kinds == (("Placeholder", 1),)
    assert found.uncounted == ()


def test_logged_numbers_are_distinguished_from_counted_ones():
    found = build(
        X,
        op("a", "Square", inputs=["x"], float_ops=100),
        op("b", "Square", inputs=["x"]),
        op("c", "Gelu", float_ops=7),
    )

    square, gelu = found.entries
    assert (square.float_ops, square.ops, square.logged_ops) == (106, 2, 1)
    assert (gelu.float_ops, gelu.rule) == (7, "as recorded")


def test_uncounted_kinds_are_listed_with_time_and_reason_slowest_first():
    found = build(
        X,
        op("a", "Gelu"),
        op("b", "Square"),
        op("c", "Swish"),
        op("d", "Swish"),
        run("a", micros=5),
        run("b", micros=40),
        run("x", micros=50),
        run("undefined", micros=5),
    )

    assert found.uncounted == (
        UncountedKind("Square", 1, 40, "a shape is unknown"),
        UncountedKind("", 1, 5, "not in the graph"),
        UncountedKind("Gelu", 1, 5, "no rule for this kind"),
        UncountedKind("Swish", 2, 0, "no rule for this kind"),
    )
    assert (found.uncounted_ops, found.uncounted_micros) == (5, 50)
    assert (found.ops, found.micros, found.idle_micros) == (6, 100, 50)


def test_if_counting_is_turned_off_ops_without_a_logged_number_are_not_counted():
    found = build(X, op("a", "Square", inputs=["x"]), op("b", float_ops=7), counts_float_ops=False)

    assert [entry.kind for entry in found.entries] == ["Op"]
    assert found.float_ops == 7
    assert {one.reason for one in found.uncounted} == {"not recorded"}
    assert found.uncounted_ops == 2


def test_float_operations_are_multiplied_by_runs_as_in_the_views():
    p = Profile(profile(X, op("a", "Square", inputs=["x"]), *[run("a")] * 3, counts_float_ops=True))

    assert p.flops().float_ops == 18
    assert p.flops().float_ops == p.scope(select="float_ops")["_TFProfRoot"]["total_float_ops"]


@given(profiles(), st.booleans())
def test_the_ledger_contains_every_op_and_all_float_operations(p, counts_float_ops):
    p = replace(p, counts_float_ops=counts_float_ops)
    found = ledger.build(p)

    idle = sum(count for _, count in found.idle_kinds)
    assert sum(entry.ops for entry in found.entries) + idle + found.uncounted_ops == len(p.ops)
    assert found.float_ops == per_op(p, EVERYTHING)["float_ops"].sum()
    assert found.micros == per_op(p, EVERYTHING)["micros"].sum()


def test_the_report_lists_counted_and_uncounted_kinds():
    p = profile(
        X,
        op("net/a", "Square", inputs=["x"], float_ops=1_000_000),
        op("net/b", "Square", inputs=["x"]),
        op("net/c", "Gelu"),
        run("net/c", micros=3),
        run("net/b", micros=9),
        counts_float_ops=True,
    )

    report = Profile(p).flops().report

    assert report.splitlines()[6:] == [
        "kind    ops  forward  backward  optimizer  total    share  MACs  counted as",
        (
            "Square    2    1.00m                       1.00m  100.00%"
            "        N(input 0) (recorded: 1 ops)"
        ),
        "",
        "Total: 1,000,006 (1,000,006 forward, 0 backward, 0 optimizer).",
        "MACs: 0 (0 forward, 0 backward, 0 optimizer).",
        "No arithmetic: 1 of 4 ops (25.00%), 0.00% of the time (Placeholder 1).",
        "Not counted: 1 of 4 ops (25.00%), 25.00% of the time.",
        "  Gelu  1  3us  no rule for this kind",
    ]


def test_without_runs_the_report_shows_no_times():
    report = Profile(profile(X, op("c", "Gelu"), counts_float_ops=True)).flops().report

    assert "of the time" not in report
    assert report.endswith("Not counted: 1 of 2 ops (50.00%).\n  Gelu  1  no rule for this kind\n")


def test_the_report_says_if_everything_is_counted():
    report = Profile(profile(X, counts_float_ops=True)).flops().report

    assert report.endswith("Not counted: nothing.\n")


def test_a_profile_without_ops_has_an_empty_ledger():
    found = Profile(profile(counts_float_ops=True)).flops()

    assert (len(found), found.float_ops) == (0, 0)
    assert "Total: 0" in str(found)


def test_a_line_break_in_the_name_of_a_kind_becomes_a_space():
    report = Profile(profile(op("c", "Ge\nlu"), counts_float_ops=True)).flops().report

    assert "Ge lu" in report


def test_the_json_output_contains_all_values():
    p = profile(X, op("a", "Square", inputs=["x"]), op("b", "Gelu"), counts_float_ops=True)
    found = Profile(p).flops()

    assert json.loads(found.to_json()) == found.to_dict()
    assert found.to_dict()["kinds"] == [
        {
            "kind": "Square",
            "ops": 1,
            "logged_ops": 0,
            "forward": 6,
            "backward": 0,
            "optimizer": 0,
            "other": 0,
            "rule": "N(input 0): one operation for each element.",
            "forward_macs": 0,
            "backward_macs": 0,
            "optimizer_macs": 0,
            "other_macs": 0,
            "ops_without_macs": 0,
            "float_ops": 6,
            "macs": 0,
        }
    ]
    assert found.to_dict()["not_counted"]["kinds"] == [
        {"kind": "Gelu", "ops": 1, "micros": 0, "reason": "no rule for this kind"}
    ]


def test_an_entry_can_be_looked_up_by_its_kind():
    p = Profile(profile(X, op("a", "Square", inputs=["x"]), counts_float_ops=True))

    assert p.flops()["Square"].float_ops == 6
    with pytest.raises(KeyError, match=r"no op of kind 'Gelu'.*Available: Square"):
        _ = p.flops()["Gelu"]
    with pytest.raises(KeyError, match="Did you mean `Square`"):
        _ = p.flops()["square"]
    assert repr(p.flops()) == "<tfprof float operations: 6, kinds of ops: 1>"
