"""`tfprof ui`: its address, and its errors."""

from __future__ import annotations

import signal
import socket
import sys

import pytest
from ui_servers import WAIT, fetched, started

from command_runs import SECONDS
from tfprof.cli import main

if sys.platform == "win32":
    pytest.skip("Windows has no signals for one process", allow_module_level=True)

pytestmark = pytest.mark.usefixtures("files")


def test_the_address_is_printed_and_works():
    with started("graph.pb", "run_meta_0") as (process, address):
        port, token = address.groups()

        assert fetched(address[0]) == 200
        process.send_signal(signal.SIGTERM)
        rest, notes = process.communicate(timeout=SECONDS)

    assert int(port) > 0
    assert rest == ""
    assert notes == WAIT
    assert token not in notes


def test_a_port_in_use_is_one_line_and_status_1(capsys):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        status = main(["ui", "graph.pb", "--port", str(port)])

    assert status == 1
    assert capsys.readouterr().err == (
        f"tfprof: cannot listen on port {port}: address already in use; choose another --port, or "
        "leave it out to use a free one.\n"
    )


@pytest.mark.parametrize("port", ["-1", "65536"])
def test_a_port_that_does_not_exist_is_an_error(port, capsys):
    assert main(["ui", "graph.pb", "--port", port]) == 2
    assert capsys.readouterr().err == (
        f"tfprof: `port` takes a number from 0 to 65535, not {port}.\n"
    )


def test_files_that_cannot_be_read_are_an_error_before_anything_is_served(capsys):
    assert main(["ui", "gone.pb"]) == 1
    assert capsys.readouterr() == ("", "tfprof: gone.pb: no such file; check the path.\n")


def test_an_option_of_a_view_is_set_on_the_page(capsys):
    assert main(["ui", "graph.pb", "-max_depth", "3"]) == 2
    assert capsys.readouterr().err == (
        "tfprof: `ui` has no option `max_depth`. Set it on the page.\n"
    )
