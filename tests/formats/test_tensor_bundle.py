"""Reading V2 checkpoints."""

import contextlib
import shutil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import peak_memory
from formats.bundle_builder import BIG, LITTLE, entry, header, shape
from formats.table_builder import SAMPLES, expected, fixed32, listed, message, number, table
from tfprof.errors import InputError
from tfprof.formats import crc32c
from tfprof.formats.sorted_table import open_table
from tfprof.formats.tensor_bundle import open_bundle

SAMPLE = str(SAMPLES / "v2" / "model.ckpt")
ANSWERS = expected("v2")


def bundle(prefix):
    return open_bundle(f"{prefix}.index", str(prefix))


@pytest.fixture
def save(tmp_path):
    """Writes a checkpoint of one shard and returns its prefix."""

    def write(entries, data=b"", head=None):
        items = {b"": header() if head is None else head, **entries}
        (tmp_path / "m.index").write_bytes(table(items))
        (tmp_path / "m.data-00000-of-00001").write_bytes(data)
        return tmp_path / "m"

    return write


def test_the_tensors_match_those_that_tensorflow_lists():
    held = bundle(SAMPLE)

    assert [(one.name, one.dtype, list(one.shape)) for one in held.tensors] == [
        (name, answer["dtype"], answer["shape"]) for name, answer in ANSWERS.items()
    ]


@pytest.mark.parametrize("name", list(ANSWERS))
def test_the_values_match_those_that_tensorflow_reads(name):
    values = bundle(SAMPLE).read(name)

    assert listed(values) == ANSWERS[name]["values"]
    assert list(values.shape) == ANSWERS[name]["shape"]


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("types/bfloat16", "float32"),
        ("types/float16", "float16"),
        ("types/bool", "bool"),
        ("types/complex64", "complex64"),
        ("types/uint64", "uint64"),
        ("types/qint8", "int8"),
        ("types/string", "object"),
    ],
)
def test_the_values_have_the_nearest_type_of_numpy(name, dtype):
    assert bundle(SAMPLE).read(name).dtype == dtype


def test_the_parts_of_a_partitioned_tensor_are_not_listed():
    names = [one.name for one in bundle(SAMPLE).tensors]

    assert [name for name in names if "parts" in name] == ["parts/grid", "parts/tall"]


def test_an_unknown_name_is_refused():
    with pytest.raises(InputError, match="has no tensor `nothing`"):
        bundle(SAMPLE).read("nothing")


@pytest.mark.parametrize("name", ["", "\x00parts/tall", "caf\udce9"])
def test_an_impossible_name_is_refused(name):
    with pytest.raises(InputError, match="has no tensor"):
        bundle(SAMPLE).read(name)


def test_a_bundle_opens_without_its_shards(save):
    prefix = save({b"w": entry(1, (2,), bytes(8))}, bytes(8))
    (prefix.parent / "m.data-00000-of-00001").unlink()

    assert [one.name for one in bundle(prefix).tensors] == ["w"]


def test_an_error_that_quotes_a_long_key_is_short_and_keeps_the_advice(save):
    prefix = save({b"x" * 3000: entry(1, (2,), bytes(8), shard=7)}, bytes(8))

    with pytest.raises(InputError, match=r"the entry of b'xxx.*; fetch or save it again") as caught:
        bundle(prefix)
    assert len(str(caught.value)) <= 500


def test_a_missing_shard_is_named(save):
    prefix = save({b"w": entry(1, (2,), bytes(8), shard=1)}, head=header(shards=3))

    with pytest.raises(InputError, match=r"m\.data-00001-of-00003: is missing"):
        bundle(prefix).read("w")


def test_a_missing_shard_of_a_partitioned_tensor_is_named(tmp_path):
    for file in SAMPLES.glob("v2/*0000*-of-00002"):
        shutil.copy(file, tmp_path)
    (tmp_path / "model.ckpt.data-00001-of-00002").unlink()
    held = open_bundle(f"{SAMPLE}.index", str(tmp_path / "model.ckpt"))

    with pytest.raises(InputError, match="data-00001-of-00002: is missing"):
        held.read("parts/grid")


def test_big_endian_numbers_are_converted(save):
    data = np.array([1.5, -2.0], ">f4").tobytes()
    values = bundle(save({b"w": entry(1, (2,), data)}, data, header(order=BIG))).read("w")

    assert values.tolist() == [1.5, -2.0]
    assert values.dtype == np.dtype("f4")


def strings_on_disk(texts, endian):
    """The bytes of a string tensor in a shard, and their masked checksum."""
    lengths = b"".join(len(text).to_bytes(4, endian) for text in texts)
    crc = crc32c.checksum(lengths)
    rest = crc32c.masked(crc).to_bytes(4, endian) + b"".join(texts)
    stored = b"".join(number(len(text)) for text in texts) + rest
    return stored, crc32c.masked(crc32c.checksum(rest, crc))


@pytest.mark.parametrize(("order", "endian"), [(LITTLE, "little"), (BIG, "big")])
def test_strings_of_either_byte_order_are_read(save, order, endian):
    data, crc = strings_on_disk([b"a", b"", b"long" * 50], endian)
    entry_bytes = message((1, 7), (2, shape(3)), (5, len(data))) + fixed32(6, crc)
    values = bundle(save({b"w": entry_bytes}, data, header(order=order))).read("w")

    assert values.tolist() == [b"a", b"", b"long" * 50]


def test_strings_whose_lengths_changed_are_refused(save):
    data, crc = strings_on_disk([b"abc", b"de"], "little")
    changed = bytes([2, 3]) + data[2:]
    entry_bytes = message((1, 7), (2, shape(2)), (5, len(data))) + fixed32(6, crc)

    with pytest.raises(InputError, match=r"tensor `w`, 11 bytes at byte 0: .* checksum"):
        bundle(save({b"w": entry_bytes}, changed)).read("w")


def test_strings_longer_than_their_room_are_refused(save):
    data, crc = strings_on_disk([b"abc"], "little")
    entry_bytes = message((1, 7), (2, shape(1)), (5, len(data))) + fixed32(6, crc)

    with pytest.raises(InputError, match="do not add up"):
        bundle(save({b"w": entry_bytes}, b"\x04" + data[1:])).read("w")


def test_the_error_for_a_changed_value_names_its_tensor(save):
    data = bytes(4) + b"\x01" + bytes(3)
    prefix = save({b"w": entry(1, (1,), bytes(4), offset=4)}, data)

    with pytest.raises(InputError, match=r"tensor `w`, 4 bytes at byte 4: .* checksum"):
        bundle(prefix).read("w")


def test_a_shard_that_is_cut_short_is_refused(save):
    prefix = save({b"w": entry(1, (4,), bytes(16))}, bytes(10))

    with pytest.raises(InputError, match="ends at byte 10 of at least 16"):
        bundle(prefix).read("w")


@pytest.mark.parametrize("kind", [20, 21, 77])
def test_a_type_without_values_is_listed_but_not_read(save, kind):
    held = bundle(save({b"w": entry(kind, (1,), b"????")}, b"????"))

    assert held.tensors[0].dtype_number == kind
    with pytest.raises(InputError, match="a type without values"):
        held.read("w")


def test_a_shape_that_contradicts_the_size_is_refused(save):
    with pytest.raises(InputError, match="cannot be 3 values of type `float32`"):
        bundle(save({b"w": entry(1, (3,), bytes(8))}, bytes(8))).read("w")


@pytest.mark.parametrize(
    ("kind", "sizes", "size"), [(1, (1 << 40,), 1 << 42), (7, (1 << 40,), 1 << 41)]
)
def test_a_tensor_that_claims_to_be_huge_allocates_no_memory(save, kind, sizes, size):
    held = bundle(save({b"w": entry(kind, sizes, b"", size=size)}, bytes(100)))

    def refused():
        with pytest.raises(InputError, match="ends at byte 100"):
            held.read("w")

    assert peak_memory.allocated(refused) < 1 << 20


def test_a_rank_that_numpy_does_not_support_is_refused(save):
    with pytest.raises(InputError, match="tensor `w`"):
        bundle(save({b"w": entry(1, (1,) * 100, bytes(4))}, bytes(4))).read("w")


def half(start: int) -> bytes:
    """A `TensorSliceProto` of two values out of four."""
    return message((1, message((1, start), (2, 2))))


def test_overlapping_parts_cannot_be_larger_than_the_shard(save):
    entries = {
        b"w": entry(1, (4,), b"", slices=[half(0), half(2)]),
        b"\x00w\x00\x01\x01\x01\x80\x82": entry(1, (2,), bytes(8)),
        b"\x00w\x00\x01\x01\x01\x82\x82": entry(1, (2,), bytes(8)),
    }

    with pytest.raises(InputError, match="larger than the files that contain them"):
        bundle(save(entries, bytes(8))).read("w")


def test_a_part_without_values_is_refused(save):
    with pytest.raises(InputError, match="tensor `w` has a slice without values"):
        bundle(save({b"w": entry(1, (4,), b"", slices=[half(0), half(2)])})).read("w")


def test_a_part_of_another_shape_is_refused(save):
    entries = {
        b"w": entry(1, (4,), b"", slices=[half(0)]),
        b"\x00w\x00\x01\x01\x01\x80\x82": entry(1, (3,), bytes(12)),
    }

    with pytest.raises(InputError, match="type or shape does not fit"):
        bundle(save(entries, bytes(12))).read("w")


@pytest.mark.parametrize(
    ("head", "trouble"),
    [
        (b"", "the header .* is missing"),
        (header(shards=0), "the header .* is missing"),
        (header(order=2), "the header .* is missing"),
        (header(needs=2), "newer reader"),
        (b"\x08", "ends inside a number"),
    ],
)
def test_a_header_of_something_else_is_refused(save, head, trouble):
    with pytest.raises(InputError, match=trouble):
        bundle(save({}, head=head))


@pytest.mark.parametrize(
    ("entries", "trouble"),
    [
        ({b"w": b"\x0b"}, "the entry of b'w' has unsupported wire type 3"),
        ({b"w": entry(1, (), b"", shard=1)}, "refers to shard 1 of 1"),
        ({b"\xff": entry(1, (), b"")}, "is not valid UTF-8"),
    ],
)
def test_a_malformed_entry_is_refused(save, entries, trouble):
    with pytest.raises(InputError, match=trouble):
        bundle(save(entries))


def read_all(index, prefix):
    held = open_bundle(str(index), str(prefix))
    for one in held.tensors:
        held.read(one.name)


def test_an_index_cut_anywhere_is_refused(tmp_path):
    data = (SAMPLES / "v2" / "model.ckpt.index").read_bytes()
    index = tmp_path / "cut"
    for size in range(0, len(data), 29):
        index.write_bytes(data[:size])
        with pytest.raises(InputError):
            read_all(index, SAMPLE)


def test_a_changed_byte_anywhere_in_the_index_is_refused(tmp_path):
    data = bytearray((SAMPLES / "v2" / "model.ckpt.index").read_bytes())
    index = tmp_path / "changed"
    magic = range(len(data) - 8, len(data))
    for at in [*range(0, len(data) - 48, 31), *magic]:
        data[at] ^= 0x41
        index.write_bytes(data)
        with pytest.raises(InputError):
            read_all(index, SAMPLE)
        data[at] ^= 0x41


def test_a_changed_byte_anywhere_in_a_tensor_is_refused(save):
    texts, crc = strings_on_disk([b"abc", b"de"], "little")
    entry_bytes = message((1, 7), (2, shape(2)), (4, 8), (5, len(texts))) + fixed32(6, crc)
    data = bytearray(bytes(8) + texts)
    entries = {b"n": entry(9, (1,), bytes(8)), b"s": entry_bytes}
    for at in range(len(data)):
        data[at] ^= 0x80
        prefix = save(entries, data)
        with pytest.raises(InputError):
            read_all(f"{prefix}.index", prefix)
        data[at] ^= 0x80


ENTRIES = dict(open_table(f"{SAMPLE}.index").items())


@settings(max_examples=150)
@given(key=st.sampled_from(sorted(ENTRIES)), at=st.integers(0, 50), octet=st.integers(0, 255))
def test_an_index_with_a_changed_entry_is_read_or_refused(tmp_path_factory, key, at, octet):
    changed = bytearray(ENTRIES[key])
    changed[at % len(changed)] = octet
    index = tmp_path_factory.getbasetemp() / "changed"
    index.write_bytes(table({**ENTRIES, key: bytes(changed)}))
    with contextlib.suppress(InputError):
        read_all(index, SAMPLE)
