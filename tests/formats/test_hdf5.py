"""The content of HDF5 files, without values."""

import sys

import h5py
import numpy as np
import pytest

from tfprof.errors import InputError, MissingInputError
from tfprof.formats import hdf5
from tfprof.formats.hdf5 import Dataset


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "a.h5")


def test_groups_shapes_and_texts_are_read(path):
    with h5py.File(path, "w") as file:
        file.attrs["title"] = "a model"
        file.attrs["names"] = ["a", "b"]
        file.attrs["number"] = 3
        file.create_dataset("layers/dense/0", data=np.zeros((3, 4), "float16"))

    root = hdf5.read(path, path)

    assert root.attributes == {"title": "a model", "names": ["a", "b"]}
    assert root.groups["layers"].groups["dense"].datasets == {"0": Dataset((3, 4), "float16")}
    assert dict(root.datasets_below()) == {"layers/dense/0": Dataset((3, 4), "float16")}


@pytest.mark.parametrize("link", [h5py.SoftLink("/a"), h5py.ExternalLink("other.h5", "/a")])
def test_links_are_refused(path, link):
    with h5py.File(path, "w") as file:
        file.create_group("a")
        file["b"] = link

    with pytest.raises(InputError, match="contains a link, `b`"):
        hdf5.read(path, path)


def test_a_group_that_contains_itself_is_refused(path):
    with h5py.File(path, "w") as file:
        file.create_group("a")["again"] = file["/"]

    with pytest.raises(InputError, match="the group `/a/again` contains itself"):
        hdf5.read(path, path)


def test_too_many_objects_are_refused(path, monkeypatch):
    monkeypatch.setattr(hdf5, "_MOST_OBJECTS", 3)
    with h5py.File(path, "w") as file:
        for number in range(4):
            file.create_group(str(number))

    with pytest.raises(InputError, match="too many"):
        hdf5.read(path, path)


def test_a_large_attribute_is_refused(path, monkeypatch):
    monkeypatch.setattr(hdf5, "_MOST_ATTRIBUTE_BYTES", 10)
    with h5py.File(path, "w") as file:
        file.attrs["text"] = np.bytes_("x" * 100)

    with pytest.raises(InputError, match="an attribute `text` that is too large"):
        hdf5.read(path, path)


def test_an_impossible_shape_is_refused(path):
    with h5py.File(path, "w") as file:
        file.create_dataset("a", (1 << 40, 1 << 40), "int8", chunks=(1, 1))

    with pytest.raises(InputError, match="the shape of `a` is impossible"):
        hdf5.read(path, path)


def test_a_damaged_file_is_an_error(path, tmp_path):
    with h5py.File(path, "w") as file:
        file.create_dataset("a", data=np.zeros(100))
    data = (tmp_path / "a.h5").read_bytes()
    (tmp_path / "a.h5").write_bytes(data[: len(data) // 2])

    with pytest.raises(InputError, match="is a damaged HDF5 file"):
        hdf5.read(path, path)


def test_without_h5py_the_error_says_how_to_install_it(path, monkeypatch):
    monkeypatch.setitem(sys.modules, "h5py", None)

    with pytest.raises(MissingInputError) as caught:
        hdf5.read(path, path)

    assert str(caught.value) == (
        f"{path} is an HDF5 file, which requires h5py: pip install 'tfprof[keras]'"
    )
