"""Folders of files, local or at a URL."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfprof.errors import InputError, OutputError, TfprofError
from tfprof.fleet import places
from tfprof.fleet.places import Place, hive_value


@pytest.fixture(params=["path", "file", "memory"])
def place(request, tmp_path):
    if request.param == "memory":
        fsspec = pytest.importorskip("fsspec")
        fsspec.filesystem("memory").store.clear()
        return Place.of("memory://bucket/store")
    return Place.of(f"{tmp_path}/a b" if request.param == "path" else f"file://{tmp_path}/a%20b")


def test_a_written_file_can_be_read(place):
    place.write("tables/host=a/1.parquet", b"content")

    assert place.exists("tables/host=a/1.parquet")
    assert place.read_bytes("tables/host=a/1.parquet") == b"content"
    assert place.stamp("tables/host=a/1.parquet").size == 7


def test_several_files_are_read_at_once_without_those_that_are_missing(place):
    place.write("a", b"1")
    place.write("b/c", b"2")

    assert place.read_all(["a", "b/c", "d"]) == {"a": b"1", "b/c": b"2"}


def test_files_are_listed_by_name_without_hidden_ones(place):
    for name in ("parts/b", "parts/a/c", "parts/.d", "other"):
        place.write(name, b"")

    assert place.list("parts") == ["parts/a/c", "parts/b"]
    assert place.list("nothing") == []


def test_a_file_can_be_removed_twice(place):
    place.write("a/b", b"1")

    place.remove("a/b")
    place.remove("a/b")

    assert not place.exists("a/b")


def test_a_missing_file_is_an_error_that_names_it(place):
    with pytest.raises(InputError, match="a/b"):
        place.read_bytes("a/b")


@pytest.mark.parametrize("name", ["../a", "/a", "a/../../b", "", "a\0b"])
def test_a_name_that_leads_out_of_the_folder_is_refused(place, name):
    with pytest.raises(InputError, match="outside"):
        place.write(name, b"")


def test_a_url_of_a_local_file_is_its_path(tmp_path):
    assert Place.of(f"file://{tmp_path}/a%20b/").address == f"{tmp_path}/a b"


def test_a_relative_path_becomes_absolute_without_following_links(tmp_path, monkeypatch):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    monkeypatch.chdir(tmp_path)

    assert Place.of("link/../link/store").address == f"{tmp_path}/link/store"


def test_the_stamp_of_a_file_is_the_same_in_a_listing(place):
    place.write("a/b", b"1")

    assert places.below(place.at("a")) == [(place.at("a/b"), place.stamp("a/b"))]
    assert places.matching(place.at("*/b")) == [(place.at("a/b"), place.stamp("a/b"))]


def test_a_file_at_a_url_is_fetched_under_its_own_name(place):
    place.write("a/host.xplane.pb", b"1")

    with places.fetched(place.at("a/host.xplane.pb")) as path:
        assert path.endswith("/host.xplane.pb")
        with open(path, "rb") as file:  # noqa: PTH123 -- a string
            assert file.read() == b"1"


def test_a_folder_that_cannot_be_created_is_an_error(tmp_path):
    (tmp_path / "file").touch()

    with pytest.raises(OutputError, match="cannot be written"):
        Place.of(str(tmp_path / "file")).write("a/b", b"")


@pytest.mark.parametrize(
    ("url", "trouble"),
    [("unknown://a/b", "Protocol not known"), ("s3://bucket/a", "s3fs")],
)
def test_a_protocol_that_is_not_available_gives_one_line(url, trouble, monkeypatch):
    pytest.importorskip("fsspec")
    monkeypatch.setitem(sys.modules, "s3fs", None)

    with pytest.raises(InputError, match=trouble):
        places.stamp_of(url)


def test_a_url_without_fsspec_gives_the_command_that_installs_it(monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "fsspec"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "fsspec", None)

    with pytest.raises(TfprofError, match=r"A URL requires fsspec: pip install 'tfprof\[fleet\]'"):
        places.stamp_of("memory://a")


# Values of partitions.


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("host-1.example_a", "host-1.example_a"),
        ("a/b c=d%", "a%2Fb%20c%3Dd%25"),
        ("..", "%2E%2E"),
        (".", "%2E"),
        ("", "__HIVE_DEFAULT_PARTITION__"),
        ("worker:0", "worker%3A0"),
        ("é\n", "%C3%A9%0A"),
    ],
)
def test_a_host_name_is_quoted_as_the_value_of_a_partition(text, value):
    assert hive_value(text) == value


def test_long_names_stay_different_and_fit_into_a_file_name():
    values = {hive_value(f"{'é' * 10_000}{end}") for end in "ab"}

    assert len(values) == 2
    assert max(map(len, values)) < 200


@given(st.text(st.characters(exclude_categories=())), st.text(st.characters(exclude_categories=())))
def test_different_hosts_have_different_folders_that_stay_in_the_store(one, other):
    place = Place.of("/store")
    paths = [place.at(f"records/host={hive_value(host)}/1.parquet") for host in (one, other)]

    assert all(path.startswith("/store/records/host=") for path in paths)
    assert all(path.count("/") == 4 for path in paths)
    assert (paths[0] == paths[1]) == (one == other)


def test_duckdb_reads_the_quoted_names_of_hosts(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    hosts = ["a/b c=d", "..", "ä", "worker:0"]
    place = Place.of(str(tmp_path))
    for host in hosts:
        place.write(f"host={hive_value(host)}/1.csv", b"n\n1\n")

    rows = duckdb.sql(f"FROM read_csv('{tmp_path}/*/*.csv', hive_partitioning=true)").fetchall()

    assert sorted(host for _, host in rows) == sorted(hosts)
