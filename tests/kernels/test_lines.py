"""Numbers and rows of text are written alike by the compiled and the plain kernels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfprof.columns import Strings
from tfprof.formats.wire import signed, varint
from tfprof.kernels import plain_lines
from tfprof.units import Unit

try:
    from tfprof.kernels import lines
except ImportError:
    lines = None

needs_compiler = pytest.mark.skipif(lines is None, reason="tfprof.kernels.lines is not compiled")
both = pytest.mark.parametrize(
    "kernel", [plain_lines, pytest.param(lines, marks=needs_compiler)], ids=["plain", "compiled"]
)

INT64 = st.integers(-(2**63), 2**63 - 1)
# Halfway between two decimals, where the double of the quotient decides, or next to it.
TIES = st.builds(
    lambda half, odd, off: half * (2 * odd + 1) + off,
    st.sampled_from([5, 5_000, 5_000_000]),
    st.integers(0, 2**38),
    st.sampled_from([0, 0, 0, -1, 1]),
)
NEAR_POWERS = st.builds(lambda power, off: 2**power + off, st.integers(0, 62), st.integers(-9, 9))
AMOUNTS = st.lists(st.one_of(st.integers(-5, 2_000_000), TIES, NEAR_POWERS, INT64))


def column(numbers):
    """A read-only column, as in a profile."""
    found = np.array(numbers, np.int64)
    found.setflags(write=False)
    return found


def texts(spans):
    data, starts, ends = spans
    return [data[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]


def scattered(rows):
    """A column whose texts are stored in reverse order with other bytes between them."""
    data, starts = b"", {}
    for row, text in reversed(list(enumerate(rows))):
        starts[row] = len(data) + 1
        data += b"#" + text
    begin = [starts[row] for row in range(len(rows))]
    end = [start + len(text) for start, text in zip(begin, rows, strict=True)]
    return Strings.of_spans(data, column(begin), column(end))


@st.composite
def pieces(draw):
    """Pieces of rows, the number of rows, and the rows that they should give."""
    rows = draw(st.integers(0, 5))
    text = st.binary(max_size=12)
    drawn = draw(st.lists(text | st.lists(text, min_size=rows, max_size=rows), max_size=5))
    given_pieces = [piece if isinstance(piece, bytes) else scattered(piece) for piece in drawn]
    columns = [[piece] * rows if isinstance(piece, bytes) else piece for piece in drawn]
    return given_pieces, rows, [b"".join(each[row] for each in columns) for row in range(rows)]


@both
@given(st.sampled_from(Unit), AMOUNTS, st.sampled_from(["", "/", " §"]))
def test_amounts_are_written_in_their_unit(kernel, unit, amounts, after):
    found = kernel.amounts(column(amounts), unit, after)

    assert texts(found) == [f"{unit.format(amount)}{after}".encode() for amount in amounts]


@needs_compiler
@pytest.mark.parametrize("unit", Unit)
def test_amounts_halfway_between_two_decimals_are_rounded_as_their_doubles_are(unit):
    halves = np.arange(1_005, 1_000_000, 10)

    assert texts(lines.amounts(halves, unit, "")) == texts(plain_lines.amounts(halves, unit, ""))


@both
def test_a_column_need_not_be_contiguous(kernel):
    assert texts(kernel.amounts(np.arange(6)[::2], Unit.BYTES, "")) == [b"0B", b"2B", b"4B"]


@both
@given(pieces())
def test_rows_are_joined_from_their_pieces(kernel, drawn):
    given_pieces, rows, expected = drawn

    found = kernel.woven(given_pieces, rows)

    assert texts(found) == expected
    assert found[0] == b"".join(expected)


@both
def test_a_piece_without_a_text_for_each_row_is_refused(kernel):
    with pytest.raises(ValueError, match=r"text for each row|shorter"):
        kernel.woven([b"a", scattered([b"b"])], 2)


@both
@pytest.mark.parametrize(("start", "end"), [(-1, 1), (0, 4), (2, 1), (4, 4)])
def test_a_text_outside_its_data_is_refused(kernel, start, end):
    piece = Strings.of_spans(b"abc", column([0, start]), column([3, end]))

    with pytest.raises(ValueError, match="a text lies outside of its data"):
        kernel.woven([piece], 2)


@both
@given(st.lists(INT64))
def test_varints_are_written_as_protobuf_reads_them(kernel, numbers):
    data, starts, ends = kernel.varints(column(numbers))

    read = [varint(data, start) for start in starts.tolist()]
    assert [signed(value) for value, _ in read] == numbers
    assert [end for _, end in read] == ends.tolist()
    assert [0, *ends.tolist()[:-1]][: len(numbers)] == starts.tolist()


@both
def test_a_varint_takes_one_byte_per_seven_bits(kernel):
    _, starts, ends = kernel.varints(column([0, 127, 128, 16_383, 16_384, 2**56 - 1, 2**56, -1]))

    assert (ends - starts).tolist() == [1, 1, 2, 2, 3, 8, 9, 10]
