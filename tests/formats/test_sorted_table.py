"""Reading the sorted table that checkpoints of both generations use."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import peak_memory
from floors import checked_unless, floor
from formats.table_builder import (
    AS_IS,
    SAMPLES,
    SNAPPY,
    block,
    number,
    sealed,
    table,
    table_of_blocks,
)
from tfprof.errors import InputError
from tfprof.formats import crc32c
from tfprof.formats.sorted_table import open_table
from tfprof.formats.table_footer import is_sorted_table

ITEMS = {b"": b"head"} | {f"layer/{at:03}/kernel".encode(): bytes([at]) * at for at in range(100)}


@pytest.fixture
def written(tmp_path):
    """Writes bytes to a file and returns its path."""

    def write(data: bytes) -> str:
        path = tmp_path / "table"
        path.write_bytes(data)
        return str(path)

    return write


@pytest.mark.parametrize("packing", [AS_IS, SNAPPY])
@pytest.mark.parametrize("per_block", [1, 7, 1000])
def test_all_keys_are_read_in_order_with_their_values(written, packing, per_block):
    path = written(table(ITEMS, packing, per_block))

    assert list(open_table(path).items()) == sorted(ITEMS.items())


@pytest.mark.parametrize("per_block", [1, 7, 1000])
def test_one_key_is_found_and_another_is_not(written, per_block):
    held = open_table(written(table(ITEMS, per_block=per_block)))

    assert held.get(b"layer/042/kernel") == b"*" * 42
    assert held.get(b"") == b"head"
    assert held.get(b"layer/042") is None
    assert held.get(b"zebra") is None


def test_several_keys_are_found_at_once(written):
    held = open_table(written(table(ITEMS, per_block=3)))

    assert held.find([b"layer/001/kernel", b"nothing", b"layer/099/kernel"]) == {
        b"layer/001/kernel": b"\x01",
        b"layer/099/kernel": b"c" * 99,
    }


def test_an_empty_table_has_no_items(written):
    held = open_table(written(table_of_blocks([])))

    assert list(held.items()) == []
    assert held.get(b"") is None


def test_a_table_that_tensorflow_wrote_is_read():
    held = open_table(SAMPLES / "v2" / "model.ckpt.index")

    assert held.get(b"") == bytes.fromhex("08021a020801")
    assert held.get(b"scalars/rate") is not None


def test_a_table_is_recognised_by_its_footer(written):
    assert is_sorted_table(written(table(ITEMS)))
    assert not is_sorted_table(written(table(ITEMS)[:-1]))
    assert not is_sorted_table(written(b"short"))


def test_a_path_that_is_not_a_file_is_no_table(tmp_path):
    assert not is_sorted_table(tmp_path)
    assert not is_sorted_table(tmp_path / "missing")
    assert not is_sorted_table("x" * 5000)
    assert not is_sorted_table("nul\0byte")


@pytest.mark.parametrize(
    ("path", "trouble"),
    [("missing", "is missing"), (".", "not a file"), ("nul\0byte", "null"), ("x" * 5000, "long")],
)
def test_a_path_without_a_file_is_refused(tmp_path, path, trouble):
    with pytest.raises(InputError, match=trouble):
        open_table(tmp_path / path)


def test_a_file_too_short_for_a_footer_is_refused(written):
    with pytest.raises(InputError, match="has 9 bytes, too few"):
        open_table(written(b"too short"))


def test_a_file_with_another_footer_is_refused(written):
    with pytest.raises(InputError, match="does not end like"):
        open_table(written(bytes(100)))


def test_the_error_for_a_changed_byte_names_its_block(written):
    data = bytearray(table(ITEMS, per_block=50))
    data[20] ^= 1

    with pytest.raises(InputError, match="is damaged: the block at byte 0 does not match"):
        list(open_table(written(data)).items())


def test_an_unknown_packing_is_refused(written):
    stored = sealed(block([(b"a", b"1")]), packing=2)

    with pytest.raises(InputError, match="unsupported compression type 2"):
        open_table(written(table_of_blocks([(b"a", stored)]))).get(b"a")


def test_a_block_that_does_not_unpack_is_refused(written):
    covered = b"\xff\xff\xff\xff\xff\x0f" + bytes([SNAPPY])
    stored = covered + crc32c.masked(crc32c.checksum(covered)).to_bytes(4, "little")

    with pytest.raises(InputError, match="cannot unpack the block"):
        open_table(written(table_of_blocks([(b"a", stored)]))).get(b"a")


@pytest.mark.parametrize(
    ("content", "trouble"),
    [
        (b"", "missing count of restarts"),
        (b"\xff\xff\xff\xff", "more restarts than fit in the block"),
        (b"\x01\x01\x00a" + bytes(4), "extends past the end"),
        (b"\x00\x01\x09a" + bytes(4), "extends past the end"),
        (b"\x00\x80" + bytes(4), "ends inside a number"),
        (b"\x00\x01\x00b\x00\x01\x00a" + bytes(4), "out of order"),
    ],
)
def test_a_malformed_block_is_refused(written, content, trouble):
    path = written(table_of_blocks([(b"z", sealed(content))]))

    with pytest.raises(InputError, match=trouble):
        list(open_table(path).items())


def test_absurdly_long_keys_are_refused(written):
    grown = b"".join(number(50_000 + at) + b"\x01\x00x" for at in range(5000))
    content = b"\x00" + number(50_000) + b"\x00" + b"x" * 50_000 + grown + bytes(4)
    path = written(table_of_blocks([(b"z", sealed(content))]))

    with pytest.raises(InputError, match="the keys have more than"):
        list(open_table(path).items())


def test_blocks_that_overlap_are_refused(written):
    stored = sealed(block([(b"a", b"1")]))
    handle = number(0) + number(len(stored) - 5)
    index = sealed(block([(b"a", handle), (b"b", handle)], every=1))
    footer = table_of_blocks([])[-8:]
    where = b"\x00\x00" + number(len(stored)) + number(len(index) - 5)

    with pytest.raises(InputError, match="impossible position"):
        open_table(written(stored + index + where.ljust(40, b"\x00") + footer))


def test_an_index_without_the_position_of_a_block_is_refused(written):
    index = sealed(block([(b"a", b"\x80")]))
    where = number(0) + number(0) + number(0) + number(len(index) - 5)

    with pytest.raises(InputError, match="the position of a block is missing"):
        open_table(written(index + where.ljust(40, b"\x00") + table({b"a": b"1"})[-8:]))


def test_a_block_that_claims_to_be_huge_allocates_no_memory(written):
    data = table({b"a": b"1"})
    where = number(0) + number(0) + number(0) + number(1 << 40)
    path = written(data[:-48] + where.ljust(40, b"\x00") + data[-8:])

    def refused():
        with pytest.raises(InputError, match="ends at byte"):
            open_table(path)

    assert peak_memory.allocated(refused) < 1 << 20


def test_a_table_cut_anywhere_is_refused(written):
    data = table(ITEMS, per_block=30)
    for size in range(0, len(data), 13):
        with pytest.raises(InputError):
            open_table(written(data[:size]))


@floor(0.3)  # measured: 0.7
@given(at=st.integers(0, 10_000), octet=st.integers(0, 255))
def test_a_damaged_block_is_read_or_refused(tmp_path_factory, at, octet):
    content = bytearray(block(sorted(ITEMS.items())[:5]))
    content[at % len(content)] = octet
    path = tmp_path_factory.getbasetemp() / "damaged-block"
    path.write_bytes(table_of_blocks([(b"\xff", sealed(bytes(content)))]))
    with checked_unless(InputError):
        list(open_table(path).items())
