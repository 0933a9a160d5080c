"""Reading a traced run for timelines: scan and protobuf give the same columns."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from floors import checked, floor
from formats.scan_agreement import plain
from formats.wire_messages import Maker
from sources.tf_files import CPU, FILES, GPU, UNKNOWN_RANK, content, run_metadata, shape, stats
from tfprof.errors import InputError
from tfprof.formats import step_stats
from tfprof.formats.messages import message_class
from tfprof.formats.recognise import MessageKind
from tfprof.formats.records import Records

SAMPLES = [name for name, kind in FILES.items() if kind is MessageKind.RUN_META]
seeds = st.integers(0, 2**32 - 1)


def decode(data):
    return step_stats.decode(Records("run_meta", data))


def decode_one(**fields):
    """The columns of a single entry."""
    return decode(run_metadata((CPU, [stats("a", **fields)])))


def decode_tensor(**description):
    """The columns of a single output."""
    return decode_one(output=[{"tensor_description": description}]).outputs


def is_scanned_alike(data):
    """Whether a scan reads this file; if so, its columns must equal protobuf's."""
    found = step_stats._scanned(data)
    if found is None:
        return False
    assert plain(found) == plain(step_stats._parsed(Records("file", data)))
    return True


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_is_scanned(name):
    assert is_scanned_alike(content(name))


@settings(max_examples=100)
@given(seeds)
def test_a_regular_file_is_scanned(seed):
    assert is_scanned_alike(Maker(seed).message(message_class("tensorflow.RunMetadata").DESCRIPTOR))


@floor(0.05)  # measured: 0.25
@settings(max_examples=200)
@given(seeds, st.booleans())
def test_an_odd_or_damaged_file_is_scanned_as_protobuf_reads_it(seed, is_damaged):
    maker = Maker(seed, oddity=0.03)
    data = maker.message(message_class("tensorflow.RunMetadata").DESCRIPTOR)

    checked(is_scanned_alike(maker.damaged(data) if is_damaged else data))


def test_names_and_labels_share_the_bytes_of_the_file():
    runs = [stats("a:Add:2", timeline_label="a = Add(b, c)"), stats("RecvTensor")]
    columns = decode(run_metadata((GPU, runs)))

    assert list(columns.name) == ["a:Add:2", "RecvTensor"]
    assert list(columns.label) == ["a = Add(b, c)", ""]
    assert columns.name.data is columns.label.data


def test_texts_beyond_ascii_are_kept():
    columns = decode(run_metadata((CPU, [stats("é", timeline_label="é = Ä(ö)"), stats("b")])))

    assert list(columns.name) == ["é", "b"]
    assert list(columns.label) == ["é = Ä(ö)", ""]
    assert columns.name.data is columns.label.data


def test_the_duration_of_a_run_includes_its_callbacks():
    columns = decode_one(all_end_rel_micros=9)

    assert (columns.start_micros.tolist(), columns.micros.tolist()) == ([100], [9])


@pytest.mark.parametrize(
    ("description", "dtype", "dims"),
    [
        ({}, "", ""),
        ({"dtype": 1, "shape": shape()}, "dtype: DT_FLOAT\n", "shape {\n}\n"),
        ({"dtype": 77}, "dtype: 77\n", ""),
        ({"shape": UNKNOWN_RANK}, "", "shape {\n  unknown_rank: true\n}\n"),
        (
            {"shape": {"dim": [{"size": 3, "name": "batch"}]}},
            "",
            'shape {\n  dim {\n    size: 3\n    name: "batch"\n  }\n}\n',
        ),
    ],
)
def test_the_type_and_shape_of_an_output_are_written_as_protobuf_does(description, dtype, dims):
    outputs = decode_tensor(**description)

    assert (outputs.dtype[0], outputs.shape[0]) == (dtype, dims)
    assert outputs.has_memory.tolist() == [0]


def test_the_memory_of_an_output_has_all_its_fields():
    memory = {
        "requested_bytes": 24,
        "allocated_bytes": 256,
        "allocator_name": "cpu",
        "allocation_id": 7,
        "has_single_reference": True,
        "ptr": 2**64 - 1,
    }
    outputs = decode_tensor(allocation_description=memory)

    assert outputs.has_memory.tolist() == [1]
    assert (outputs.requested.tolist(), outputs.allocated.tolist()) == ([24], [256])
    assert (outputs.allocator[0], outputs.allocation_id.tolist()) == ("cpu", [7])
    assert (outputs.has_single_reference.tolist(), outputs.address.tolist()) == ([1], [-1])


def test_an_error_names_the_place_of_a_damaged_shape():
    # RunMetadata, StepStats, DeviceStepStats, NodeExecStats, NodeOutput, TensorDescription, shape
    data = b"\x01\xff"
    for tag in (0x12, 0x1A, 0x3A, 0x12, 0x0A, 0x0A):
        data = bytes([tag, len(data)]) + data

    with pytest.raises(InputError, match="the NodeExecStats at byte 6 is damaged"):
        decode(data)


@pytest.mark.parametrize("field", ["all_start_micros", "all_end_rel_micros"])
@pytest.mark.parametrize("micros", [2**62, -(2**63)])
def test_impossible_times_are_refused(field, micros):
    entry = message_class("tensorflow.NodeExecStats")(node_name="odd", **{field: micros})

    with pytest.raises(InputError, match=r"`odd` has an impossible time of -?[49],"):
        decode(run_metadata((CPU, [stats("a"), entry])))


def test_impossibly_large_tensors_are_refused():
    memory = {"allocation_description": {"requested_bytes": 2**61}}
    outputs = [{"tensor_description": memory}] * 3

    with pytest.raises(InputError, match=r"its tensors have an impossible size of 7e\+18 bytes"):
        decode_one(output=outputs)
