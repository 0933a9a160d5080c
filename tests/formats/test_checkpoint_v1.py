"""Reading V1 checkpoints."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from floors import checked_unless, floor
from formats.table_builder import SAMPLES, expected, listed, message, number, table
from tfprof.errors import InputError
from tfprof.formats.checkpoint_v1 import open_v1, packed_varints
from tfprof.formats.sorted_table import open_table
from tfprof.formats.wire import WireError

FILES = {
    "v1": [str(SAMPLES / "v1" / "model.ckpt")],
    "v1_shards": [str(SAMPLES / "v1_shards" / f"model.ckpt-0000{at}-of-00002") for at in (0, 1)],
}
ANSWERS = [(folder, name) for folder in FILES for name in expected(folder)]
FLOAT, INT32 = 1, 3


def meta(*tensors: bytes, needs: int = 0) -> bytes:
    """A `SavedTensorSlices` that lists tensors."""
    versions = message((1, 1), (2, needs))
    return message((1, message(*((1, tensor) for tensor in tensors), (2, versions))))


def tensor(name: bytes, size: int, kind: int = FLOAT, slices: tuple[bytes, ...] = ()) -> bytes:
    """A `SavedSliceMeta` of one dimension; by default a single slice."""
    places = slices or (message((1, b"")),)
    shape = message((2, message((1, size))))
    return message((1, name), (2, shape), (3, kind), *((4, place) for place in places))


def values(proto: bytes) -> bytes:
    """A `SavedTensorSlices` with values."""
    return message((2, message((3, proto))))


def whole(name: bytes) -> bytes:
    return b"\x00" + name + b"\x00\x01\x01\x01\x80\x7f"


@pytest.fixture
def save(tmp_path):
    """Writes a checkpoint of one file and opens it."""

    def write(items):
        path = tmp_path / "model.ckpt"
        path.write_bytes(table(items))
        return open_v1([str(path)])

    return write


@pytest.mark.parametrize("folder", list(FILES))
def test_the_tensors_match_those_that_tensorflow_lists(folder):
    held = open_v1(FILES[folder])

    assert [(one.name, one.dtype, list(one.shape)) for one in held.tensors] == [
        (name, answer["dtype"], answer["shape"]) for name, answer in expected(folder).items()
    ]


@pytest.mark.parametrize(("folder", "name"), ANSWERS)
def test_the_values_match_those_that_tensorflow_restores(folder, name):
    read = open_v1(FILES[folder]).read(name)
    answer = expected(folder)[name]

    assert listed(read) == answer["values"]
    assert list(read.shape) == answer["shape"]


def test_one_shard_has_its_own_tensors_and_only_parts_of_others():
    held = open_v1(FILES["v1_shards"][:1])

    assert held.read("only/0").tolist() == [0.0]
    with pytest.raises(InputError, match="400 values in its parts but 600 in its shape"):
        held.read("parts/tall")


def test_an_unknown_name_is_refused():
    with pytest.raises(InputError, match="has no tensor `nothing`"):
        open_v1(FILES["v1"]).read("nothing")


def test_values_may_be_raw_bytes(save):
    held = save(
        {
            b"": meta(tensor(b"w", 2)),
            whole(b"w"): values(message((4, np.array([1.5, 2], "<f4").tobytes()))),
        }
    )

    assert held.read("w").tolist() == [1.5, 2.0]


def test_numbers_need_not_be_packed(save):
    floats = b"\x2d\x00\x00\x80\x3f\x2d\x00\x00\x00\x40"
    held = save(
        {
            b"": meta(tensor(b"f", 2), tensor(b"i", 3, INT32)),
            whole(b"f"): values(floats),
            whole(b"i"): values(message((7, 5), (7, number(-6)), (7, 7))),
        }
    )

    assert held.read("f").tolist() == [1.0, 2.0]
    assert held.read("i").tolist() == [5, -6, 7]


@given(st.lists(st.integers(0, 2**64 - 1)))
def test_packed_numbers_are_read(wanted):
    assert packed_varints(b"".join(map(number, wanted))).tolist() == wanted


@pytest.mark.parametrize("data", [b"\x80", b"\x01\xff", b"\x80" * 10 + b"\x01"])
def test_malformed_packed_numbers_are_refused(data):
    with pytest.raises(WireError):
        packed_varints(data)


@pytest.mark.parametrize(
    ("proto", "trouble"),
    [
        (b"", "0 values in its parts but 2 in its shape"),
        (message((5, bytes(12))), "3 values in its parts but 2 in its shape"),
        (message((5, bytes(7))), "buffer size"),
        (b"\x2a\x09", "a field of 9 bytes"),
    ],
)
def test_values_that_do_not_fill_the_shape_are_refused(save, proto, trouble):
    held = save({b"": meta(tensor(b"w", 2)), whole(b"w"): values(proto)})

    with pytest.raises(InputError, match=f"tensor `w` has .*{trouble}"):
        held.read("w")


@pytest.mark.parametrize("stored", [{}, {whole(b"w"): b""}, {whole(b"w"): message((2, b""))}])
def test_a_tensor_without_values_is_refused(save, stored):
    with pytest.raises(InputError, match="a part without values"):
        save({b"": meta(tensor(b"w", 2)), **stored}).read("w")


def test_a_type_without_values_in_v1_is_listed_but_not_read(save):
    held = save({b"": meta(tensor(b"w", 2, kind=21))})

    assert held.tensors[0].dtype == "variant"
    with pytest.raises(InputError, match="a type without values"):
        held.read("w")


def test_a_tensor_that_claims_to_be_huge_is_refused(save):
    held = save({b"": meta(tensor(b"w", 1 << 50)), whole(b"w"): values(message((5, bytes(8))))})

    with pytest.raises(InputError, match="2 values in its parts but"):
        held.read("w")


@pytest.mark.parametrize(
    ("items", "trouble"),
    [
        ({b"a": b""}, "the list of tensors .* is missing"),
        ({b"": b"\x0a\x09"}, "a field of 9 bytes"),
        ({b"": meta(needs=2)}, "newer reader"),
        ({b"": meta(tensor(b"\xff", 1))}, "is not valid UTF-8"),
    ],
)
def test_a_table_that_is_not_a_checkpoint_is_refused(save, items, trouble):
    with pytest.raises(InputError, match=trouble):
        save(items)


def test_files_that_disagree_are_refused(tmp_path):
    paths = [tmp_path / "one", tmp_path / "two"]
    for path, size in zip(paths, (2, 3), strict=True):
        path.write_bytes(table({b"": meta(tensor(b"w", size))}))

    with pytest.raises(InputError, match=r"two: .*a different type or shape in an earlier file"):
        open_v1([str(path) for path in paths])


def read_all(path):
    held = open_v1([str(path)])
    for one in held.tensors:
        held.read(one.name)


def test_a_file_cut_anywhere_is_refused(tmp_path):
    data = (SAMPLES / "v1" / "model.ckpt").read_bytes()
    for size in range(0, len(data), 97):
        (tmp_path / "cut").write_bytes(data[:size])
        with pytest.raises(InputError):
            read_all(tmp_path / "cut")


def test_a_changed_byte_anywhere_is_refused(tmp_path):
    data = bytearray((SAMPLES / "v1" / "model.ckpt").read_bytes())
    for at in range(0, len(data) - 48, 97):
        data[at] ^= 0x41
        (tmp_path / "changed").write_bytes(data)
        with pytest.raises(InputError):
            read_all(tmp_path / "changed")
        data[at] ^= 0x41


ENTRIES = dict(open_table(FILES["v1"][0]).items())


@floor(0.2)  # measured: 0.5
@settings(max_examples=150)
@given(key=st.sampled_from(sorted(ENTRIES)), at=st.integers(0, 200), octet=st.integers(0, 255))
def test_a_file_with_a_changed_entry_is_read_or_refused(tmp_path_factory, key, at, octet):
    changed = bytearray(ENTRIES[key])
    changed[at % len(changed)] = octet
    path = tmp_path_factory.getbasetemp() / "v1-changed"
    path.write_bytes(table({**ENTRIES, key: bytes(changed)}))
    with checked_unless(InputError):
        read_all(path)
