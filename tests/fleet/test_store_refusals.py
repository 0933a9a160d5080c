"""What a store cannot do, and what to do instead."""

import pytest

import tfprof
from fleet_stores import stored
from fleets import Job, generated


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fleet")
    return stored(folder / "store", generated(folder, Job(hosts=2, steps=3, layers=2)))


def test_single_runs_are_in_the_collected_files(store, tmp_path):
    with pytest.raises(tfprof.MissingInputError, match=r"ask one of the collected files, such as"):
        store.write_timeline(tmp_path / "timeline.json")
    assert not list(tmp_path.iterdir())


def test_kernels_are_in_the_collected_files(store):
    with pytest.raises(tfprof.MissingInputError, match="A store has the times of ops, but no kern"):
        store.kernels()


def test_a_checker_of_single_runs_says_where_they_are(store):
    assert any("IdleAcceleratorChecker" in note for note in store.advise().notes)


def test_other_files_are_collected_too(store):
    path = store.files[0].path

    with pytest.raises(tfprof.OptionError, match="is a store, which contains its graph and runs"):
        tfprof.load(path, *(recording.file for recording in store.recordings))


def test_only_stores_are_read_from_urls():
    with pytest.raises(tfprof.InputError, match="is not a store, and other files are not read"):
        tfprof.load("memory://nothing/here.pb")


def test_a_store_without_an_index_says_how_to_finish_it(tmp_path):
    (tmp_path / "tfprof-store.json").write_text('{"format": "tfprof store", "version": 2}')

    with pytest.raises(tfprof.InputError, match="run the same `tfprof collect` again"):
        tfprof.load(tmp_path)


def test_a_later_version_asks_to_upgrade(tmp_path):
    (tmp_path / "tfprof-store.json").write_text('{"format": "tfprof store", "version": 9}')

    with pytest.raises(tfprof.InputError, match="upgrade tfprof"):
        tfprof.load(tmp_path)
