"""A store says the same of accelerators as the files."""

import pytest

import tfprof
from device_fleets import traces

pytest.importorskip("duckdb")


@pytest.fixture
def paths(tmp_path):
    """The traces of four ranks and their store."""
    files = traces(tmp_path, compute={2: 400}, waits=False)
    tfprof.collect([str(path) for path in files], tmp_path / "store", jobs=1)
    return files, [tmp_path / "store"]


def test_a_store_has_the_same_steps_and_ranks_as_the_files(paths):
    files, store = (tfprof.load(*inputs) for inputs in paths)

    for question in ("step_times", "ranks"):
        answers = [getattr(one, question)().to_dict() | {"notes": []} for one in (files, store)]
        assert answers[0] == answers[1]
    assert store.ranks().slow[0].recording == "rank2"


def test_a_store_gives_the_same_advice_as_the_files(paths):
    files, store = (tfprof.load(*inputs).advise() for inputs in paths)

    for checker in ("AcceleratorUtilizationChecker", "CommunicationChecker", "SlowHostChecker"):
        assert store[checker] == files[checker] != ()
