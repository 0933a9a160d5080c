"""Settings and fixtures of all tests: no network, 80 columns, golden files, a small model."""

from __future__ import annotations

import contextlib
import difflib
import gc
import socket
from pathlib import Path

import pytest

import model_files

# PyTorch for GPUs imports Triton, which aborts if TensorFlow was imported before: both have LLVM.
with contextlib.suppress(ImportError):
    import triton  # noqa: F401

pytest_plugins = ["tiers", "outcomes", "leftovers"]

GOLDEN = Path(__file__).parent / "golden"


def pytest_sessionstart():
    gc.disable()  # collecting tests creates many objects, and no garbage


def pytest_collection_finish():
    gc.freeze()  # later collections need not look at the tests
    gc.enable()


def pytest_sessionfinish():
    gc.unfreeze()  # compiled modules report what is left at the end


def pytest_addoption(parser):
    parser.addoption(
        "--update-golden", action="store_true", help="rewrite the golden files; read the diff"
    )
    parser.addoption(
        "--update-screenshots",
        action="store_true",
        help="rewrite the screenshots of the manual; look at them",
    )


@pytest.fixture(scope="session", autouse=True)
def _isolated():
    """No test connects to another machine or depends on the width of the terminal."""
    connect = socket.socket.connect

    def refuse(self: socket.socket, address: object) -> None:
        if not (isinstance(address, tuple) and address[0] == "127.0.0.1"):
            pytest.fail("a test tried to use the network")
        connect(self, address)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", refuse)
        patch.setenv("COLUMNS", "80")
        yield


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Make a folder with the files of a small model the current one; see `model_files`."""
    model_files.write(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def golden(request):
    """Compares a text with the golden file of that name; `--update-golden` rewrites the file."""

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        if request.config.getoption("--update-golden"):
            path.write_text(text, encoding="utf-8")
        wanted = path.read_text("utf-8") if path.exists() else ""
        changes = difflib.unified_diff(
            wanted.splitlines(keepends=True), text.splitlines(keepends=True), name, "now"
        )
        assert text == wanted, "".join(changes)

    return compare
