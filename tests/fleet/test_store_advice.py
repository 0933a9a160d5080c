"""Advice across hosts is the same on a store as on its files."""

import pytest

import tfprof
from fleet_stores import stored
from fleets import Fault, Job, generated

CHECKERS = [
    *("SlowHostChecker", "SkewedInputChecker", "UnlikeHostChecker", "FullestHostChecker"),
    "UnevenWorkChecker",
    "ParameterBalanceChecker",
]
FAULTS = [
    Fault("straggler", 1, 2.5, "model/layer_1", since=3),
    Fault("input", 2, 0.5),
    Fault("hardware", 0, 1.4),
    Fault("kernel", 0, 1.0, "model/layer_0"),
    Fault("kernel", 3, 1.0, "model/layer_0"),
    Fault("memory", 3, 2.0),
]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault.kind}-{fault.host}")
def test_a_store_gives_the_same_advice_on_hosts(fault, tmp_path):
    pytest.importorskip("duckdb")
    job = Job(hosts=5, steps=8, layers=2, has_gpu=True, faults=(fault,))
    paths = generated(tmp_path / "files", job)
    files, store = tfprof.load(*paths), stored(tmp_path / "store", paths)

    found = files.advise(CHECKERS)
    assert len(found) > 0
    assert list(store.advise(CHECKERS)) == list(found)
