"""What remains when `collect` or a worker is stopped or killed, and other matters of processes."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from collected_stores import contents, recorded, session_members

from command_runs import (
    ENVIRONMENT,
    SECONDS,
    is_one_line,
    obey_permissions,
    require_permissions,
    tfprof,
    wait_until,
)
from held_commands import OPENED, RENAMED, held

pytestmark = pytest.mark.process

HOSTS = 6
ALL = {f"host-{number}" for number in range(HOSTS)}
SIGNALS = {signal.SIGINT: 130, signal.SIGTERM: 128 + signal.SIGTERM}

# An event, a part of the name of its file, and how many partitions are visible then.
MOMENTS = {
    "before the first file is read": (OPENED, "host-0.xplane", 0),
    "while a table is written": (RENAMED, "/steps/", 0),
    "before a partition is visible": (RENAMED, "/partitions/", 0),
    "between two files": (OPENED, "host-4.xplane", 4),
    "while the index is written": (RENAMED, "/model-", HOSTS),
    "before the index is visible": (RENAMED, "/index.json", HOSTS),
}


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    """The traces of a few hosts."""
    folder = tmp_path_factory.mktemp("fleet")
    assert len(recorded(folder)) == HOSTS
    return folder


@pytest.fixture(scope="module")
def whole(traces, tmp_path_factory):
    """The files of the store that an uninterrupted command makes."""
    store = tmp_path_factory.mktemp("stores") / "whole"
    ran = tfprof("collect", traces, "-o", store, "--jobs", 1)
    assert ran.returncode == 0, ran.stderr
    return contents(store)


@pytest.fixture
def store(tmp_path):
    return tmp_path / "store"


@pytest.fixture
def hold(traces, store, tmp_path):
    """Starts the command, which is held at a moment; all its processes have ended afterwards."""

    @contextmanager
    def start(event, path, *, jobs):
        words = ("collect", traces, "-o", store, "--jobs", jobs)
        with held(tmp_path / "hook", event, path, *words) as holding:
            yield holding
            holding.command.kill()
            holding.command.wait()
            wait_until(lambda: not session_members(holding.command.pid), "end of the workers")

    return start


def collected(store):
    """The hosts whose partitions are visible in a store."""
    manifests = [json.loads(path.read_bytes()) for path in store.glob("partitions/*.json")]
    return {Path(manifest["source"]).name.partition(".")[0] for manifest in manifests}


@pytest.mark.parametrize("number", SIGNALS)
def test_a_command_that_is_stopped_leaves_whole_partitions_and_can_be_continued(
    traces, whole, store, hold, number
):
    with hold(OPENED, "host-3.xplane", jobs=2) as holding:
        wait_until(lambda: collected(store) == ALL - {"host-3"}, "other files", holding.command)
        os.killpg(holding.command.pid, number)  # as a terminal does
        error = holding.command.communicate(timeout=SECONDS)[1]

    assert holding.command.returncode == SIGNALS[number]
    assert re.fullmatch(
        r"tfprof: \d of 6 files done; the same command continues\.\ntfprof: stopped\.\n", error
    )
    assert collected(store) == ALL - {"host-3"}
    assert contents(store).items() <= whole.items()

    assert tfprof("collect", traces, "-o", store).returncode == 0
    assert contents(store) == whole


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_command_that_is_killed_at_any_moment_can_be_continued(
    traces, whole, store, hold, moment
):
    event, path, hosts = MOMENTS[moment]
    with hold(event, path, jobs=1) as holding:
        os.kill(holding.command.pid, signal.SIGKILL)

    assert len(collected(store)) == hosts
    assert contents(store).items() - whole.items() <= _unfinished(store)
    assert not (store / "index" / "index.json").exists()

    assert tfprof("collect", traces, "-o", store, "--jobs", 1).returncode == 0
    assert contents(store) == whole


def _unfinished(store):
    """The temporary files in a store."""
    return {(name, data) for name, data in contents(store).items() if "/.tfprof-" in name}


def test_a_worker_that_is_killed_does_not_stop_the_others(whole, store, hold):
    with hold(OPENED, "host-3.xplane", jobs=2) as holding:
        assert holding.pid != holding.command.pid
        os.kill(holding.pid, signal.SIGKILL)
        error = holding.command.communicate(timeout=SECONDS)[1]

    assert holding.command.returncode == 0
    assert "collected 6 files" in error
    assert contents(store) == whole


def test_a_folder_without_permission_is_an_error(tmp_path):
    require_permissions(tmp_path)
    (tmp_path / "run" / "locked").mkdir(parents=True, mode=0o000)

    for source in ("run", "run/locked", "run/locked/host.xplane.pb"):
        ran = tfprof("collect", source, "-o", "store", cwd=tmp_path, preexec_fn=obey_permissions)

        assert ran.returncode == 1
        assert is_one_line(ran.stderr)
        assert "Permission denied" in ran.stderr


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
