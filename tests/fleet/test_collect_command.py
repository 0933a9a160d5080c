"""The command `collect`: messages, exit status, and what remains when it is stopped or killed."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest
from collected_stores import contents, recorded, session_members

from command_runs import (
    ENVIRONMENT,
    TFPROF,
    enable_signals,
    is_one_line,
    obey_permissions,
    require_permissions,
    tfprof,
)
from fleets import Job

HOSTS = 6


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    """The traces of a few hosts, large enough to be killed while they are read."""
    folder = tmp_path_factory.mktemp("fleet")
    recorded(folder, Job(hosts=HOSTS, steps=6, layers=4, microbatches=20))
    return folder


@pytest.fixture(scope="module")
def whole(traces, tmp_path_factory):
    """The files of the store that an uninterrupted command makes."""
    store = tmp_path_factory.mktemp("stores") / "whole"
    ran = tfprof("collect", traces, "-o", store, "--jobs", 1)
    assert ran.returncode == 0, ran.stderr
    return contents(store)


@contextmanager
def running(traces, store):
    """The command in a session of its own; all its processes have ended afterwards."""
    with subprocess.Popen(
        [*TFPROF, "collect", str(traces), "-o", str(store), "--jobs", "2"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
        start_new_session=True,
        preexec_fn=enable_signals,  # noqa: PLW1509 -- no other thread runs here
    ) as process:
        try:
            yield process
        finally:
            process.kill()
            process.wait()
            until = time.monotonic() + 20
            while session_members(process.pid):
                assert time.monotonic() < until, "a worker outlived the command"
                time.sleep(0.05)


def wait_for_partitions(process, store, count):
    """Wait until the store has that many partitions, or the process has ended."""
    while process.poll() is None and len(list(store.glob("partitions/*.json"))) < count:
        time.sleep(0.001)


def test_the_summary_says_what_was_read_and_written(traces, tmp_path):
    ran = tfprof("collect", traces, "-o", tmp_path / "store")

    assert ran.returncode == 0
    assert ran.stdout == ""
    assert is_one_line(ran.stderr)
    assert re.fullmatch(
        rf"tfprof: {tmp_path}/store: collected 6 files in [\d.]+ s; "
        r"read [\d.]+[KM]B, wrote [\d.]+[KM]B \([\d.]+%\)\.\n",
        ran.stderr,
    )


def test_the_summary_can_be_json(traces, whole, tmp_path):
    for name, data in whole.items():
        (tmp_path / "store" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "store" / name).write_bytes(data)

    ran = tfprof("collect", traces, "-o", tmp_path / "store", "--json")

    answer = json.loads(ran.stdout)
    assert ran.stderr == ""
    assert {name: answer[name] for name in ("schema", "files", "finished", "collected")} == {
        "schema": "tfprof/collected/1",
        "files": HOSTS,
        "finished": HOSTS,
        "collected": 0,
    }


def test_damaged_files_are_reported_in_one_line_each_and_if_there_are_no_others_the_status_is_1(
    tmp_path,
):
    for name in ("a", "b"):
        (tmp_path / f"{name}.xplane.pb").write_bytes(b"\x0a\xffdamaged")

    ran = tfprof("collect", tmp_path, "-o", tmp_path / "store", "--jobs", 1)

    assert ran.returncode == 1
    *skipped, summary = ran.stderr.splitlines()
    assert [line.partition(":")[2].partition(":")[0].strip() for line in skipped] == [
        f"skipped {tmp_path}/a.xplane.pb",
        f"skipped {tmp_path}/b.xplane.pb",
    ]
    assert re.search(r"collected 0 files in [\d.]+ s; 2 files skipped\.$", summary)


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (("-o", "store"), 2, "No sources: list files, folders or patterns after the command."),
        (("runs",), 2, "`collect` requires --outfile STORE"),
        (("missing", "-o", "store"), 1, "missing: cannot be read: No such file"),
        (("missing", "-o", "store", "--jobs", "-1"), 2, "`jobs` takes a number of processes"),
        (
            ("missing", "-o", "store", "--jobs", "2", "--scheduler", "tcp://a:1"),
            2,
            "Choose one of `scheduler` and `jobs`.",
        ),
        (("missing", "-o", "store", "--graph_path", "g"), 2, "Name the file after the command."),
    ],
)
def test_a_mistake_gives_one_line(tmp_path, words, status, message):
    ran = tfprof("collect", *words, cwd=tmp_path)

    assert ran.returncode == status
    assert is_one_line(ran.stderr)
    assert message in ran.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_folder_without_permission_is_an_error(tmp_path):
    require_permissions(tmp_path)
    (tmp_path / "run" / "locked").mkdir(parents=True, mode=0o000)

    for source in ("run", "run/locked", "run/locked/host.xplane.pb"):
        ran = tfprof("collect", source, "-o", "store", cwd=tmp_path, preexec_fn=obey_permissions)

        assert ran.returncode == 1
        assert is_one_line(ran.stderr)
        assert "Permission denied" in ran.stderr


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 128 + signal.SIGTERM)]
)
def test_a_command_that_is_stopped_leaves_whole_partitions_and_can_be_continued(
    traces, whole, tmp_path, number, status
):
    store = tmp_path / "store"
    with running(traces, store) as process:
        wait_for_partitions(process, store, 1)
        os.killpg(process.pid, number)  # as a terminal does
        error = process.communicate(timeout=30)[1]

    assert process.returncode == status
    assert re.fullmatch(
        r"tfprof: \d of 6 files done; the same command continues\.\ntfprof: stopped\.\n", error
    )
    left = contents(store)
    assert left.items() <= whole.items()
    assert 1 <= sum(name.startswith("partitions/") for name in left) <= HOSTS

    assert tfprof("collect", traces, "-o", store).returncode == 0
    assert contents(store) == whole


def test_a_command_that_is_killed_at_any_moment_can_be_continued(traces, whole, tmp_path):
    store = tmp_path / "store"
    moments = random.Random(0)  # noqa: S311 -- the moments also depend on the machine

    for count in (0, 1, 3, HOSTS):
        with running(traces, store) as process:
            wait_for_partitions(process, store, count)
            time.sleep(moments.uniform(0, 0.3))
            os.kill(process.pid, signal.SIGKILL)
        visible = {name: data for name, data in contents(store).items() if "partitions/" in name}
        assert visible.items() - whole.items() <= _unfinished(visible)

    assert tfprof("collect", traces, "-o", store).returncode == 0
    assert contents(store) == whole


def _unfinished(files):
    """The temporary files among `files`."""
    return {(name, data) for name, data in files.items() if "/.tfprof-" in name}


def test_a_worker_that_is_killed_does_not_stop_the_others(traces, whole, tmp_path):
    store = tmp_path / "store"
    with running(traces, store) as process:
        wait_for_partitions(process, store, 1)
        workers = [pid for pid in session_members(process.pid) if _is_worker(pid)]
        os.kill(workers[0], signal.SIGKILL)
        error = process.communicate(timeout=60)[1]

    assert process.returncode == 0
    assert "collected 6 files" in error
    assert contents(store) == whole


def test_many_damaged_files_are_counted_but_not_all_named(tmp_path):
    for number in range(30):
        (tmp_path / f"{number}.xplane.pb").touch()

    ran = tfprof("collect", tmp_path, "-o", tmp_path / "store", "--jobs", 1)

    assert len(ran.stderr.splitlines()) == 21
    assert "30 files skipped" in ran.stderr


def test_a_script_without_a_main_guard_can_collect(traces, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(f"import tfprof\nprint(tfprof.collect({str(traces)!r}, 'store').collected)\n")

    ran = subprocess.run(
        [sys.executable, str(script)],
        cwd=tmp_path,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (ran.stdout, ran.stderr) == (f"{HOSTS}\n", "")


def _is_worker(pid):
    with open(f"/proc/{pid}/cmdline", "rb") as file:  # noqa: PTH123 -- not a path of a file
        return b"spawn_main" in file.read()
