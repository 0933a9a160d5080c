"""`tfprof ui` as a process: its address, its browser, its signals and exit status."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import contextmanager

import pytest

from page_server import SECONDS
from tfprof.cli import main

if sys.platform == "win32":
    pytest.skip("Windows has no signals for one process", allow_module_level=True)

ADDRESS = re.compile(r"http://127\.0\.0\.1:([0-9]+)/([\w-]{32})/\n")
WAIT = "tfprof: this page is available on this machine until you press Ctrl-C.\n"

pytestmark = pytest.mark.usefixtures("files")


def _heed_interrupts():
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def started(*words, **environment):
    """A running server and its address."""
    inherited = {key: value for key, value in os.environ.items() if key != "BROWSER"}
    with subprocess.Popen(
        [sys.executable, "-m", "tfprof", "ui", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=inherited | {"DISPLAY": ""} | environment,
        # Tests that a shell runs in the background ignore Ctrl-C, and so would the server.
        preexec_fn=_heed_interrupts,  # noqa: PLW1509 -- it only sets a signal
    ) as process:
        try:
            yield process, process.stdout.readline()
        finally:
            process.kill()


def fetched(address):
    with urllib.request.urlopen(address, timeout=SECONDS) as reply:  # noqa: S310 -- our own server
        return reply.status


def test_the_address_is_printed_and_works():
    with started("graph.pb", "run_meta_0") as (process, line):
        port, token = ADDRESS.fullmatch(line).groups()

        assert fetched(line.strip()) == 200
        process.send_signal(signal.SIGTERM)
        rest, notes = process.communicate(timeout=SECONDS)

    assert int(port) > 0
    assert rest == ""
    assert notes == WAIT
    assert token not in notes


def test_two_servers_have_different_ports_and_tokens():
    with started("graph.pb") as (_, one), started("graph.pb") as (_, other):
        port, token = ADDRESS.fullmatch(one).groups()
        other_port, other_token = ADDRESS.fullmatch(other).groups()

    assert port != other_port
    assert token != other_token


@pytest.mark.parametrize(
    ("number", "status", "said"),
    [(signal.SIGTERM, 0, ""), (signal.SIGINT, 130, "tfprof: stopped.\n")],
)
def test_a_signal_stops_the_server_even_while_a_browser_listens(number, status, said):
    with started("graph.pb") as (process, line):
        port, token = ADDRESS.fullmatch(line).groups()
        with socket.create_connection(("127.0.0.1", int(port)), timeout=SECONDS) as listener:
            request = f"GET /{token}/events HTTP/1.1\r\nHost: localhost\r\n\r\n"
            listener.sendall(request.encode())
            assert listener.recv(1)

            process.send_signal(number)

            assert process.wait(SECONDS) == status
            while listener.recv(1 << 16):
                pass  # until the connection is closed
        assert process.stderr.read() == WAIT + said


def test_the_browser_is_opened_at_an_address_that_works_once(tmp_path):
    shown = tmp_path / "shown"
    os.mkfifo(shown)
    opener = tmp_path / "browser"
    opener.write_text(f'#!/bin/sh\nprintf %s "$1" > {shown}\n')
    opener.chmod(0o755)

    with started("graph.pb", BROWSER=str(opener)) as (_, line):
        address = shown.read_text()  # waits for the browser
        token = ADDRESS.fullmatch(line)[2]

        assert token not in address
        with urllib.request.urlopen(address, timeout=SECONDS) as reply:  # noqa: S310 -- see above
            assert reply.url == line.strip()
        with pytest.raises(urllib.error.HTTPError, match="404"):
            fetched(address)


def test_no_browser_is_opened_if_the_user_does_not_want_one(tmp_path):
    opener = tmp_path / "browser"
    opener.write_text(f"#!/bin/sh\ntouch {tmp_path}/opened\n")
    opener.chmod(0o755)

    with started("graph.pb", "--no_browser", BROWSER=str(opener)) as (process, line):
        assert fetched(line.strip()) == 200
        process.terminate()
        assert process.wait(SECONDS) == 0

    assert not (tmp_path / "opened").exists()


def test_a_browser_that_does_not_exist_is_not_an_error():
    with started("graph.pb", BROWSER="/no/such/browser") as (process, line):
        assert fetched(line.strip()) == 200
        process.terminate()
        assert process.wait(SECONDS) == 0
        assert process.stderr.read() == WAIT


def test_a_port_can_be_chosen():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    with started("graph.pb", "--port", str(port)) as (_, line):
        assert line.startswith(f"http://127.0.0.1:{port}/")


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


def test_files_given_with_options_are_watched_too(tmp_path):
    with started("--graph_path", "graph.pb", "--run_meta_path", "0:run_meta_0") as (_, line):
        port, token = ADDRESS.fullmatch(line).groups()
        with (
            socket.create_connection(("127.0.0.1", int(port)), timeout=SECONDS) as listener,
            listener.makefile("r") as events,
        ):
            listener.sendall(f"GET /{token}/events HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            assert 'data: {"generation": 1}\n' in events
            (tmp_path / "run_meta_1").replace("run_meta_0")

            assert 'data: {"generation": 2}\n' in events
