"""The intact part of messages that were cut short or damaged."""

from __future__ import annotations

import pytest
from google.protobuf import text_format

from model_files import GraphDef, OpLogProto, RunMetadata, graph, log, run
from tfprof.formats import intact, text_records
from tfprof.formats.graph_def import GRAPH
from tfprof.formats.op_log import OP_LOG
from tfprof.formats.run_metadata import RUN_METADATA

RUN = RunMetadata.FromString(run({"act": 3, "mul": 10, "w": 2, "prob": 1500}))
LOG = OpLogProto.FromString(log())
MESSAGES = {GRAPH: graph(), RUN_METADATA: RUN, OP_LOG: LOG}


def nodes(message):
    return [node.name for node in message.node]


def entries(message):
    return [one.node_name for device in message.step_stats.dev_stats for one in device.node_stats]


@pytest.mark.parametrize("name", MESSAGES)
def test_a_whole_message_is_returned_as_it_is(name):
    data = MESSAGES[name].SerializeToString()

    assert intact.of_binary(name, data) == (data, len(data), 0)


@pytest.mark.parametrize("name", MESSAGES)
def test_the_intact_part_of_every_beginning_is_a_valid_message(name):
    message, data = MESSAGES[name], MESSAGES[name].SerializeToString()
    for size in range(len(data)):
        found = intact.of_binary(name, data[:size])
        part = type(message).FromString(found.data)

        assert found.read <= size
        assert found.missing <= len(data) - size
        if name == GRAPH:
            assert list(part.node) == list(message.node)[: len(part.node)]
        elif name == RUN_METADATA:
            assert entries(part) == entries(message)[: len(entries(part))]
        else:
            assert list(part.log_entries) == list(message.log_entries)[: len(part.log_entries)]


def test_the_last_byte_makes_a_record_complete():
    data = graph().SerializeToString()
    size = GraphDef(node=graph().node[:1]).ByteSize()

    assert intact.of_binary(GRAPH, data[: size - 1]).read == 0
    assert intact.of_binary(GRAPH, data[:size]) == (data[:size], size, 0)


def test_entries_of_a_device_that_is_cut_short_count():
    data = RUN.SerializeToString()

    part = RunMetadata.FromString(intact.of_binary(RUN_METADATA, data[:-3]).data)

    assert entries(part) == entries(RUN)[:-1]
    assert part.step_stats.dev_stats[0].device == RUN.step_stats.dev_stats[0].device


def test_functions_of_a_library_that_is_cut_short_count():
    whole = graph()
    for name in ("one", "two"):
        whole.library.function.add().signature.name = name
    data = whole.SerializeToString()

    part = GraphDef.FromString(intact.of_binary(GRAPH, data[:-1]).data)

    assert nodes(part) == nodes(whole)
    assert [function.signature.name for function in part.library.function] == ["one"]


@pytest.mark.parametrize("lost", range(2, 250, 8))
def test_zeros_at_the_end_of_a_graph_are_not_read(lost):
    data = graph().SerializeToString()

    found = intact.of_binary(GRAPH, data[:-lost] + bytes(lost))

    part = GraphDef.FromString(found.data)
    assert nodes(part) == nodes(graph())[: len(part.node)]
    assert len(part.node) < 5 or part.node[4].name == "prob"


@pytest.mark.parametrize("lost", range(2, 70, 3))
def test_zeros_at_the_end_of_a_recording_are_not_read(lost):
    data = RUN.SerializeToString()

    found = intact.of_binary(RUN_METADATA, data[:-lost] + bytes(lost))

    part = RunMetadata.FromString(found.data)
    assert entries(part) == entries(RUN)[: len(entries(part))]


@pytest.mark.parametrize("name", MESSAGES)
def test_the_intact_part_of_every_beginning_of_a_text_is_valid(name):
    message = MESSAGES[name]
    data = text_format.MessageToString(message).encode()
    counts = set()
    for size in range(0, len(data), 3):
        found = text_records.intact_part("file", data[:size], name)
        part = type(message).FromString(found.data)
        counts.add(len(part.ListFields()) and len(part.SerializeToString()))

        assert found.read <= size
        if name == GRAPH:
            assert list(part.node) == list(message.node)[: len(part.node)]
        elif name == RUN_METADATA:
            assert entries(part) == entries(message)[: len(entries(part))]

    assert len(counts) >= 4


def test_brackets_in_strings_and_comments_of_a_text_do_not_count():
    data = b'node { name: "a}" } # }\nnode { name: \'b{\\\'\' } node < name: "c" > node { name: "d'

    found = text_records.intact_part("file", data, GRAPH)

    assert nodes(GraphDef.FromString(found.data)) == ["a}", "b{'", "c"]


def test_a_text_is_read_up_to_damage_in_the_middle():
    data = b'node { name: "a" }\nnode { name: "b" }\n\0\0\0\0 node { name: "c" }\n'

    found = text_records.intact_part("file", data, GRAPH)

    assert nodes(GraphDef.FromString(found.data)) == ["a", "b"]
    assert found.read == 37
