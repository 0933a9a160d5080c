"""Several hosts or workers in one profile: each is a recording with its own steps and devices."""

from __future__ import annotations

import json
from collections import Counter

import pytest

import tfprof
from build import GPU, GPU_STREAM, run
from build import profile as built
from perfetto_reader import Trace
from sources.tf_files import graph, node, run_metadata, stats
from sources.xplane_files import Plane, event, host, recording, span
from tfprof.api import Profile
from tfprof.cli import main
from tfprof.errors import OptionError

STREAM = "Stream #13(Kernel)"


def device(worker, kind="CPU"):
    return f"/job:worker/replica:0/task:{worker}/device:{kind}:0"


@pytest.fixture
def hosts(tmp_path):
    """A capture of two hosts: both have steps 4 and 5 and a GPU 0; the second is slower."""
    folder = tmp_path / "plugins" / "profile" / "2026_01_01"
    folder.mkdir(parents=True)
    for name, slower in (("host-a", 1), ("host-b", 3)):
        python = [event("train", 10, 20, step_num=4), event("train", 40, 20, step_num=5)]
        work = [event("net/a:Mul", at, 2 * slower) for at in (11, 41)]
        kernels = [event("k", at, 1.4 * slower, tf_op="net/a:Mul") for at in (13, 43)]
        planes = [host(python=python, t=work), Plane("/device:GPU:0").line(STREAM, *kernels)]
        (folder / f"{name}.xplane.pb").write_bytes(recording(*planes))
    return tmp_path


@pytest.fixture
def workers(tmp_path):
    """A graph, and the same step recorded by two workers of a job."""
    (tmp_path / "graph.pb").write_bytes(graph(node("net/a", "Mul"), node("net/b", "Mul")))
    for worker in (0, 1):
        entries = [stats("net/a", 100, 4 + 6 * worker), stats("net/b", 200, 1)]
        data = run_metadata((device(worker), entries), (device(worker, "GPU"), []))
        (tmp_path / f"run_meta_worker{worker}").write_bytes(data)
    return tmp_path


def micros(profile, name, **options):
    return profile.scope(select=["micros"], max_depth=9, **options)[name]["micros"]


def labels(profile):
    return [one.label for one in profile.recordings]


# Two hosts


def test_each_host_of_a_capture_is_a_recording(hosts):
    profile = tfprof.load(hosts)

    assert [(one.label, one.host) for one in profile.recordings] == [
        ("host-a", "host-a"),
        ("host-b", "host-b"),
    ]
    assert {one.framework for one in profile.recordings} == {"tensorflow"}


def test_a_file_may_name_its_host(tmp_path):
    data = recording(host(t=[event("a:Mul", 0, 5)])) + span(4, "the-host")
    (tmp_path / "x.xplane.pb").write_bytes(data)

    assert labels(tfprof.load(tmp_path / "x.xplane.pb")) == ["the-host"]


def test_the_steps_of_a_second_host_keep_their_numbers(hosts):
    profile = tfprof.load(hosts)

    steps = profile.columns.steps
    assert steps.recording.tolist() == [0, 0, 1, 1]
    assert steps.number.tolist() == [4, 5, 4, 5]
    assert profile.steps == [4, 5]


def test_each_host_has_its_own_devices(hosts):
    devices = tfprof.load(hosts).columns.devices

    of_hosts = Counter(zip(devices.recording.tolist(), devices.name, strict=True))
    assert set(of_hosts.values()) == {1}
    assert {name for _, name in of_hosts} == {
        "/device:cpu:0",
        "/device:gpu:0",
        "/device:gpu:0/stream:all",
    }
    assert len(of_hosts) == 6


def test_an_answer_covers_one_host_or_all(hosts):
    profile = tfprof.load(hosts)

    assert micros(profile, "net/a", recording="host-a") == 3.4
    assert micros(profile, "net/a", recording=["host-b"]) == pytest.approx(10.2)
    assert micros(profile, "net/a") == pytest.approx(6.8)
    assert micros(profile, "net/a", step=5) == pytest.approx(6.8)
    assert micros(profile, "net/a", step=5, recording="host-.*") == pytest.approx(6.8)


def test_a_trace_has_every_run_of_every_host(hosts, tmp_path):
    profile = tfprof.load(hosts)
    profile.graph(max_depth=9).write(f"perfetto:outfile={tmp_path / 'trace'}")

    trace = Trace((tmp_path / "trace").read_bytes())
    runs = [one for one in trace.slices if one.track.startswith("lane")]
    assert len(runs) == len(profile.columns.executions) == 8
    assert Counter(one.process for one in runs) == {
        "host-a: device:gpu:0": 2,
        "host-a: device:gpu:0/stream:all": 2,
        "host-b: device:gpu:0": 2,
        "host-b: device:gpu:0/stream:all": 2,
    }
    kernels = [one.duration for one in runs if one.process == "host-a: device:gpu:0/stream:all"]
    assert kernels == [1400, 1400]


def test_each_step_of_each_host_has_a_timeline(hosts, tmp_path):
    written = tfprof.load(hosts).graph(max_depth=9).write(f"timeline:outfile={tmp_path / 'tl'}")

    assert [file.path.rpartition("/")[2] for file in written] == [
        "tl_host-a_4",
        "tl_host-a_5",
        "tl_host-b_4",
        "tl_host-b_5",
    ]


# Two workers


def test_workers_with_different_tasks_are_separate_recordings(workers):
    profile = tfprof.load(*sorted(workers.iterdir()))

    ranks = {one.label: one.rank for one in profile.recordings}
    assert ranks == {"worker:0": 0, "worker:1": 1}
    assert profile.columns.steps.number.tolist() == [0, 0]


def test_an_answer_covers_one_worker_or_all(workers):
    profile = tfprof.load(*sorted(workers.iterdir()))

    assert micros(profile, "net/a", rank=0) == 4
    assert micros(profile, "net/a", rank=[1]) == 10
    assert micros(profile, "net/a") == 7
    assert micros(profile, "net/a", recording="worker:1", step=0) == 10


def test_an_op_shows_the_device_of_each_worker(workers):
    profile = tfprof.load(*sorted(workers.iterdir()))

    assert profile.scope(select=["device"])["net/b"]["devices"] == [
        device(0).lower(),
        device(1).lower(),
    ]


def one_run(worker=None, micros=3):
    name = "/job:localhost/replica:0/task:0/device:CPU:0" if worker is None else device(worker)
    return run_metadata((name, [stats("a", 100, micros)]))


@pytest.mark.parametrize(
    ("names", "numbered", "expected"),
    [
        (["run_meta_1", "run_meta_2"], [None, None], [(0, 0), (0, 1)]),
        (["w0/run_meta", "w1/run_meta"], [None, None], [(0, 0), (1, 0)]),
        (["w0/a", "w0/b", "w1/a", "w1/b"], [None] * 4, [(0, 0), (0, 1), (1, 0), (1, 1)]),
        (["step_1/a", "step_2/b"], [None, None], [(0, 0), (0, 1)]),
        (["a", "b"], [5, 9], [(0, 5), (0, 9)]),
        (["a", "b"], [5, 5], [(0, 5), (1, 5)]),
        (["a", "b", "c"], [None, 5, None], [(0, 0), (0, 5), (0, 6)]),
    ],
)
def test_files_of_one_process_are_steps_of_one_recording(names, numbered, expected, tmp_path):
    paths = [tmp_path / name for name in names]
    for path in paths:
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(one_run())
    given = ",".join(
        str(path) if step is None else f"{step}:{path}"
        for path, step in zip(paths, numbered, strict=True)
    )

    steps = tfprof.load(run_meta_path=given).columns.steps

    assert list(zip(steps.recording.tolist(), steps.number.tolist(), strict=True)) == expected


def test_a_file_with_fewer_tasks_continues_a_recording(tmp_path):
    server = "/job:ps/replica:0/task:0/device:CPU:0"
    both = run_metadata((device(0), [stats("a")]), (server, [stats("b")]))
    (tmp_path / "a").write_bytes(both)
    (tmp_path / "b").write_bytes(run_metadata((server, [stats("b")])))

    assert labels(tfprof.load(tmp_path / "a", tmp_path / "b")) == ["worker:0"]


# Choosing


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"recording": "nosuch"}, "No recording matches `nosuch`. Recordings: worker:0, worker:1."),
        ({"rank": 7}, "No rank 7. Ranks: 0, 1."),
        ({"step": 3}, "No step 3. Recorded: 0"),
    ],
)
def test_the_error_for_an_unknown_step_or_recording_lists_the_known_ones(
    workers, options, complaint
):
    profile = tfprof.load(*sorted(workers.iterdir()))

    with pytest.raises(OptionError, match="^" + complaint.replace(".", r"\.").replace("`", ".")):
        profile.scope(**options)


def test_a_step_of_another_recording_is_refused(tmp_path):
    for task, name in enumerate(("a", "b")):
        (tmp_path / name).write_bytes(run_metadata((device(task), [stats("op")])))
    steps = {0: tmp_path / "a", 1: tmp_path / "b"}

    with pytest.raises(OptionError, match="Step 1 was not recorded by the chosen recordings"):
        tfprof.load(run_meta_path=steps).scope(step=1, recording="worker:0")


def test_a_rank_cannot_be_chosen_if_ranks_are_unknown(hosts):
    with pytest.raises(OptionError, match="Ranks: unknown"):
        tfprof.load(hosts).scope(rank=0)


def test_recordings_can_be_chosen_on_the_command_line(workers, capsys):
    files = sorted(map(str, workers.iterdir()))

    assert main(["scope", *files, "-recording", "worker:1", "--json"]) == 0

    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)["rows"]}
    assert rows["net/a"]["micros"] == 10


def test_advice_is_about_one_step_of_one_host():
    runs = [
        run("a", micros, step=4, device=device, recording=host)
        for host, slower in (("host-a", 1), ("host-b", 3))
        for device, micros in ((GPU, 10_000 * slower), (GPU_STREAM, 100))
    ]

    (finding,) = Profile(built(*runs)).advise("IdleAcceleratorChecker")

    assert "of step 4 of host-a" in finding.sentence
    assert finding.command[-4:] == ("-step", "4", "-recording", r"host\-a")
