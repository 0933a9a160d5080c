"""Too little of something: memory, descriptors, threads; and ten thousand files."""

from __future__ import annotations

import os
import resource

import pytest

from command_runs import big_graph, limited, shell, tfprof

pytestmark = [
    pytest.mark.process,
    pytest.mark.usefixtures("files"),
    pytest.mark.skipif(os.name == "nt", reason="Windows has no such limits"),
]

NO_MEMORY = "tfprof: not enough memory; give fewer files, or use a machine with more memory.\n"
MEGABYTE = 1 << 20


@pytest.mark.parametrize("most", [110, 130, 150, 170, 190])
def test_too_little_memory_gives_the_answer_or_one_line(most, files):
    big_graph(files / "big.pb", 100_000)
    limit = limited(resource.RLIMIT_AS, most * MEGABYTE)

    ran = tfprof("op", "big.pb", "-select", "occurrence", preexec_fn=limit)

    if ran.returncode:
        assert (ran.returncode, ran.stdout, ran.stderr) == (1, "", NO_MEMORY)
    else:
        assert "100000" in ran.stdout


def test_a_file_that_does_not_fit_into_memory_is_an_error(files):
    with (files / "graph.pb").open("ab") as file:
        file.truncate(1 << 30)
    limit = limited(resource.RLIMIT_AS, 800 * MEGABYTE)

    ran = tfprof("op", "graph.pb", preexec_fn=limit)

    assert (ran.returncode, ran.stdout, ran.stderr) == (1, "", NO_MEMORY)


def test_few_descriptors_are_enough():
    limit = limited(resource.RLIMIT_NOFILE, 20)

    ran = tfprof("op", "graph.pb", "run_meta_0", "tfprof_log", preexec_fn=limit)

    assert (ran.returncode, ran.stderr) == (0, "")


def test_large_files_do_not_use_up_the_descriptors(files):
    big_graph(files / "big.pb", 40_000)  # large enough to stay open
    parts = [f"part_{number}.pb" for number in range(12)]
    for part in parts:
        os.link("big.pb", part)

    ran = shell('ulimit -n 14; "$@"', "op", *parts, "-select", "occurrence")

    assert (ran.returncode, ran.stderr) == (0, "")


def test_without_threads_files_are_read_one_after_another():
    # Root is not subject to the limit.
    limit = limited(resource.RLIMIT_NPROC, 1)

    ran = tfprof("op", "graph.pb", "run_meta_0", "-select", "micros", preexec_fn=limit)

    assert (ran.returncode, ran.stderr) == (0, "")


def test_ten_thousand_files_are_read_with_64_descriptors(files):
    (files / "runs").mkdir()
    for number in range(10_000):
        os.link("run_meta_0", f"runs/{number:05}")

    ran = shell('ulimit -n 64; "$@" runs/*', "op", "graph.pb", "-select", "micros,occurrence")

    assert (ran.returncode, ran.stderr) == (0, "")
    assert "1.50ms" in ran.stdout
