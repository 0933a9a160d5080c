"""Rules that a program registers: the facts they can query, and the errors when they fail."""

import pytest

import tfprof
from build import op, profile
from counting import counted
from tfprof.api import Profile
from tfprof.cli import main
from tfprof.measures.flop_rules import registry


@pytest.fixture(autouse=True)
def _table(monkeypatch):
    """A copy of the table of rules that a test may change."""
    monkeypatch.setattr(registry, "_rules", dict(registry._rules))
    monkeypatch.setattr(registry, "_may_omit_macs", set(registry._may_omit_macs))


def test_a_rule_can_query_shapes_and_attributes():
    tfprof.register_flops(
        "MyAttention", lambda op: op.attr("heads") * op.input(1)[0] * op.output(0)[-1]
    )

    assert counted("MyAttention", inputs=[(2,), (3, 4)], output=(5, 6), heads=7) == 7 * 3 * 6


def test_the_ledger_shows_the_formula_of_a_rule_with_a_docstring():
    def twice(op):
        """2 · N(input 0): two operations for each element."""
        return 2 * op.input(0)[0]

    tfprof.register_flops("Gelu", twice)
    tfprof.register_flops("Swish", lambda _: 5)
    ledger = Profile(
        profile(
            op("x", "Placeholder", outputs=[(4,)]),
            op("a", "Gelu", inputs=["x"]),
            op("b", "Swish"),
            counts_float_ops=True,
        )
    ).flops()

    assert "100.00%" not in ledger.report
    assert "  2 · N(input 0)\n" in ledger.report
    assert "  a rule without a docstring\n" in ledger.report


def test_a_registered_rule_replaces_the_existing_one():
    tfprof.register_flops("Relu", lambda _: 5)

    assert counted("Relu", inputs=[(2,)]) == 5


def test_an_op_with_an_unknown_shape_is_reported_as_not_counted():
    tfprof.register_flops("Gelu", lambda op: op.input(0)[0])
    p = profile(op("a", "Gelu"), counts_float_ops=True)

    (missing,) = Profile(p).flops().uncounted

    assert (missing.kind, missing.reason) == ("Gelu", "a shape is unknown")


def test_a_logged_number_takes_precedence_over_the_rule():
    tfprof.register_flops("Gelu", lambda _: 5)
    p = profile(op("a", "Gelu", float_ops=9), op("b", "Gelu"), counts_float_ops=True)

    assert Profile(p).flops().float_ops == 14


@pytest.mark.parametrize(
    ("rule", "trouble"),
    [
        (lambda op: op.input(0)[7], "IndexError: tuple index out of range"),
        (lambda _: 1 // 0, "ZeroDivisionError: integer division or modulo by zero"),
        (lambda _: 1.5, "TypeError: 'float' object cannot be interpreted as an integer"),
        (lambda _: None, "TypeError: 'NoneType' object cannot be interpreted as an integer"),
    ],
)
def test_the_error_of_a_failing_rule_names_the_op(rule, trouble):
    tfprof.register_flops("Gelu", rule)
    p = profile(
        op("x", "Placeholder", outputs=[(2,)]),
        op("net/act", "Gelu", inputs=["x"]),
        counts_float_ops=True,
    )

    with pytest.raises(tfprof.RuleError) as raised:
        Profile(p).scope(select=["float_ops"])

    assert str(raised.value) == f"the float-op rule of `Gelu` fails on op `net/act`: {trouble}."


@pytest.mark.usefixtures("files")
def test_a_failing_rule_is_reported_on_one_line_on_the_command_line(capsys):
    tfprof.register_flops("Relu", lambda _: 1 // 0)

    status = main(["flops", "graph.pb"])

    assert status == 1
    assert capsys.readouterr().err == (
        "tfprof: the float-op rule of `Relu` fails on op `net/act`: "
        "ZeroDivisionError: integer division or modulo by zero.\n"
    )


@pytest.mark.parametrize(
    ("kind", "rule", "message"),
    [
        ("", len, "a string such as MatMul, not ''"),
        (7, len, "a string such as MatMul, not 7"),
        ("Gelu", 7, "the rule of `Gelu` must be a function of an op, not 7"),
    ],
)
def test_an_invalid_kind_or_rule_is_rejected(kind, rule, message):
    with pytest.raises(tfprof.OptionError, match=message):
        tfprof.register_flops(kind, rule)
