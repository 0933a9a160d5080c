"""`tfprof flops` on the command line."""

import json

import pytest

from tfprof.cli import main

pytestmark = pytest.mark.usefixtures("files")


def test_flops_prints_the_ledger(capsys):
    assert main(["flops", "graph.pb", "run_meta_0"]) == 0

    shown = capsys.readouterr()
    assert "Total: 96 (96 forward, 0 backward, 0 optimizer)." in shown.out
    assert shown.err == ""


def test_flops_can_print_json(capsys):
    assert main(["flops", "graph.pb", "--json"]) == 0

    assert json.loads(capsys.readouterr().out)["float_ops"] == 96


def test_flops_can_use_only_the_op_log(capsys):
    assert main(["flops", "graph.pb", "tfprof_log", "--count_float_ops=false", "--json"]) == 0

    assert json.loads(capsys.readouterr().out)["float_ops"] == 0


def test_flops_rejects_view_options(capsys):
    assert main(["flops", "graph.pb", "-select", "params"]) == 2

    assert "`flops` has no option `select`" in capsys.readouterr().err
