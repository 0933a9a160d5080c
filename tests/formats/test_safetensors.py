"""Safetensors files: names, types, shapes and values of tensors; damage in one line."""

import json
import struct
from pathlib import Path

import numpy as np
import pytest

from tfprof.errors import InputError
from tfprof.formats import safetensors

SAMPLE = Path(__file__).parents[1] / "samples" / "pytorch" / "net.safetensors"
ENTRY = {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}


def written(path, header, values=bytes(24)):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + values)
    return str(path)


def refusal(path):
    with pytest.raises(InputError) as caught:
        safetensors.read(path)
    assert "\n" not in str(caught.value)
    return caught.value.trouble


def test_the_tensors_of_a_file_have_names_types_and_shapes():
    found = {one.name: (one.dtype, one.shape) for one in safetensors.read(str(SAMPLE)).weights}

    assert found["embed.weight"] == ("float32", (10, 4))
    assert found["norm.num_batches_tracked"] == ("int64", ())
    assert len(found) == 10


def test_a_type_of_a_later_version_is_named(tmp_path):
    path = written(tmp_path / "a", {"w": {**ENTRY, "dtype": "F3_E1M1"}})

    assert refusal(path) == "has the tensor `w` of unknown type F3_E1M1; upgrade tfprof."


def test_values_are_read_on_request():
    found = {one.name: one for one in safetensors.read(str(SAMPLE)).weights}

    assert found["norm.num_batches_tracked"].values() == 1
    assert found["blocks.0.weight"].values().shape == (4, 4)


@pytest.mark.parametrize(
    ("dtype", "stored", "values"),
    [
        ("BF16", struct.pack("<2H", 0x3F80, 0xC000), [1, -2]),
        ("F16", np.array([1.5, 2], "<f2").tobytes(), [1.5, 2]),
        ("BOOL", b"\x00\x01", [False, True]),
        ("U8", b"\x07\xff", [7, 255]),
        ("F8_E4M3", b"\x38\xc0", [1, -2]),
        ("I64", struct.pack("<2q", -1, 2), [-1, 2]),
    ],
)
def test_values_of_all_types_are_converted(dtype, stored, values, tmp_path):
    entry = {"dtype": dtype, "shape": [2], "data_offsets": [0, len(stored)]}
    path = written(tmp_path / "a", {"w": entry}, stored)

    assert safetensors.read(path).weights[0].values().tolist() == values


def test_values_of_types_without_a_width_in_bytes_are_not_read(tmp_path):
    entry = {"dtype": "F4", "shape": [48], "data_offsets": [0, 24]}
    (weight,) = safetensors.read(written(tmp_path / "a", {"w": entry})).weights

    assert (weight.dtype, weight.shape) == ("float4_e2m1fn", (48,))
    with pytest.raises(InputError, match="are not read"):
        weight.values()


def test_metadata_is_ignored(tmp_path):
    path = written(tmp_path / "a", {"__metadata__": {"format": "pt"}, "w": ENTRY})

    assert [one.name for one in safetensors.read(path).weights] == ["w"]


def test_a_file_may_have_no_tensors(tmp_path):
    assert safetensors.read(written(tmp_path / "a", {}, b"")).weights == []


@pytest.mark.parametrize(
    ("header", "trouble"),
    [
        (b"{", "its header is not valid JSON"),
        (b"[" * 100_000, "its header is not valid JSON"),
        (b"[1]", "its header is not a table of tensors"),
        (b'{"a": 1, "a": 2}', "a name occurs twice in its header"),
        ({"w": 3}, "the entry of tensor `w` is not valid"),
        ({"w": {**ENTRY, "dtype": "x 9"}}, "the entry of tensor `w` is not valid"),
        ({"w": {**ENTRY, "dtype": []}}, "the entry of tensor `w` is not valid"),
        ({"w": {**ENTRY, "shape": [-2, -3]}}, "the entry of tensor `w` is not valid"),
        ({"w": {**ENTRY, "shape": [True, 6]}}, "the entry of tensor `w` is not valid"),
        ({"w": {**ENTRY, "shape": [2**62, 2**62]}}, "the entry of tensor `w` is not valid"),
        ({"w": {**ENTRY, "shape": [1] * 65}}, "the entry of tensor `w` is not valid"),
        ({"w": {**ENTRY, "data_offsets": [0]}}, "the entry of tensor `w` is not valid"),
        ({"w": {**ENTRY, "data_offsets": [-24, 0]}}, "the entry of tensor `w` is not valid"),
        (
            {"w": {**ENTRY, "data_offsets": [24, 0]}},
            "tensor `w` has -24 bytes for 2x3 values of type float32",
        ),
        (
            {"w": {**ENTRY, "dtype": "F64"}},
            "tensor `w` has 24 bytes for 2x3 values of type float64",
        ),
        ({"v": ENTRY, "w": ENTRY}, "tensor `w` overlaps another one"),
    ],
)
def test_damage_is_named(header, trouble, tmp_path):
    path = written(tmp_path / "a", header)

    assert refusal(path) == (
        f"is a damaged safetensors file: {trouble}; save it again or fetch it again."
    )


def test_a_file_that_ends_before_its_tensors_is_refused(tmp_path):
    path = written(tmp_path / "a", {"w": ENTRY}, bytes(23))

    assert "before tensor `w` does; was it copied fully?" in refusal(path)


def test_a_header_that_claims_too_much_is_not_read(tmp_path):
    (tmp_path / "a").write_bytes(struct.pack("<Q", 1 << 31) + b"{}")

    assert "its header of 2,147,483,648 bytes exceeds 100,000,000" in refusal(str(tmp_path / "a"))


def test_a_header_of_brackets_is_not_parsed(tmp_path):
    path = written(tmp_path / "a", b"[" + b"[]," * 3_000_000 + b"1]")

    assert "its header is not a table of tensors" in refusal(path)


def test_a_file_that_is_cut_inside_its_header_is_refused(tmp_path):
    (tmp_path / "a").write_bytes(SAMPLE.read_bytes()[:100])

    assert refusal(str(tmp_path / "a")).endswith("was it copied fully?")
