"""Tests of `peak_memory` and `own_process`."""

import os

import pytest

import own_process
import peak_memory
from own_process import result_in_own_process

MEGABYTE = 1 << 20


def content(path):
    with open(path, "rb") as file:  # noqa: PTH123 -- has no other import to load
        return len(file.read())


def refuse(word):
    raise ValueError(f"no {word}")


def wait_forever():
    print("waiting", flush=True)
    read, _ = os.pipe()
    os.read(read, 1)


def test_a_call_counts_what_it_allocates_at_its_peak():
    found = peak_memory.allocated(lambda: [len(bytes(size * MEGABYTE)) for size in (3, 9, 1)])

    assert 9 * MEGABYTE <= found < 10 * MEGABYTE


@peak_memory.needs_resident
def test_a_question_counts_what_its_files_take_beyond_small_ones(tmp_path):
    sizes = {"small": 1, "large": 64}
    paths = {name: tmp_path / name for name in sizes}
    for name, path in paths.items():
        path.write_bytes(bytes(sizes[name] * MEGABYTE))

    found = peak_memory.resident(content, [paths["large"]], before=[paths["small"]])

    assert 60 * MEGABYTE < found < 70 * MEGABYTE


def test_a_process_of_its_own_is_another_one():
    assert result_in_own_process(process_number) != os.getpid()


def process_number():
    return os.getpid()


def test_a_function_that_raises_in_its_own_process_fails_with_the_traceback():
    with pytest.raises(AssertionError, match=r"(?s)test_peak_memory:refuse failed: .*no luck"):
        result_in_own_process(refuse, "luck")


def test_a_function_that_never_ends_fails_with_what_was_awaited(monkeypatch):
    monkeypatch.setattr(own_process, "_MAX_SECONDS", 1)

    with pytest.raises(AssertionError, match="wait_forever did not end within 1 seconds"):
        result_in_own_process(wait_forever)
