"""What the names of devices tell, in whatever case they are spelled."""

import pytest

from sources.tf_files import CPU, GPU, GPU_LANE
from tfprof.model.builder import ProfileBuilder
from tfprof.sources.tf_devices import add_device, misses_accelerator_stream


def device(name):
    """(is a placement, is an accelerator's lane) of a device."""
    builder = ProfileBuilder()
    add_device(builder, name)
    found = builder.build().devices
    return bool(found.is_placement[0]), bool(found.is_accelerator_lane[0])


@pytest.mark.parametrize(
    "name",
    [CPU, GPU, "/cpu:0", "/gpu:12", "/device:CPU:0", "/job:worker/replica:0/task:3/GPU:1"],
)
def test_ops_are_placed_on_cpus_and_gpus(name):
    assert device(name) == (True, False)


@pytest.mark.parametrize("name", [GPU_LANE, "/gpu:0/stream:all", "stream:all"])
def test_the_lane_of_all_streams_is_the_accelerator_itself(name):
    assert device(name) == (False, True)


@pytest.mark.parametrize(
    "name",
    [
        "/device:TPU:0",
        "cpu:0",
        "/device:GPU:0/stream:13",
        "/device:GPU:0/memcpy",
        "/device:GPU:0/sync",
        "/device:GPU:",
        "/device:GPU:0 ",
        "/xpu:0",
        "/cpu:٣",  # a digit, but not one of ours
        "",
    ],
)
def test_other_devices_are_neither(name):
    assert device(name) == (False, False)


def test_a_device_is_one_in_whatever_case_it_is_spelled():
    builder = ProfileBuilder()

    assert add_device(builder, "/device:GPU:0") == add_device(builder, "/device:gpu:0") == 0
    assert list(builder.build().devices.name) == ["/device:gpu:0"]


@pytest.mark.parametrize(
    ("name", "host"),
    [
        (CPU, "/job:localhost/replica:0/task:0/device:cpu:0"),
        (GPU, "/job:localhost/replica:0/task:0/device:cpu:0"),
        ("/job:a/gpu:3", "/job:a/cpu:0"),
        ("/device:GPU:1/stream:all", "/device:cpu:0/stream:all"),
    ],
)
def test_a_gpu_is_served_by_the_first_cpu_beside_it(name, host):
    builder = ProfileBuilder()
    add_device(builder, name)

    assert list(builder.build().devices.host) == [host]


@pytest.mark.parametrize(
    ("names", "is_missing"),
    [
        ([], False),
        ([CPU], False),
        ([CPU, GPU], True),
        ([GPU, "/device:GPU:0/stream:13"], True),
        ([GPU, GPU_LANE], False),
        ([GPU, "/device:TPU:0/stream:all"], True),
        (["/GPU:0", "/gpu:1/STREAM:ALL"], False),
    ],
)
def test_a_gpu_without_the_lane_of_all_streams_lacks_its_time(names, is_missing):
    assert misses_accelerator_stream(names) is is_missing
