"""The index of a store: replaced as a whole, whatever interrupts it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from collected_stores import contents, recorded

import tfprof
from fleets import Job
from tfprof.fleet.collect import collect
from tfprof.fleet.places import Place

INDEX_FILES = 5


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    return recorded(tmp_path_factory.mktemp("fleet"), Job(hosts=4, steps=3, layers=2))


@pytest.fixture
def executor():
    with ThreadPoolExecutor(1) as threads:
        yield threads


def answer(store):
    """A table of the store that adds up all hosts."""
    return str(tfprof.load(store).scope(select=["micros", "occurrence"], max_depth=4))


class KilledError(BaseException):
    """Ends the process that writes the index."""


@pytest.mark.parametrize("written", range(INDEX_FILES + 1))
def test_an_interrupted_update_leaves_the_old_index_or_the_new_one(
    traces, tmp_path, executor, monkeypatch, written
):
    store = tmp_path / "store"
    # The first host comes last, so that all numbers of rows change.
    collect(traces[1:], store, executor=executor)
    old = answer(store)
    write, files = Place.write, []

    def interrupted(self, name, data):
        if name.startswith("index/"):
            if len(files) == written:
                raise KilledError
            files.append(name)
        write(self, name, data)

    with monkeypatch.context() as patch:
        patch.setattr(Place, "write", interrupted)
        if written < INDEX_FILES:
            with pytest.raises(KilledError):
                collect(traces, store, executor=executor)
        else:
            collect(traces, store, executor=executor)
    found = answer(store)
    collect(traces, store, executor=executor)

    assert len(files) == written
    assert found == (answer(store) if written == INDEX_FILES else old)
    collect(traces, tmp_path / "at once", executor=executor)
    assert contents(store) == contents(tmp_path / "at once")
