"""A saved profile is read node by node; its other fields are the header."""

import pytest

from sources.tf_files import content, saved
from tfprof.errors import InputError
from tfprof.formats import profile_proto
from tfprof.formats.messages import message_class
from tfprof.formats.profile_proto import MEMORY_FIELDS
from tfprof.formats.records import Records
from tfprof.model.executions import MEMORY_FACTS


def records(data):
    return Records("profile.pb", data)


def decode(data):
    return profile_proto.decode(records(data))


def test_nodes_are_read_with_their_numbers():
    found = decode(saved({"name": "a"}, {"name": "b", "id": 7}))

    assert dict(zip(found.id.tolist(), found.name, strict=True)) == {0: "a", 7: "b"}


def test_each_node_can_be_read_from_its_bounds():
    data = saved({"name": "a"}, {"name": "b"})
    entry = message_class("tensorflow.tfprof.ProfileProto.NodesEntry")
    found = decode(data)

    spans = zip(found.start.tolist(), found.end.tolist(), strict=True)
    names = [entry.FromString(data[start:end]).value.name for start, end in spans]

    assert names == list(found.name)


def test_the_header_has_everything_except_the_nodes():
    header = decode(
        saved(
            {"name": "a"},
            has_trace=True,
            miss_accelerator_stream=True,
            steps=[3, -1, 2**40],
            strings={1: "x", 2: "é"},
        )
    ).header

    assert header.has_trace
    assert header.misses_accelerator_stream
    assert header.steps == (3, -1, 2**40)
    assert header.strings == {1: "x", 2: "é"}


def test_missing_fields_of_the_header_have_their_defaults():
    header = decode(saved({"name": "a"})).header

    assert not header.has_trace
    assert not header.misses_accelerator_stream
    assert header.steps == ()
    assert header.strings == {}


def test_steps_may_be_written_one_by_one():
    assert decode(b"\x18\x03\x18\x05\x1a\x02\x07\x08").header.steps == (3, 5, 7, 8)


def test_steps_that_are_cut_short_are_refused():
    with pytest.raises(InputError, match="damaged"):
        decode(b"\x1a\x01\x80")


def test_every_fact_about_memory_has_its_field():
    fields = message_class("tensorflow.tfprof.ExecMemory").DESCRIPTOR.fields_by_name

    assert ("time_ns", *tuple(MEMORY_FIELDS)[1:]) == MEMORY_FACTS
    assert set(MEMORY_FIELDS.values()) < set(fields)


def test_a_real_profile_has_its_nodes_and_steps():
    found = decode(content("mlp_tiny/profile.pb"))

    assert len(found.name) == 19
    assert found.header.steps == (1, 2, 5, 9)
    assert found.header.has_trace


def test_transfers_are_read():
    copies = [
        {"step": 3, "name": "edge_1", "device": "/gpu:0/memcpy", "start_micros": 9, "micros": 4},
        {},
    ]
    data = message_class(profile_proto.PROFILE)(copies=copies).SerializeToString()

    for found in (decode(data).copies, profile_proto._parsed(records(data)).copies):
        assert found.step.tolist() == [3, 0]
        assert [found.name[row] for row in range(2)] == ["edge_1", ""]
        assert [found.device[row] for row in range(2)] == ["/gpu:0/memcpy", ""]
        assert found.start.tolist() == [9, 0]
        assert found.duration.tolist() == [4, 0]
