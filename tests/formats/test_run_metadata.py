"""A RunMetadata becomes columns, with its entries in the order of the file."""

import pytest

from sources.tf_files import CPU, GPU, UNKNOWN_RANK, content, output, run_metadata, shape, stats
from tfprof.errors import InputError
from tfprof.formats import run_metadata as format_
from tfprof.formats.records import Records


def decode(data):
    return format_.decode(Records("run_meta", data))


def decode_one(**fields):
    """The columns of a single entry."""
    return decode(run_metadata((CPU, [stats("a", **fields)])))


def test_entries_keep_the_order_of_devices_and_of_runs():
    columns = decode(run_metadata((GPU, [stats("b"), stats("a")]), (CPU, [stats("b")])))

    assert columns.devices == [GPU, CPU]
    assert list(columns.name) == ["b", "a", "b"]
    assert columns.device.tolist() == [0, 0, 1]


def test_the_name_of_an_entry_ends_before_a_colon():
    columns = decode(run_metadata((CPU, [stats("a:1"), stats("a/b:MatMul:2"), stats(":")])))

    assert list(columns.name) == ["a", "a/b", ""]


def test_times_are_read_as_recorded():
    columns = decode(run_metadata((CPU, [stats("a", 7, 3), stats("a", 0, 0)])))

    assert columns.start_micros.tolist() == [7, 0]
    assert columns.end_rel_micros.tolist() == [3, 0]


def test_a_device_name_may_come_after_its_runs():
    entry = stats("a").SerializeToString()
    device = b"\x12" + bytes([len(entry)]) + entry + b"\x0a\x02/x"
    step = b"\x0a" + bytes([len(device)]) + device

    columns = decode(b"\x0a" + bytes([len(step)]) + step)

    assert [columns.devices[code] for code in columns.device] == ["/x"]


def test_a_device_name_that_is_not_text_is_kept_readable():
    columns = decode(b"\x0a\x05\x0a\x03\x0a\x01\xff")

    assert columns.devices == ["�"]


def test_numbers_in_place_of_messages_are_skipped():
    columns = decode(b"\x0a\x06\x0a\x04\x08\x01\x10\x00")

    assert columns.devices == [""]
    assert list(columns.name) == []


def test_kernel_memory_defaults_to_zero():
    kept = {"temp_memory_size": 5, "persistent_memory_size": 7}
    columns = decode(run_metadata((CPU, [stats("a", memory_stats=kept), stats("b")])))

    assert columns.temp_bytes.tolist() == [5, 0]
    assert columns.persistent_bytes.tolist() == [7, 0]


def test_each_allocator_of_an_entry_is_a_row():
    memory = [
        {"allocator_name": "cpu", "total_bytes": 1, "peak_bytes": 2, "live_bytes": 3},
        {"allocator_name": "GPU_0_bfc", "allocator_bytes_in_use": 4},
    ]
    allocators = decode(run_metadata((CPU, [stats("a"), stats("b", memory=memory)]))).allocators

    assert allocators.entry.tolist() == [1, 1]
    assert list(allocators.name) == ["cpu", "GPU_0_bfc"]
    assert allocators.total.tolist() == [1, 0]
    assert allocators.peak.tolist() == [2, 0]
    assert allocators.live.tolist() == [3, 0]
    assert allocators.in_use.tolist() == [0, 4]


def test_each_allocation_of_an_allocator_is_a_row():
    records = [{"alloc_micros": 10, "alloc_bytes": 64}, {"alloc_micros": 20, "alloc_bytes": -64}]
    allocations = decode_one(memory=[{}, {"allocation_records": records}]).allocations

    assert allocations.allocator.tolist() == [1, 1]
    assert allocations.micros.tolist() == [10, 20]
    assert allocations.bytes.tolist() == [64, -64]


def test_each_output_of_an_entry_is_a_row():
    described = output(slot=1, dims=(2, 3), requested=24, allocated=256, address=4096)
    outputs = decode_one(output=[described]).outputs

    assert (outputs.entry.tolist(), outputs.slot.tolist()) == ([0], [1])
    assert (outputs.requested.tolist(), outputs.allocated.tolist()) == ([24], [256])
    assert outputs.address.tolist() == [4096]
    assert outputs.has_memory.tolist() == [1]
    assert list(outputs.shape) == [(2, 3)]


@pytest.mark.parametrize(
    ("description", "expected"),
    [
        ({}, None),
        ({"tensor_description": {}}, None),
        ({"tensor_description": {"shape": UNKNOWN_RANK}}, None),
        ({"tensor_description": {"shape": shape()}}, ()),
        ({"tensor_description": {"shape": shape(5)}}, (5,)),
    ],
)
def test_an_output_may_lack_its_shape_and_its_memory(description, expected):
    outputs = decode_one(output=[description]).outputs

    assert list(outputs.shape) == [expected]
    assert outputs.has_memory.tolist() == [0]
    assert (outputs.requested.tolist(), outputs.allocated.tolist()) == ([0], [0])


def test_an_address_beyond_63_bits_keeps_its_bits():
    outputs = decode_one(output=[output(address=2**64 - 1), output(address=2**63)]).outputs

    assert outputs.address.tolist() == [-1, -(2**63)]


def test_a_run_without_statistics_differs_from_one_in_which_nothing_ran():
    assert not decode(b"\x1a\x00").has_step_stats
    assert decode(b"\x0a\x00").has_step_stats
    assert list(decode(b"\x0a\x00").name) == []


def test_a_real_trace_has_its_entries():
    columns = decode(content("mlp_tiny/run_meta_1"))

    assert columns.devices == [CPU]
    assert columns.name[0] == "_SOURCE"
    assert len(columns.name) == 14
    assert min(columns.start_micros) > 0


def test_an_error_names_the_place_of_a_damaged_entry():
    with pytest.raises(InputError, match="the NodeExecStats at byte 6 is damaged"):
        decode(b"\x0a\x06\x0a\x04\x12\x02\x0a\x05")
