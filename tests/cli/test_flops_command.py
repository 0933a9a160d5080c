"""`tfprof flops` as it is typed."""

import json

import pytest

from tfprof.cli import main

pytestmark = pytest.mark.usefixtures("files")


def test_the_ledger_is_printed(capsys):
    assert main(["flops", "graph.pb", "run_meta_0"]) == 0

    shown = capsys.readouterr()
    assert "Total: 96 (96 forward, 0 backward, 0 optimiser)." in shown.out
    assert shown.err == ""


def test_json_is_printed_for_scripts(capsys):
    assert main(["flops", "graph.pb", "--json"]) == 0

    assert json.loads(capsys.readouterr().out)["float_ops"] == 96


def test_the_numbers_of_the_log_can_be_had_alone(capsys):
    assert main(["flops", "graph.pb", "tfprof_log", "--count_float_ops=false", "--json"]) == 0

    assert json.loads(capsys.readouterr().out)["float_ops"] == 0


def test_an_option_of_views_is_refused(capsys):
    assert main(["flops", "graph.pb", "-select", "params"]) == 2

    assert "`flops` has no option `select`" in capsys.readouterr().err
