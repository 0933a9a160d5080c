"""Files are walked record by record; errors name the record and the byte."""

import pytest
from google.protobuf import text_format

from sources.tf_files import MESSAGES, content, graph, node
from tfprof.errors import InputError
from tfprof.formats.messages import message_class
from tfprof.formats.recognise import MessageKind
from tfprof.formats.records import Records
from tfprof.formats.text_records import to_binary

GRAPH = MESSAGES[MessageKind.GRAPH]
NODE = "tensorflow.NodeDef"
TWO_NODES = graph(node("a"), node("bb"))  # the second begins at byte 11, its message at 13


def records(data):
    return Records("graph.pb", data)


def complaint(walk):
    with pytest.raises(InputError) as caught:
        walk()
    assert "\n" not in str(caught.value)
    assert caught.value.path == "graph.pb"
    return caught.value.trouble


def from_text(text):
    return Records("graph.pb", bytes(to_binary("graph.pb", text.encode(), GRAPH)))


def nested(depth):
    """A graph as text with an attribute in an attribute, `depth` levels deep."""
    value = 's: "x"'
    for _ in range(depth):
        value = f'func {{ attr {{ key: "a" value {{ {value} }} }} }}'
    return f'node {{ name: "n" op: "o" attr {{ key: "k" value {{ {value} }} }} }}'


def test_records_of_a_field_are_found_one_by_one():
    found = records(TWO_NODES + b"\x22\x00")

    names = [found.parse(NODE, start, end).name for start, end in found.spans(1)]

    assert names == ["a", "bb"]


def test_records_within_a_record_are_found_by_its_bounds():
    data = b"\x0a\x04\x0a\x02hi"

    assert list(records(data).spans(1, 2, 6)) == [(4, 6)]


def test_a_number_is_not_taken_for_a_record():
    assert list(records(b"\x08\x05\x0a\x01x").spans(1)) == [(4, 5)]


def test_the_error_for_a_cut_file_names_the_record_and_the_byte():
    trouble = complaint(lambda: list(records(TWO_NODES[:-1]).spans(1)))

    assert trouble == (
        "is cut short or damaged in record 2: a field of 10 bytes where only 9 are left, "
        "at byte 12; was the program still writing it?"
    )


def test_records_before_the_damage_are_read():
    walk = records(TWO_NODES[:-1]).spans(1)

    assert next(walk) == (2, 11)


def test_the_error_for_a_damaged_record_names_it_and_the_byte():
    trouble = complaint(lambda: records(b"\x0a\x02\x0a\x09").parse(NODE, 2, 4))

    assert trouble == "the NodeDef at byte 2 is damaged."


def test_a_name_that_is_not_text_is_refused():
    trouble = complaint(lambda: records(b"\x0a\x02\xff\xfe").parse(NODE, 0, 4))

    assert trouble == "the NodeDef at byte 0 is damaged."


def test_a_message_that_is_nested_too_deep_is_refused():
    data = b""
    for tag in b"\x12\x12\x52" * 1000 + b"\x12\x2a":  # a function in an attribute, and so on
        data = bytes([tag]) + varint(len(data)) + data

    trouble = complaint(lambda: records(data).parse(NODE, 0, len(data)))

    assert trouble == "the NodeDef at byte 0 is damaged."


def varint(value):
    digits = bytearray()
    while value > 0x7F:
        digits.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*digits, value])


def test_a_text_file_has_the_records_of_the_binary_file():
    text = content("mlp_tiny/graph.pbtxt").decode()

    names = [node.name for node in nodes(from_text(text))]

    assert names == [node.name for node in nodes(records(content("mlp_tiny/graph.pb")))]


def nodes(found):
    return [found.parse(NODE, start, end) for start, end in found.spans(1)]


def test_fields_that_are_not_needed_are_skipped_in_text():
    found = from_text(
        'node { name: "a" experimental_debug_info { x: 1 } } versions { producer: 9 }'
    )

    assert [node.name for node in nodes(found)] == ["a"]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('node {\n  name: "a', "line 2, column 9"),
        ('node {\n  name: "a"\n}\nnode {\n  name 3\n}', "line 5, column 8"),
        ('node { attr { key: "k" value { i: 99999999999999999999 } } }', "line 1, column 35"),
    ],
)
def test_the_error_for_malformed_text_names_the_line_and_column(text, place):
    trouble = complaint(lambda: from_text(text))

    assert trouble.startswith(f"is not a complete tensorflow.GraphDef in text form: {place}: ")


@pytest.mark.parametrize("text", ["node {", 'node { name: "a"', "node", "node { op: "])
def test_text_that_ends_early_is_refused(text):
    assert complaint(lambda: from_text(text)).startswith(
        "is not a complete tensorflow.GraphDef in text form"
    )


def test_an_error_does_not_repeat_a_very_long_line():
    trouble = complaint(lambda: from_text('node { name: "a" } ' * 1000 + "node 3"))

    assert len(trouble) < 300


def test_text_in_another_encoding_is_refused():
    trouble = complaint(lambda: to_binary("graph.pb", b'node { name: "\xe4" }', GRAPH))

    assert trouble == (
        "is not a complete tensorflow.GraphDef in text form: line 1, column 15: "
        "invalid UTF-8; save the text in that encoding."
    )


@pytest.mark.parametrize("depth", [120, 150, 250, 5000])
def test_text_that_is_nested_too_deep_is_refused(depth):
    def read():
        nodes(from_text(nested(depth)))

    assert "are nested too deeply" in complaint(read) or "is damaged" in complaint(read)


def test_text_may_be_nested_as_deep_as_in_real_files():
    found = from_text(nested(10))

    assert text_format.MessageToString(nodes(found)[0]).count("func") == 10


def test_an_unknown_field_that_is_nested_too_deep_is_refused():
    trouble = complaint(lambda: from_text("x " + "{ x " * 5000))

    assert trouble.startswith("is not a complete tensorflow.GraphDef in text form: ")
    assert trouble.endswith("its braces are nested too deeply.")


def test_a_record_may_be_empty():
    assert records(b"\x0a\x00").parse(NODE, 2, 2) == message_class(NODE)()
