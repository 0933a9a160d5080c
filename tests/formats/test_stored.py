"""Parts of a large file are read again when they are needed."""

import gc
import os
from pathlib import Path

import pytest

import tfprof
from sources.tf_files import graph, node
from tfprof.errors import InputError
from tfprof.formats import stored
from tfprof.formats.content import Content


@pytest.fixture(autouse=True)
def every_size(monkeypatch):
    monkeypatch.setattr(stored, "SMALLEST", 1)


def test_parts_of_a_file_can_be_read_again(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"0123456789")

    data, file = Content(str(path)).read()

    assert data == b"0123456789"
    assert file.read(2, 5) == b"234"
    assert file.read(5, 5) == b""


def test_a_small_file_is_kept_in_memory(tmp_path, monkeypatch):
    path = tmp_path / "file"
    path.write_bytes(b"0123456789")
    monkeypatch.setattr(stored, "SMALLEST", 11)

    assert Content(str(path)).read() == (b"0123456789", None)


def test_a_file_that_was_removed_can_still_be_read(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"0123456789")
    _, file = Content(str(path)).read()

    path.unlink()

    assert file.read(0, 4) == b"0123"


@pytest.mark.parametrize("change", [b"", b"0123456789+", b"9876543210"])
def test_a_file_that_was_written_to_is_refused(tmp_path, change):
    path = tmp_path / "file"
    path.write_bytes(b"0123456789")
    os.utime(path, ns=(1, 1))
    _, file = Content(str(path)).read()

    path.write_bytes(change)

    with pytest.raises(InputError, match="was changed after it was loaded; load it again"):
        file.read(0, 4)


def test_a_file_is_closed_when_it_is_no_longer_used(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"0123456789")
    if not Path("/proc/self/fd").exists():
        pytest.skip("this system does not tell which files are open")

    _, file = Content(str(path)).read()
    assert times_open(path) == 1
    del file
    gc.collect()

    assert times_open(path) == 0


def times_open(path: Path) -> int:
    """How often this process has a file open: other files come and go meanwhile."""
    links = (os.path.realpath(entry) for entry in Path("/proc/self/fd").iterdir())
    return sum(link == str(path) for link in links)


def test_a_profile_reads_attributes_from_the_file_it_came_from(tmp_path):
    path = tmp_path / "graph.pb"
    path.write_bytes(graph(node("a", "Conv2D", k={"i": 3})))

    origins = tfprof.load(path).columns.ops.origins

    assert origins.attribute(0, "k") == 3
    path.write_bytes(b"something else")
    with pytest.raises(InputError, match="was changed"):
        origins.attribute(0, "k")
