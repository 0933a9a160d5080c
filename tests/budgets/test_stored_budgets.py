"""Budgets of a store are judged like those of the files in it."""

from __future__ import annotations

from pathlib import Path

import pytest

import tfprof
from fleet_stores import stored
from tfprof.budgets import file
from tfprof.budgets.check import check

pytest.importorskip("duckdb", reason="a store is read with DuckDB")

HOSTS = sorted((Path(__file__).parent.parent.parent / "examples" / "eight_hosts").glob("*.gz"))
TEXT = """
[model]
op_runs = 100
micros = "+3 %"
backward_micros = "+3 %"
step_time = "+3 %"
[scope.all_reduce]
micros = "+3 %"
op_runs = 10
"""


@pytest.fixture(scope="module")
def profiles(tmp_path_factory):
    store = stored(tmp_path_factory.mktemp("stores") / "hosts", HOSTS)
    return tfprof.load(*HOSTS), store


def test_a_store_and_its_files_have_the_same_numbers(profiles):
    budgets = file.budgets_in("tfprof.toml", TEXT)

    files, store = (check(one, budgets, one) for one in profiles)

    assert files.is_met
    assert [one.measured for one in store.verdicts] == [one.measured for one in files.verdicts]
    assert [one.interval for one in store.verdicts] == [one.interval for one in files.verdicts]


@pytest.mark.parametrize("metric", ["peak_bytes", "kernels"])
def test_what_a_store_lacks_about_parts_is_missing(metric, profiles):
    _, store = profiles
    budgets = file.budgets_in("tfprof.toml", f"[scope.all_reduce]\n{metric} = 0")

    (found,) = check(store, budgets).verdicts

    assert found.status == "missing"
    assert found.remark.endswith("check a recording instead.")
