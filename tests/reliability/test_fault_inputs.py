"""Faults of input files: each gives the right answer, or one line that says what is wrong."""

from __future__ import annotations

import os
import socket
import subprocess
import threading
import time

import pytest

from command_runs import (
    ENVIRONMENT,
    TFPROF,
    big_graph,
    is_one_line,
    obey_permissions,
    require_permissions,
    tfprof,
)
from model_files import RunMetadata

pytestmark = [
    pytest.mark.usefixtures("files"),
    pytest.mark.skipif(os.name == "nt", reason="Windows has no such files"),
]


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/urandom", "/dev/null", "/dev/full"])
def test_a_device_is_refused(path):
    ran = tfprof("op", path)

    assert ran.returncode == 1
    assert ran.stderr == f"tfprof: {path}: is a device, not a file; check the path.\n"


@pytest.mark.parametrize("path", ["/proc/self/maps", "/proc/self/mem", "/proc/self/fd"])
def test_a_file_of_the_kernel_is_refused(path):
    ran = tfprof("op", path)

    assert ran.returncode == 1
    assert is_one_line(ran.stderr)


def test_a_pipe_is_read_to_its_end(files):
    with (files / "graph.pb").open("rb") as graph:
        from_pipe = subprocess.run(
            [*TFPROF, "op", "/dev/stdin", "-select", "params"],
            input=graph.read(),
            capture_output=True,
            check=False,
            env=ENVIRONMENT,
        )

    assert from_pipe.returncode == 0
    assert from_pipe.stdout.decode() == tfprof("op", "graph.pb", "-select", "params").stdout


def test_a_named_pipe_is_read_to_its_end(files):
    os.mkfifo(files / "pipe")
    content = (files / "graph.pb").read_bytes()
    threading.Thread(target=(files / "pipe").write_bytes, args=[content], daemon=True).start()

    ran = tfprof("op", "pipe", "-select", "params")

    assert ran.returncode == 0
    assert ran.stdout == tfprof("op", "graph.pb", "-select", "params").stdout


def test_a_socket_is_refused():
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        ran = tfprof("op", "socket")

    assert ran.returncode == 1
    assert ran.stderr.startswith("tfprof: socket: cannot be read: ")
    assert is_one_line(ran.stderr)


@pytest.mark.parametrize(
    ("target", "problem"),
    [
        ("gone", "no such file; check the path."),
        ("link", "cannot be read: Too many levels of symbolic links."),
    ],
)
def test_a_link_that_leads_nowhere_is_an_error(target, problem, files):
    (files / "link").symlink_to(target)

    ran = tfprof("op", "link")

    assert (ran.returncode, ran.stderr) == (1, f"tfprof: link: {problem}\n")


def test_an_unreadable_file_is_an_error(files):
    require_permissions(files)
    (files / "graph.pb").chmod(0o000)

    ran = tfprof("op", "graph.pb", preexec_fn=obey_permissions)

    assert ran.returncode == 1
    assert ran.stderr == "tfprof: graph.pb: permission denied; check the file's permissions.\n"


@pytest.mark.parametrize("path", ["locked", "locked/graph.pb"])
def test_a_folder_without_permission_is_an_error(path, files):
    require_permissions(files)
    (files / "locked").mkdir()
    (files / "graph.pb").rename(files / "locked" / "graph.pb")
    (files / "locked").chmod(0o000)

    ran = tfprof("op", path, preexec_fn=obey_permissions)
    (files / "locked").chmod(0o700)

    assert ran.returncode == 1
    assert is_one_line(ran.stderr)
    assert "permission denied" in ran.stderr


@pytest.mark.parametrize("change", ["truncated", "extended", "replaced"])
def test_a_file_that_changes_while_it_is_read_gives_the_old_or_the_new_answer(change, files):
    # A file that is being written grows page by page. Ops of 4,099 bytes never end with a page, so
    # that no moment in between looks like a complete file.
    whole = big_graph(files / "big.pb", 1_600, longer=4_069).read_bytes()
    half = big_graph(files / "half.pb", 800, longer=4_069).read_bytes()
    assert len(whole) == 1_600 * 4_099
    wanted = [tfprof("op", name, "-select", "occurrence").stdout for name in ("big.pb", "half.pb")]
    stop = threading.Event()

    def keep_changing():
        while not stop.wait(0.01):
            if change == "replaced":
                (files / "new.pb").write_bytes(half)
                (files / "new.pb").replace(files / "big.pb")
                continue
            with (files / "big.pb").open("r+b") as file:
                file.truncate(len(half) if change == "truncated" else 0)
                file.write(b"" if change == "truncated" else whole[: len(half)])
                time.sleep(0.005)
                file.write(whole[len(half) :])

    changer = threading.Thread(target=keep_changing, daemon=True)
    changer.start()
    runs = [tfprof("op", "big.pb", "-select", "occurrence") for _ in range(4)]
    stop.set()
    changer.join()

    for ran in runs:
        if ran.returncode:
            assert (ran.returncode, ran.stdout) == (1, "")
            assert is_one_line(ran.stderr)
        else:
            assert ran.stdout in wanted


def test_a_clock_that_jumps_back_does_not_change_the_time_of_ops(files):
    recorded = RunMetadata.FromString((files / "run_meta_0").read_bytes())
    stats = recorded.step_stats.dev_stats[0].node_stats
    for entry in stats[len(stats) // 2 :]:
        entry.all_start_micros -= 3_600_000_000
    (files / "jumped").write_bytes(recorded.SerializeToString())

    before = tfprof("op", "graph.pb", "run_meta_0", "-select", "micros")
    after = tfprof("op", "graph.pb", "jumped", "-select", "micros")

    assert (after.returncode, after.stdout) == (0, before.stdout)
    for view in (["steps"], ["scope", "-output", "timeline:outfile=t"], ["advise"]):
        assert tfprof(*view[:1], "graph.pb", "jumped", *view[1:]).returncode == 0
