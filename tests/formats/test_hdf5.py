"""The content of HDF5 files, without values."""

import io
from contextlib import suppress
from pathlib import Path

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fuzz import seeds
from tfprof.errors import InputError
from tfprof.formats import hdf5
from tfprof.formats.hdf5 import Dataset, Group, groups

SMALL = next(seeds.weights())


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
    monkeypatch.setattr(groups, "_MOST_OBJECTS", 3)
    with h5py.File(path, "w") as file:
        for number in range(4):
            file.create_group(str(number))

    with pytest.raises(InputError, match="more than 3 objects"):
        hdf5.read(path, path)


def test_a_large_attribute_is_refused(path, monkeypatch):
    monkeypatch.setattr(groups, "_MOST_ATTRIBUTE_BYTES", 10)
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


def test_groups_may_be_nested_sixty_levels_deep(path):
    with h5py.File(path, "w") as file:
        file.create_group("/".join("a" * 60))

    assert hdf5.read(path, path)
    with h5py.File(path, "w") as file:
        file.create_group("/".join("a" * 70))
    with pytest.raises(InputError, match="more than 60 levels deep"):
        hdf5.read(path, path)


@pytest.mark.parametrize("count", [8, 9, 50, 3000])
@pytest.mark.parametrize("options", [{}, {"libver": "latest"}, {"track_order": True}])
def test_groups_may_have_many_links_and_attributes(path, count, options):
    with h5py.File(path, "w", **options) as file:
        for number in range(count):
            file.create_dataset(f"{number}" + "x" * (number % 40), (number,), "f4")
            file.attrs[f"a{number}"] = f"text {number}"

    root = hdf5.read(path, path)

    assert sorted(found.shape[0] for found in root.datasets.values()) == list(range(count))
    assert root.attributes["a7"] == "text 7"
    assert len(root.attributes) == count


# Comparison with h5py.


def as_h5py_reads(source):
    found = Group()
    for name in source.attrs:
        value = source.attrs[name]
        if isinstance(value, str | bytes):
            found.attributes[name] = text(value)
        elif isinstance(value, np.ndarray) and value.dtype.kind in "SO":
            found.attributes[name] = [text(one) for one in value.ravel().tolist()]
    for name in source:
        part = source[name]
        if isinstance(part, h5py.Group):
            found.groups[name] = as_h5py_reads(part)
        else:
            found.datasets[name] = Dataset(part.shape or (), str(part.dtype))
    return found


def text(value):
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


names = st.text("abé0:_", min_size=1, max_size=60)
dtypes = st.sampled_from(
    ["float16", "float32", "float64", "int8", "int64", "uint8", "uint32", "complex64", "complex128"]
)
shapes = st.lists(st.integers(0, 3), max_size=3).map(tuple)
texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=40)
values = st.one_of(
    texts,
    st.lists(texts, max_size=4).map(lambda some: np.array(some, h5py.string_dtype())),
    st.lists(st.binary(min_size=1, max_size=9), min_size=1, max_size=3).map(np.array),
    st.integers(-9, 9),
    st.lists(st.floats(0, 1), max_size=3),
    st.just(h5py.Empty("f")),
)
attributes = st.dictionaries(names, values, max_size=4)
datasets = st.tuples(shapes, dtypes)
trees = st.recursive(
    st.tuples(attributes, st.dictionaries(names, datasets, max_size=3)),
    lambda inner: st.tuples(attributes, st.dictionaries(names, inner | datasets, max_size=12)),
    max_leaves=12,
)


def fill(group, tree):
    of_group, parts = tree
    for name, value in of_group.items():
        group.attrs[name] = value
    for name, part in parts.items():
        if isinstance(part[1], dict):
            fill(group.create_group(name), part)
        else:
            group.create_dataset(name, *part)


def written(tree, **options):
    out = io.BytesIO()
    with h5py.File(out, "w", **options) as file:
        fill(file, tree)
    return out


@given(trees)
def test_any_file_is_read_as_h5py_reads_it(tree):
    out = written(tree)

    with h5py.File(out, "r") as file:
        assert hdf5.read("file", out) == as_h5py_reads(file)


@given(trees, st.sampled_from(["earliest", "v108", "v110", "latest"]), st.booleans())
def test_a_file_in_any_version_is_read_as_h5py_reads_it(tree, version, track_order):
    out = written(tree, libver=version, track_order=track_order)

    with h5py.File(out, "r") as file:
        assert hdf5.read("file", out) == as_h5py_reads(file)


@settings(max_examples=300)
@given(st.data())
def test_a_damaged_file_is_read_or_refused(data):
    found = bytearray(SMALL)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(found) - 1))
        found[place] = data.draw(st.sampled_from((0, 1, 2, 8, 0x7F, 0x80, 0xFF)))
    with suppress(InputError):
        hdf5.read("file", io.BytesIO(found))


def test_texts_that_are_referred_to_many_times_do_not_fill_the_memory(path):
    with h5py.File(path, "w") as file:
        for number in range(500):
            file.attrs[f"text{number:03}"] = "x" * 20_000
    data = bytearray(Path(path).read_bytes())
    # All attributes refer to the first text, and the file has no other.
    first = data.index(b"GCOL")
    text = data.index((20_000).to_bytes(4, "little") + first.to_bytes(8, "little"))
    reference = data[text : text + 16]
    at = 0
    while (at := data.find((20_000).to_bytes(4, "little"), at)) >= 0:
        data[at : at + 16] = reference
        at += 16
    end = first + 20_000 + 4096

    with pytest.raises(InputError, match=r"16 times its size|ends at byte"):
        hdf5.read("file", io.BytesIO(data[:end]))
