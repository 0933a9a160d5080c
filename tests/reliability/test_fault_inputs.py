"""Faults of input files: each gives the right answer, or one line that says what is wrong."""

from __future__ import annotations

import io
import itertools
import os
import socket
import subprocess
from pathlib import Path

import pytest

from command_runs import (
    ENVIRONMENT,
    TFPROF,
    big_graph,
    is_one_line,
    obey_permissions,
    require_permissions,
    shell,
    tfprof,
)
from model_files import RunMetadata
from tfprof.cli import main

pytestmark = [
    pytest.mark.usefixtures("files"),
    pytest.mark.skipif(os.name == "nt", reason="Windows has no such files"),
]


@pytest.fixture
def run(capsys):
    """Runs a command line in this process; returns its status, its answer and its notes."""

    def run(*words):
        return main(list(words)), *capsys.readouterr()

    return run


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/urandom", "/dev/null", "/dev/full"])
def test_a_device_is_refused(path, run):
    message = f"tfprof: {path}: is a device, not a file; check the path.\n"

    assert run("op", path) == (1, "", message)


@pytest.mark.parametrize("path", ["/proc/self/maps", "/proc/self/mem", "/proc/self/fd"])
def test_a_file_of_the_kernel_is_refused(path, run):
    status, _, error = run("op", path)

    assert status == 1
    assert is_one_line(error)


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

    # `cat` waits until the command opens the pipe, if it does.
    script = 'cat graph.pb > pipe & "$@"; status=$?; kill $! 2> /dev/null; exit $status'
    ran = shell(script, "op", "pipe", "-select", "params")

    assert ran.returncode == 0
    assert ran.stdout == tfprof("op", "graph.pb", "-select", "params").stdout


def test_a_socket_is_refused(run):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        status, _, error = run("op", "socket")

    assert status == 1
    assert error.startswith("tfprof: socket: cannot be read: ")
    assert is_one_line(error)


@pytest.mark.parametrize(
    ("target", "problem"),
    [
        ("gone", "no such file; check the path."),
        ("link", "cannot be read: Too many levels of symbolic links."),
    ],
)
def test_a_link_that_leads_nowhere_is_an_error(target, problem, files, run):
    (files / "link").symlink_to(target)

    assert run("op", "link") == (1, "", f"tfprof: link: {problem}\n")


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


OP_BYTES = 4_099  # never a number of whole pages, so a file that grew by pages ends inside an op
WHOLE, HALF = 600, 300  # ops; a file with half of them is also large enough to stay open


def truncate(_):
    """Cut the file to half of its ops."""
    os.truncate("big.pb", HALF * OP_BYTES)
    yield


def replace(_):
    """Replace the file with one of half of the ops."""
    Path("half.pb").replace("big.pb")
    yield


def rewrite(content):
    """Write the file again, in two steps; after the first one, an op is cut short."""
    written = HALF * OP_BYTES + OP_BYTES // 2
    os.truncate("big.pb", written)
    yield
    file = os.open("big.pb", os.O_WRONLY)
    os.pwrite(file, content[written:], written)
    os.close(file)
    yield


class Looks:
    """Counts each time that this process opens, checks or reads a file.

    From look number `start` on, a step of `steps` is taken before each look.
    """

    def __init__(self, monkeypatch):
        self.begin(0, iter(()))

        class File(io.FileIO):
            read = self.noted(io.FileIO.read)
            readall = self.noted(io.FileIO.readall)
            readinto = self.noted(io.FileIO.readinto)

        def opened(path, mode="r", buffering=-1, *others):
            if mode != "rb":
                return plain(path, mode, buffering, *others)
            file = self.noted(File)(path, mode)
            return io.BufferedReader(file) if buffering else file

        plain = io.open
        monkeypatch.setattr(io, "open", opened)
        for name in ("fstat", "pread"):
            monkeypatch.setattr(os, name, self.noted(getattr(os, name)))

    def begin(self, start, steps):
        self.count, self.start, self.steps = 0, start, steps

    def noted(self, call):
        def look(*values):
            if self.count >= self.start:
                next(self.steps, None)
            self.count += 1
            return call(*values)

        return look


@pytest.mark.parametrize(
    ("change", "outcomes"),
    [
        (truncate, {"old", "new", "refused"}),
        (replace, {"old", "new"}),
        (rewrite, {"old", "refused"}),
    ],
)
def test_a_file_that_changes_while_it_is_read_gives_the_old_or_the_new_answer(
    change, outcomes, files, run, monkeypatch
):
    big, half = files / "big.pb", files / "half.pb"
    contents, answers = [], []
    for ops in (WHOLE, HALF):
        contents.append(big_graph(big, ops, longer=OP_BYTES - 30).read_bytes())
        assert len(contents[-1]) == ops * OP_BYTES
        answers.append(run("op", "big.pb", "-select", "occurrence"))
    known = dict(zip(answers, ("old", "new"), strict=True))
    looks = Looks(monkeypatch)

    found = []
    for start in itertools.count():
        big.write_bytes(contents[0])
        half.write_bytes(contents[1])
        os.utime(big, (1, 1))  # however soon the file changes, it then has another time
        looks.begin(start, change(contents[0]))
        found.append(run("op", "big.pb", "-select", "occurrence"))
        if looks.count <= start:
            break

    for ran in found:
        assert ran in known or (ran[:2] == (1, "") and is_one_line(ran[2]))
    assert {known.get(ran, "refused") for ran in found} == outcomes
    assert found[-1] == answers[0]


def test_a_clock_that_jumps_back_does_not_change_the_time_of_ops(files, run):
    recorded = RunMetadata.FromString((files / "run_meta_0").read_bytes())
    stats = recorded.step_stats.dev_stats[0].node_stats
    for entry in stats[len(stats) // 2 :]:
        entry.all_start_micros -= 3_600_000_000
    (files / "jumped").write_bytes(recorded.SerializeToString())

    before = run("op", "graph.pb", "run_meta_0", "-select", "micros")
    after = run("op", "graph.pb", "jumped", "-select", "micros")

    assert (after[0], after) == (0, before)
    for view in (["steps"], ["scope", "-output", "timeline:outfile=t"], ["advise"]):
        assert run(*view[:1], "graph.pb", "jumped", *view[1:])[0] == 0
