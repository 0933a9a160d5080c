"""What all tests share: no network, 80 columns, golden files, the files of a small model."""

from __future__ import annotations

import difflib
import socket
from pathlib import Path

import pytest
from hypothesis import settings

import model_files

GOLDEN = Path(__file__).parent / "golden"

# How long an example takes depends on what else the machine is doing.
settings.register_profile("tests", deadline=None)
settings.load_profile("tests")


def pytest_addoption(parser):
    parser.addoption(
        "--update-golden", action="store_true", help="write the golden files anew, to be read"
    )


@pytest.fixture(scope="session", autouse=True)
def _plain_surroundings():
    """No test reaches for the network or depends on the terminal it was started in."""

    def refuse(*_: object) -> None:
        pytest.fail("a test tried to use the network")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", refuse)
        patch.setenv("COLUMNS", "80")
        yield


@pytest.fixture
def files(tmp_path, monkeypatch):
    """The current folder, with the files of a small model in it; see `model_files`."""
    model_files.write(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def golden(request):
    """Compares a text with the golden file of that name, or writes it with `--update-golden`."""

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
