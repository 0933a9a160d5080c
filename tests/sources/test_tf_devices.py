"""Facts derived from the names of TensorFlow devices."""

import pytest

from sources.tf_files import CPU, GPU, GPU_LANE
from tfprof.model.builder import ProfileBuilder
from tfprof.model.devices import Role
from tfprof.model.recordings import Recording
from tfprof.sources.tf_devices import add_device, misses_accelerator_stream, tasks_of


def devices(*names):
    """The devices of one recording."""
    builder = ProfileBuilder()
    row = builder.add_recording(Recording("here"))
    for name in names:
        add_device(builder, row, name)
    return builder.build().devices


def device(name):
    """(`is_placement`, `is_accelerator_lane`) of a device."""
    found = devices(name)
    return bool(found.is_placement[0]), bool(found.is_accelerator_lane[0])


@pytest.mark.parametrize(
    "name",
    [CPU, GPU, "/cpu:0", "/gpu:12", "/device:CPU:0", "/job:worker/replica:0/task:3/GPU:1"],
)
def test_ops_are_placed_on_cpus_and_gpus(name):
    assert device(name) == (True, False)


@pytest.mark.parametrize("name", [GPU_LANE, "/gpu:0/stream:all", "stream:all"])
def test_the_lane_of_all_streams_is_an_accelerator_lane(name):
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
        "/cpu:٣",  # a digit, but not an ASCII one
        "",
    ],
)
def test_other_devices_are_neither(name):
    assert device(name) == (False, False)


def test_device_names_ignore_case():
    assert list(devices("/device:GPU:0", "/device:gpu:0").name) == ["/device:gpu:0"]


@pytest.mark.parametrize(
    ("name", "host"),
    [
        (CPU, "/job:localhost/replica:0/task:0/device:cpu:0"),
        (GPU, "/job:localhost/replica:0/task:0/device:cpu:0"),
        ("/job:a/gpu:3", "/job:a/cpu:0"),
        ("/device:GPU:1/stream:all", "/device:cpu:0/stream:all"),
    ],
)
def test_the_host_of_a_gpu_is_the_first_cpu_of_its_task(name, host):
    assert list(devices(name).host) == [host]


@pytest.mark.parametrize(
    ("name", "role"),
    [
        (CPU, Role.HOST),
        (GPU, Role.ACCELERATOR),
        (GPU_LANE, Role.ACCELERATOR),
        ("/device:TPU:0", Role.ACCELERATOR),
        ("/device:GPU:0/memcpy", Role.COPY_ENGINE),
    ],
)
def test_a_device_has_the_role_that_its_name_implies(name, role):
    assert devices(name).role.tolist() == [role]


def test_tasks_are_found_in_device_names():
    names = ["/job:ps/replica:0/task:1/device:CPU:0", "/job:Worker/task:12/gpu:0", "/gpu:0"]

    assert tasks_of(names) == {("ps", 1), ("worker", 12)}


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
def test_accelerator_time_is_missing_if_a_gpu_has_no_lane_of_all_streams(names, is_missing):
    assert misses_accelerator_stream(names) is is_missing
