"""No test leaves a process, a thread, a socket or a temporary file behind."""

from __future__ import annotations

import contextlib
import gc
import os
import tempfile
import threading
import time
from collections.abc import Callable, Hashable, Mapping
from pathlib import Path

import pytest

# Ended processes and threads may take a moment to disappear on a busy machine.
_MAX_SECONDS = 30

# Python and frameworks keep these until the process ends, whichever test needed them first.
_KEPT = (
    *("multiprocessing.resource_tracker", "multiprocessing.forkserver"),
    *("torch/_inductor/compile_worker", "torchinductor_"),
    *("__autograph_generated_file", "__pycache__"),  # of TensorFlow
    *("Dask-Offload", "Profile", "IO loop"),
)

_HAS_PROC = Path("/proc/self/fd").exists()

Things = Mapping[Hashable, str]


_HAS_FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    report = yield
    item.stash[_HAS_FAILED] = item.stash.get(_HAS_FAILED, False) or report.failed
    return report


@pytest.fixture(autouse=True)
def _nothing_left(_temporary_folder, request):
    before = {name: list_things() for name, list_things in _KINDS.items()}
    yield
    if request.node.stash[_HAS_FAILED]:
        return  # its traceback keeps what it used
    for name, list_things in _KINDS.items():
        left = _left(list_things, before[name])
        assert not left, f"the test left {name} behind: {', '.join(sorted(left.values()))}"


def _left(list_things: Callable[[], Things], before: Things) -> Things:
    """What is there and was not before; waits until it is gone, if it goes."""
    deadline = time.monotonic() + _MAX_SECONDS
    while True:
        left = {
            key: text
            for key, text in list_things().items()
            if key not in before and not any(part in text for part in _KEPT)
        }
        if not left or time.monotonic() > deadline:
            return left
        gc.collect()  # a reference cycle may hold it
        time.sleep(0.01)


@pytest.fixture(scope="session")
def _temporary_folder(tmp_path_factory):
    """A folder of its own for temporary files, so that those of other programs do not count."""
    folder = tmp_path_factory.mktemp("temporary")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(folder))
        patch.setattr(tempfile, "tempdir", None)
        yield folder


def _processes() -> Things:
    found = {}
    for listed in Path("/proc/self/task").glob("*/children"):
        for pid in _text(listed).split():
            found[pid] = _text(Path("/proc", pid, "cmdline")).replace("\0", " ") or f"ended {pid}"
    return found


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:  # ended in the meantime
        return ""


def _threads() -> Things:
    return {thread.ident: thread.name for thread in threading.enumerate()}


def _sockets() -> Things:
    found = {}
    for number in os.listdir("/proc/self/fd") if _HAS_PROC else ():  # noqa: PTH208 -- faster
        with contextlib.suppress(OSError):  # the descriptor of the folder itself is closed
            target = os.readlink(f"/proc/self/fd/{number}")  # noqa: PTH115 -- faster
            if target.startswith("socket:"):
                found[target] = f"{target} at descriptor {number}"
    return found


def _temporary_files() -> Things:
    return {name: name for name in os.listdir(tempfile.gettempdir())}  # noqa: PTH208 -- faster


_KINDS: dict[str, Callable[[], Things]] = {
    "processes": _processes,
    "threads": _threads,
    "sockets": _sockets,
    "temporary files": _temporary_files,
}
