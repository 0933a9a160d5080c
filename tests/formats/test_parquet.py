"""Parquet files can be read back, by tfprof and by other readers, and damage is detected."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tfprof.columns import Coded, Strings
from tfprof.formats.parquet import Blobs, ParquetError, read, reading, thrift, write


def written(table):
    return b"".join(write(table))


def read_again(**table):
    return read(written(table))


def rows_of(column):
    """The values of a column as Python objects."""
    if isinstance(column, np.ndarray):
        return column.tolist()
    return [column[row] for row in range(len(column))]


def rows_of_all(table):
    return {name: rows_of(column) for name, column in table.items()}


def blobs(values):
    ends = np.cumsum([len(value) for value in values], dtype=np.int64)
    starts = np.concatenate((np.zeros(1, np.int64), ends))[: len(values)]
    return Blobs(Strings.of_spans(b"".join(values), starts, ends))


@given(arrays(np.int64, st.integers(0, 400)))
def test_numbers_of_any_size_are_kept(numbers):
    found = read_again(numbers=numbers)["numbers"]

    assert found.tolist() == numbers.tolist()


@given(arrays(np.bool_, st.integers(0, 40)))
def test_flags_are_kept(flags):
    assert read_again(flags=flags)["flags"].tolist() == flags.tolist()


@given(st.lists(st.text(), max_size=300))
def test_texts_are_kept(texts):
    assert list(read_again(texts=Strings(texts))["texts"]) == texts


@given(st.lists(st.text(max_size=3), max_size=300))
def test_texts_with_few_distinct_values_are_kept(texts):
    assert rows_of(read_again(texts=Coded.of(texts))["texts"]) == texts


@given(st.lists(st.binary(max_size=9), max_size=300))
def test_bytes_are_kept(values):
    assert rows_of(read_again(values=blobs(values))["values"]) == values


@pytest.mark.parametrize("rows", [0, 1, 2, 129, (1 << 17) - 1, 1 << 17, (1 << 17) + 2])
def test_columns_are_kept_across_the_ends_of_blocks_and_pages(rows):
    table = {
        "number": np.arange(rows) ** 3,
        "text": Strings(str(row) for row in range(rows)),
        "kind": Coded(np.arange(rows) % 2, Strings(["a", "b"])),
    }

    found = read(written(table))

    assert found["number"].tolist() == table["number"].tolist()
    assert found["text"] == table["text"]
    assert found["kind"].codes.tolist() == table["kind"].codes.tolist()


def test_texts_that_share_a_larger_buffer_are_written_without_it():
    texts = Strings.of_spans(b"conv/kernel and much more", np.array([0, 5]), np.array([4, 11]))

    assert b"much more" not in written({"texts": texts})
    assert list(read_again(texts=texts)["texts"]) == ["conv", "kernel"]


def sample(rows=200):
    chance = np.random.default_rng(0)
    return {
        "op": np.arange(rows),
        "time": chance.integers(-(2**63), 2**63 - 1, rows),
        "flag": np.arange(rows) % 3 == 0,
        "name": Strings(f"block_{row}/é" for row in range(rows)),
        "kind": Coded(np.arange(rows) % 2, Strings(["Conv2D", "Const"])),
        "value": blobs([b"\xff", b""] * (rows // 2)),
    }


def test_pyarrow_reads_the_same(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    (tmp_path / "all.parquet").write_bytes(written(sample()))

    found = parquet.read_table(tmp_path / "all.parquet").to_pydict()

    assert found == rows_of_all(sample())


def test_duckdb_reads_the_same(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    (tmp_path / "all.parquet").write_bytes(written(sample()))

    found = duckdb.read_parquet(str(tmp_path / "all.parquet"))

    assert found.columns == list(sample())
    assert found.fetchall() == list(zip(*map(rows_of, sample().values()), strict=True))


def test_damaged_files_raise_a_parquet_error_or_are_read():
    whole, chance = written(sample()), random.Random(0)  # noqa: S311 -- no secret
    refused = 0
    for _ in range(500):
        damaged = bytearray(whole)
        for _ in range(chance.randint(1, 3)):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        try:
            found = read(bytes(damaged))
        except ParquetError:
            refused += 1
            continue

        assert {len(column) for column in found.values()} == {200}
    assert refused > 400


@pytest.mark.parametrize("part", [0, 0.1, 0.5, 0.99])
def test_a_file_that_was_cut_short_is_refused(part):
    whole = written(sample())

    with pytest.raises(ParquetError, match="cut short"):
        read(whole[: int(len(whole) * part)])


def test_a_flipped_bit_in_a_page_never_changes_the_values():
    table = sample(rows=20)
    whole = written(table)
    footer = int.from_bytes(whole[-8:-4], "little") + 8
    refused = 0
    for place in range(len(whole) - footer):
        damaged = bytearray(whole)
        damaged[place] ^= 1 << place % 8
        try:
            found = read(bytes(damaged))
        except ParquetError:
            refused += 1
            continue

        assert rows_of_all(found) == rows_of_all(table)
    assert refused > 300


def test_a_page_that_unpacks_to_far_more_than_its_size_is_refused(monkeypatch):
    monkeypatch.setattr(reading, "_HARMLESS", 1_000)
    bomb = written({"value": blobs([bytes(1 << 20)])})
    assert len(bomb) < 1 << 13

    with pytest.raises(ParquetError, match="far more than the file could hold"):
        read(bomb)


def test_a_text_that_is_not_utf_8_is_refused():
    texts = Strings.of_spans(b"\xff", np.array([0]), np.array([1]))

    with pytest.raises(ParquetError, match="UnicodeDecodeError"):
        read_again(texts=texts)


def test_a_text_that_starts_inside_a_character_is_refused():
    texts = Strings.of_spans("é".encode(), np.array([0, 1]), np.array([1, 2]))

    with pytest.raises(ParquetError, match="begins within a letter"):
        read_again(texts=texts)


def test_a_metadata_struct_is_read_back():
    struct = {1: -5, 4: thrift.Long(2**40), 5: b"name", 9: {1: {}}, 20: list(range(20)), 31: []}

    assert thrift.Reader(memoryview(thrift.encode(struct))).struct() == struct
