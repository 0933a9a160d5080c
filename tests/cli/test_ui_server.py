"""`tfprof ui` as a process: its port, its browser, its signals and its files."""

from __future__ import annotations

import os
import signal
import socket
import sys
import urllib.error
import urllib.request

import pytest
from ui_servers import WAIT, fetched, started

from command_runs import SECONDS, fifo, is_readable, wait_until

if sys.platform == "win32":
    pytest.skip("Windows has no signals for one process", allow_module_level=True)

pytestmark = [pytest.mark.process, pytest.mark.usefixtures("files")]


def test_two_servers_have_different_ports_and_tokens():
    with started("graph.pb") as (_, one), started("graph.pb") as (_, other):
        port, token = one.groups()
        other_port, other_token = other.groups()

    assert port != other_port
    assert token != other_token


@pytest.mark.parametrize(
    ("number", "status", "said"),
    [(signal.SIGTERM, 0, ""), (signal.SIGINT, 130, "tfprof: stopped.\n")],
)
def test_a_signal_stops_the_server_even_while_a_browser_listens(number, status, said):
    with started("graph.pb") as (process, address):
        with listening(address) as listener:
            assert listener.recv(1)

            process.send_signal(number)

            assert process.wait(SECONDS) == status
            while listener.recv(1 << 16):
                pass  # until the connection is closed
        assert process.stderr.read() == WAIT + said


def listening(address):
    """A connection that asked for events."""
    port, token = address.groups()
    listener = socket.create_connection(("127.0.0.1", int(port)), timeout=SECONDS)
    listener.sendall(f"GET /{token}/events HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    return listener


@pytest.fixture
def browser(tmp_path):
    """A program in place of a browser, and the pipe to which it writes the address."""
    shown = fifo(tmp_path / "shown")
    program = tmp_path / "browser"
    program.write_text(f'#!/bin/sh\nprintf %s "$1" > {tmp_path}/shown\n')
    program.chmod(0o755)
    yield str(program), shown
    os.close(shown)


def test_the_browser_is_opened_at_an_address_that_works_once(browser):
    program, shown = browser
    with started("graph.pb", BROWSER=program) as (process, address):
        wait_until(lambda: is_readable(shown), "address in the browser", process)
        entry = os.read(shown, 1000).decode()

        assert address[2] not in entry
        with urllib.request.urlopen(entry, timeout=SECONDS) as reply:  # noqa: S310 -- our own server
            assert reply.url == address[0].strip()
        with pytest.raises(urllib.error.HTTPError, match="404"):
            fetched(entry)


def test_no_browser_is_opened_if_the_user_does_not_want_one(browser):
    program, shown = browser
    with started("graph.pb", "--no_browser", BROWSER=program) as (process, address):
        assert fetched(address[0]) == 200
        process.terminate()
        assert process.wait(SECONDS) == 0

    assert not is_readable(shown)


def test_a_browser_that_does_not_exist_is_not_an_error():
    with started("graph.pb", BROWSER="/no/such/browser") as (process, address):
        assert fetched(address[0]) == 200
        process.terminate()
        assert process.wait(SECONDS) == 0
        assert process.stderr.read() == WAIT


def test_a_port_can_be_chosen():
    with socket.socket() as reserved:
        # While this socket has the port and does not listen, the system gives it to no other
        # program that does not ask for it.
        reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        reserved.bind(("127.0.0.1", 0))
        port = reserved.getsockname()[1]

        with started("graph.pb", "--port", str(port)) as (_, address):
            assert address[1] == str(port)


def test_files_given_with_options_are_watched_too(files):
    with (
        started("--graph_path", "graph.pb", "--run_meta_path", "0:run_meta_0") as (_, address),
        listening(address) as listener,
        listener.makefile("r") as events,
    ):
        assert 'data: {"generation": 1}\n' in events
        (files / "run_meta_1").replace("run_meta_0")

        assert 'data: {"generation": 2}\n' in events
