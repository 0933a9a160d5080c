"""Pickles are read as data: plain values, and symbols without effect; all else is refused."""

import collections
import pickle
import pickletools
import sys
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

import peak_memory
from tfprof.formats.inert_pickle import Made, OddKey, Persistent, PickleError, Symbol, load

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False)
    | st.text(max_size=300)
    | st.binary(max_size=300),
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.dictionaries(st.text(max_size=5) | st.integers(-9, 9) | st.none(), inner, max_size=5)
        | st.lists(inner, max_size=5).map(tuple)
    ),
    max_leaves=30,
)


class Evil:
    """Writes a file when it is unpickled."""

    def __reduce__(self):
        return eval, ("open('/tmp/should_not_exist', 'w')",)


def refusal(data, **options):
    with pytest.raises(PickleError) as caught:
        load(data, **options)
    return str(caught.value)


@given(VALUES, st.sampled_from([3, 4, 5]))
def test_plain_values_are_read_as_pickle_reads_them(value, protocol):
    data = pickle.dumps(value, protocol)

    assert load(data) == (value, len(data))


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b"U\x02ab.", "ab"),
        (b"T\x03\x00\x00\x00\xc3\xa9a.", "éa"),
        (b"U\x02\xff\x00.", b"\xff\x00"),
    ],
)
def test_a_text_of_python_2_is_a_text_or_bytes(data, value):
    data = b"\x80\x02" + data

    assert load(data) == (value, len(data))


def test_shared_values_stay_shared():
    inner = [1]
    (first, second), _ = load(pickle.dumps([inner, inner]))

    assert first is second


def test_several_pickles_follow_each_other():
    data = pickle.dumps(1) + pickle.dumps("b")
    first, end = load(data)

    assert (first, load(data, end)) == (1, ("b", len(data)))


def test_symbols_and_calls_are_records_of_what_they_would_be():
    ordered = collections.OrderedDict(a=1)
    made, _ = load(pickle.dumps(ordered, 2), has_symbols=True)

    assert isinstance(made, Made)
    assert made.maker == Symbol("collections", "OrderedDict")
    assert made.items == {"a": 1}


@pytest.mark.parametrize("protocol", [2, 4])
def test_a_call_has_no_effect(protocol):
    made, _ = load(pickle.dumps(Evil(), protocol), has_symbols=True)

    assert made.maker.name == "eval"
    assert made.args == ("open('/tmp/should_not_exist', 'w')",)


def test_the_state_of_an_object_is_kept():
    found, _ = load(b"\x80\x02cm\nC\n)\x81}X\x01\x00\x00\x00aK\x01sb.", has_symbols=True)

    assert (found.maker, found.state) == (Symbol("m", "C"), {"a": 1})


def test_references_outside_of_the_pickle_are_values():
    assert load(b"\x80\x02K\x07Q.", has_symbols=True)[0] == Persistent(7)


def test_keys_that_are_not_plain_get_a_number():
    value = {(1, 2): "a", 1.5: "b", 2**40: "c"}

    assert load(pickle.dumps(value))[0] == {OddKey(0): "a", OddKey(1): "b", str(2**40): "c"}


@pytest.mark.parametrize("value", [Evil(), collections.OrderedDict(), {1, 2}, object, 1j])
def test_symbols_and_calls_are_forbidden_in_data(value):
    assert "has a forbidden instruction at byte " in refusal(pickle.dumps(value))


def test_a_reference_is_forbidden_in_data():
    assert refusal(b"\x80\x02K\x07Q.") == "has a forbidden instruction at byte 4"


def test_only_known_instructions_are_accepted():
    known = {op.code for op in pickletools.opcodes}
    forbidden = known & set("PiodlISVFLpg\x82\x83\x84\x97\x98")
    for code in sorted(forbidden):
        data = b"\x80\x02" + code.encode("latin-1") + b"1\n1\n."

        assert "forbidden" in refusal(data, has_symbols=True), code


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(data):
    with suppress(PickleError):
        load(b"\x80\x02" + data, has_symbols=True)


def test_a_pickle_that_ends_early_is_refused():
    data = pickle.dumps({"a": ["b", 1.5, 2**40]})
    for end in range(len(data)):
        assert refusal(data[:end])


@pytest.mark.parametrize(
    "data",
    [
        b"X\xff\xff\xff\xffa.",  # a text longer than the file
        b"\x8d" + b"\xff" * 8 + b".",
        b"\x8b\xff\xff\xff\x7f.",  # a long number
        b"j\xff\xff\xff\xff.",  # a value that was not remembered
        b"Nr\xff\xff\xff\xff.",
        b"q\x00.",
        b"}Ns.",
        b"NNNs.",
        b"(u.",
        b"u.",
        b"R.",
        b"\x8c\x01\xff.",
    ],
)
def test_impossible_instructions_are_refused(data):
    assert refusal(b"\x80\x04" + data, has_symbols=True)


def test_deep_marks_are_refused():
    assert refusal(b"\x80\x02" + b"(" * 10_000) == "is nested more than 1,000 deep"


def test_many_parts_in_few_bytes_are_refused():
    for code in (b"}0", b"]0", b"N\x850", b"N\x85\x850"):
        trouble = refusal(b"\x80\x02" + code * 100_000 + b".", has_symbols=True)

        assert trouble == "has implausibly many parts for its size"


def test_nested_tuples_of_any_depth_are_read_and_freed():
    data = b"\x80\x02N" + b"\x85NNNN0000" * 100_000 + b"."

    value, _ = load(data)
    assert len(value) == 1


def test_lists_that_repeat_each_other_are_not_copied():
    data = b"\x80\x04]\x94" + b"".join(
        b"](" + b"h" + bytes([number]) + b"h" + bytes([number]) + b"e\x94" for number in range(200)
    )

    assert load(data + b".")  # copies would double with each of the 200 lists


def test_keys_whose_hashes_are_chosen_to_collide_do_not():
    chosen = [sys.hash_info.modulus * number for number in range(1, 30)]
    assert len(set(map(hash, chosen))) == 1

    table, _ = load(pickle.dumps(dict.fromkeys(chosen), 2))
    assert len(set(map(hash, table))) == len(chosen)


def test_memory_is_proportional_to_the_file():
    data = b"\x80\x02(" + b"]" * 1_000_000 + b"e."

    assert peak_memory.allocated(lambda: refusal(data)) < 100 * len(data)
