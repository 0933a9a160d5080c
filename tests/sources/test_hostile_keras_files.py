"""Damaged and hostile Keras files are refused in one line, or answered."""

import copy
import json
import zipfile
from pathlib import Path

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfprof
from tfprof.errors import TfprofError
from tfprof.formats import keras_file

SMALL = Path(__file__).parents[1] / "samples" / "keras" / "small.keras"
with zipfile.ZipFile(SMALL) as _archive:
    MEMBERS = {name: _archive.read(name) for name in _archive.namelist()}
CONFIG = json.loads(MEMBERS["config.json"])


def archive(path, *, kind=zipfile.ZIP_STORED, **changed):
    """A `.keras` file with other members; `config_json` replaces `config.json`."""
    changed = {name.replace("_", ".", 1): content for name, content in changed.items()}
    with zipfile.ZipFile(path, "w", kind) as file:
        for name, content in {**MEMBERS, **changed}.items():
            file.writestr(name, content)
    return path


def refused(path):
    """The message of the error, which is a single line."""
    with pytest.raises(TfprofError) as caught:
        tfprof.load(path)
    text = str(caught.value)
    assert text.startswith(str(path))
    assert "\n" not in text
    return text


def answered(path):
    """Ask everything about a file, unless it is refused."""
    try:
        profile = tfprof.load(path)
        profile.columns.check()
        _ = profile.layers().table, profile.scope(select=["params"]).table, profile.flops().report
    except TfprofError as error:
        assert "\n" not in str(error)  # noqa: PT017 -- answers are fine as well


def places(value, path=()):
    """The paths of all values in a configuration."""
    yield path
    listed = dict(enumerate(value)) if isinstance(value, list) else value
    for key, part in listed.items() if isinstance(listed, dict) else ():
        yield from places(part, (*path, key))


PLACES = [path for path in places(CONFIG) if path]
ODD = (None, 0, -1, 1.5, True, "", "..", "a/b", [], {}, [None], [[]], [-5, 2**62], 2**63, -(2**70))


@settings(max_examples=40)
@given(st.lists(st.tuples(st.sampled_from(PLACES), st.sampled_from(ODD)), min_size=1, max_size=4))
def test_any_configuration_is_answered_or_refused(tmp_path_factory, changes):
    config = copy.deepcopy(CONFIG)
    for path, value in changes:
        try:
            owner = config
            for key in path[:-1]:
                owner = owner[key]
            owner[path[-1]] = copy.deepcopy(value)
        except (LookupError, TypeError):
            continue  # an earlier change removed it

    answered(archive(tmp_path_factory.getbasetemp() / "m.keras", config_json=json.dumps(config)))


@pytest.mark.parametrize("layers", [5, True, "text", {"a": 1}, [3], [{"inbound_nodes": 7}]])
def test_layers_of_another_type_are_ignored(tmp_path, layers):
    config = {"class_name": "Functional", "config": {"layers": layers}}

    answered(archive(tmp_path / "m.keras", config_json=json.dumps(config)))


@pytest.mark.parametrize("content", ["[" * 100_000, '{"a":' * 100_000, "", "[]", "3", "{", "\0"])
def test_a_configuration_that_is_no_object_is_refused(tmp_path, content):
    assert "configuration" in refused(archive(tmp_path / "m.keras", config_json=content))


def test_a_configuration_that_unpacks_to_too_much_is_refused_before_it_is_read(tmp_path):
    path = archive(tmp_path / "m.keras", kind=zipfile.ZIP_DEFLATED, config_json=b" " * (1 << 26))

    assert path.stat().st_size < 1 << 20
    assert "too large" in refused(path)


def test_weights_that_unpack_to_too_much_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(keras_file, "_MOST_UNPACKED_BYTES", 1 << 20)
    zeros = {"model_weights.h5": bytes(1 << 22)}

    assert "too large" in refused(archive(tmp_path / "m.keras", kind=zipfile.ZIP_DEFLATED, **zeros))


@pytest.mark.parametrize("kind", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
@pytest.mark.parametrize("name", ["config.json", "model.weights.h5"])
def test_a_damaged_compressed_member_is_refused(tmp_path, kind, name):
    path = archive(tmp_path / "m.keras", kind=kind)
    with zipfile.ZipFile(path) as file:
        info = file.getinfo(name)
    data = bytearray(path.read_bytes())
    start = info.header_offset + 30 + len(name) + 4
    data[start : start + 40] = bytes(range(200, 240))
    path.write_bytes(data)

    assert "damaged" in refused(path)


def test_an_encrypted_member_is_refused(tmp_path):
    path = archive(tmp_path / "m.keras")
    data = path.read_bytes()
    # Bit 0 of the flags, in the local header and in the directory.
    data = b"".join(
        start + part[:at] + bytes([part[at] | 1]) + part[at + 1 :]
        for part, start, at in _headers(data)
    )
    path.write_bytes(data)

    assert "encrypted" in refused(path)


def _headers(data):
    """The parts of an archive that start with a header, and where their flags are."""
    ends = [at for at in range(len(data)) if data[at : at + 4] in (b"PK\3\4", b"PK\1\2")]
    for first, last in zip(ends, [*ends[1:], len(data)], strict=True):
        start = data[first : first + 4]
        yield data[first + 4 : last], start, 2 if start == b"PK\3\4" else 4


@pytest.mark.parametrize("end", [0, 1, 4, 40, 200, 3000, -1, -30])
def test_a_truncated_file_is_refused(tmp_path, end):
    path = tmp_path / "m.keras"
    path.write_bytes(SMALL.read_bytes()[:end])

    refused(path)


def test_names_outside_of_the_archive_are_ignored(tmp_path):
    path = tmp_path / "m.keras"
    with zipfile.ZipFile(path, "w") as file:
        for name, content in {**MEMBERS, "../../escaped": b"x", "/escaped": b"x"}.items():
            file.writestr(name, content)

    assert tfprof.load(path).scope(select=["params"])["_TFProfRoot"]["total_params"] > 0
    assert sorted(found.name for found in tmp_path.iterdir()) == ["m.keras"]


def weights(path, fill):
    """A `.weights.h5` file, filled by a function."""
    with h5py.File(path, "w") as file:
        file.create_group("layers/dense/vars")["0"] = np.zeros((2, 3), np.float32)
        fill(file, file["layers/dense/vars"])
    return path


@pytest.mark.parametrize(
    "link", [h5py.SoftLink("/layers"), h5py.SoftLink("/gone"), h5py.ExternalLink("other.h5", "/")]
)
def test_links_are_refused_and_not_followed(tmp_path, link):
    def fill(file, _):
        file["layers/other"] = link

    assert "link" in refused(weights(tmp_path / "a.weights.h5", fill))


@pytest.mark.parametrize("count", [1, 2])
def test_groups_that_contain_themselves_are_refused(tmp_path, count):
    def fill(file, _):
        for number in range(count):
            file[f"layers/dense/again{number}"] = file["layers"]

    assert "contains itself" in refused(weights(tmp_path / "a.weights.h5", fill))


def test_a_shape_that_no_tensor_has_is_refused(tmp_path):
    def fill(_, variables):
        variables.create_dataset("1", (2**40, 2**30), "f4", chunks=(1, 1))

    assert "shape" in refused(weights(tmp_path / "a.weights.h5", fill))


def test_weights_that_together_exceed_64_bits_are_refused(tmp_path):
    def fill(_, variables):
        for name in "12":
            variables.create_dataset(name, (2**32, 2**30), "f4", chunks=(1, 1))

    profile = tfprof.load(weights(tmp_path / "a.weights.h5", fill))
    with pytest.raises(TfprofError, match="exceeds 64 bits"):
        _ = profile.layers().table


@pytest.mark.parametrize("dtype", ["S5", h5py.string_dtype(), "i1", np.dtype([("a", "i4")])])
def test_weights_of_odd_types_are_listed(tmp_path, dtype):
    def fill(_, variables):
        variables.create_dataset("1", (4,), dtype)

    profile = tfprof.load(weights(tmp_path / "a.weights.h5", fill))

    assert profile.scope(select=["params"])["_TFProfRoot"]["total_params"] == 10


def test_variables_with_odd_numbers_are_left_out(tmp_path):
    def fill(_, variables):
        for name in ("00", "٣", "9" * 5000, "x"):
            variables[name] = np.zeros(7, np.float32)

    profile = tfprof.load(weights(tmp_path / "a.weights.h5", fill))

    assert profile.scope(select=["params"])["_TFProfRoot"]["total_params"] == 6


def test_a_virtual_dataset_counts_by_its_shape_and_its_sources_are_not_opened(tmp_path):
    def fill(_, variables):
        layout = h5py.VirtualLayout((4, 5), "f4")
        layout[:] = h5py.VirtualSource("gone.h5", "data", (4, 5))
        variables.create_virtual_dataset("1", layout)

    profile = tfprof.load(weights(tmp_path / "a.weights.h5", fill))

    assert profile.scope(select=["params"])["_TFProfRoot"]["total_params"] == 26


def test_many_weights_of_the_same_name_take_linear_time(tmp_path):
    def fill(file, _):
        for number in range(400):
            variables = file.create_group(f"layers/dense/part{number}/vars")
            variables.attrs["name"] = "same"
            variables["0"] = np.float32(0)

    profile = tfprof.load(weights(tmp_path / "a.weights.h5", fill))

    assert len(profile.columns.ops) == 401
