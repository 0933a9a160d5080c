"""A file is recognised by its content, even if it is cut, in binary and text form."""

import io

import pytest
from google.protobuf import text_format
from hypothesis import given
from hypothesis import strategies as st

from sources.tf_files import FILES, MESSAGES, content, graph, node, op_log, run_metadata, stats
from tfprof.formats.file_spans import FileBytes
from tfprof.formats.messages import message_class
from tfprof.formats.recognise import MessageKind, is_text, recognise

BINARY = [name for name in FILES if name != "mlp_tiny/graph.pbtxt"]


def kind_of(data):
    return recognise(data)[0]


@pytest.mark.parametrize(("name", "kind"), FILES.items())
def test_a_file_of_tensorflow_is_recognised(name, kind):
    assert recognise(content(name)) == (kind, name.endswith("pbtxt"))


@pytest.mark.parametrize("name", [name for name in BINARY if FILES[name] in MESSAGES])
def test_a_file_is_recognised_when_it_is_written_as_text(name):
    message = message_class(MESSAGES[FILES[name]]).FromString(content(name))

    assert recognise(text_format.MessageToString(message).encode()) == (FILES[name], True)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("share", [1, 0.5, 0.01])
def test_a_file_is_recognised_without_reading_it_whole(name, share):
    data = content(name)[: int(len(content(name)) * share)]

    assert recognise(FileBytes(io.BytesIO(data), len(data))) == recognise(data)


@pytest.mark.parametrize("name", FILES)
def test_a_cut_file_is_never_taken_for_another_kind(name):
    data = content(name)
    ends = {*range(300), *range(0, len(data), max(len(data) // 50, 1))}

    assert {kind_of(data[:end]) for end in ends} == {FILES[name], None}


@pytest.mark.parametrize("name", BINARY)
def test_a_file_cut_after_its_first_fields_is_still_recognised(name):
    data = content(name)

    assert {kind_of(data[:end]) for end in range(100, len(data), len(data) // 50)} == {FILES[name]}


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"", None),
        (b"\x0a\x00", MessageKind.RUN_META),  # empty step statistics
        (b"\x0a\x04\x0a\x02\x0a\x00", MessageKind.RUN_META),  # a device without a name
        (b"\x0a\x05\x0a\x01a\x12\x00", MessageKind.GRAPH),
        (b"\x0a\x03\x0a\x01a", MessageKind.OP_LOG),
        (b"\x0a\x05\x0a\x01a\x10\x03", MessageKind.OP_LOG),
        (b"\x0a\x04\x08\x00\x12\x00", MessageKind.PROFILE),
        (b"\x22\x02\x08\x15", MessageKind.GRAPH),  # only the version of its writer
        (b"\x12\x02\x08\x01", MessageKind.OP_LOG),  # only a string
        (b"\x1a\x02\x0a\x00", MessageKind.RUN_META),  # only a partition
        (b"\x10\x01", MessageKind.PROFILE),  # only a flag
        (b"\x3a\x00", None),
        (b"\x00\x00", None),
        (b"\x07", None),
        (b"\xff" * 20, None),
    ],
)
def test_a_tiny_message_is_what_its_fields_allow(data, kind):
    assert kind_of(data) is kind


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x0a\x20\x0a\x05\x12a", None),  # part of a name, of a node or of an entry of a log
        (b"\x0a\x20\x0a\x01a", None),
        (b"\x0a\x20\x0a\x01a\x12\x05Add", MessageKind.GRAPH),
        (b"\x0a\x20\x0a\x01a\x10\x05", MessageKind.OP_LOG),
        (b"\x0a\x20\x0a\x01a\x22\x05\x0a", MessageKind.OP_LOG),
        (b"\x0a\x20\x08\x01", MessageKind.PROFILE),
        (b"\x0a\x20\x0a\x18\x0a\x05/d", MessageKind.RUN_META),
    ],
)
def test_a_cut_first_record_is_recognised_if_enough_of_it_is_left(data, kind):
    assert kind_of(data) is kind


def test_records_of_two_kinds_make_a_file_of_none():
    data = graph(node("a"), node("b")) + op_log({"name": "c", "float_ops": 1})

    assert kind_of(data) is None


def test_the_name_of_an_op_may_look_like_a_message():
    assert kind_of(op_log({"name": "\n\x00", "float_ops": 1})) is MessageKind.OP_LOG
    assert kind_of(graph(node("\n\x00"))) is MessageKind.GRAPH
    assert kind_of(run_metadata(("\n\x00", [stats("a")]))) is MessageKind.RUN_META


def test_strings_may_come_before_the_records():
    strings = op_log(strings=dict.fromkeys(range(500), "x"))

    assert kind_of(strings + op_log({"name": "a", "types": ["t"]})) is MessageKind.OP_LOG


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('node { name: "a" }', MessageKind.GRAPH),
        ('\n# made by hand\n\n  node: < name: "a" >', MessageKind.GRAPH),
        ("node\n{\n}", MessageKind.GRAPH),
        ("node [{}]", MessageKind.GRAPH),
        ("versions { producer: 21 }", MessageKind.GRAPH),
        ("step_stats {}", MessageKind.RUN_META),
        ("partition_graphs {}", MessageKind.RUN_META),
        ("log_entries {}", MessageKind.OP_LOG),
        ("nodes { key: 1 }", MessageKind.PROFILE),
        ("steps: 3", MessageKind.PROFILE),
        ("nodes_per_second: 3", None),
        ("Dear reader,", None),
        ('{"node": []}', None),
        ("node", None),
        ("# node {", None),
    ],
)
def test_the_first_field_decides_the_kind_of_a_text(text, kind):
    assert recognise(text.encode()) == (kind, True)


def test_a_text_may_contain_any_characters():
    assert is_text('node { name: "Größe" }\r\n'.encode())
    assert not is_text(b"node \x00")


@given(st.binary(max_size=200))
def test_any_bytes_can_be_examined(data):
    assert kind_of(data) in {*MessageKind, None}


@given(st.sampled_from(BINARY), st.data())
def test_any_damaged_file_can_be_examined(name, data):
    damaged = bytearray(content(name)[:2000])
    for _ in range(3):
        damaged[data.draw(st.integers(0, 200))] = data.draw(st.integers(0, 255))

    assert kind_of(bytes(damaged)) in {*MessageKind, None}


def test_a_message_of_printable_bytes_is_not_taken_for_text():
    name = b"n" * 40  # its length, 40, is a printable character too

    assert recognise(b"\x0a\x2a\x0a\x28" + name) == (MessageKind.OP_LOG, False)
