"""The server of the page: limits on requests, and what it does if something fails."""

from __future__ import annotations

import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress

import pytest

import tfprof
from command_runs import wait_until
from page_server import everything, parsed, serve
from tfprof.errors import InputError, OutputError
from tfprof.web import content, server
from tfprof.web.server import MOST_CONNECTIONS, MOST_HEAD_BYTES, Server


@pytest.fixture
def served(files):  # noqa: ARG001 -- makes the folder of the files the current one
    with serve(lambda: tfprof.load("graph.pb", "run_meta_0")) as started:
        yield started


# Where it listens.


def test_the_server_listens_on_loopback_only(served):
    assert served.port > 0
    with Server(0, lambda *_: None) as other:
        assert other.socket.getsockname()[0] == "127.0.0.1"


def test_a_port_in_use_is_reported(served):
    with pytest.raises(OutputError) as caught:
        Server(served.port, lambda *_: None)

    assert str(caught.value) == (
        f"cannot listen on port {served.port}: address already in use; choose another --port, or "
        "leave it out to use a free one."
    )


# Limits.


def test_a_request_that_is_too_long_is_refused(served):
    answered = served.ask("view?kind=scope&show_name_regexes=" + "x" * MOST_HEAD_BYTES)

    assert (answered.status, answered.body) == (431, b"")


def test_headers_that_are_too_long_are_refused(served):
    assert served.ask("data", X_Padding="x" * MOST_HEAD_BYTES).status == 431


def test_headers_without_end_are_refused(served):
    with served.connect() as connection:
        with suppress(OSError):  # the server closes the connection before all is sent
            for _ in range(10_000):
                connection.sendall(b"X-Padding: " + b"x" * 1_000 + b"\r\n")
        found = everything(connection)

    assert found == b"" or parsed(found).status == 431


def test_too_many_headers_are_refused(served):
    assert served.ask("data", **{f"X-{number}": "" for number in range(200)}).status == 431


def test_a_long_question_within_the_limit_is_answered(served):
    names = ",".join(["net/.*"] * 2_000)

    assert served.ask(f"view?kind=scope&show_name_regexes={names}").status == 200


@pytest.mark.parametrize(
    "request_",
    [
        *(b"GET\r\n\r\n", b"nonsense\r\n\r\n", b"\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n"),
        *(b"GET / HTTP/x\r\n\r\n", b"GET  / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x02\r\n\r\n"),
        *(b"GET /\r\n\r\n", b"GET / HTTP/1.1\r\n broken\r\n\r\n", b"\xff\xfe\r\n\r\n"),
    ],
)
def test_a_malformed_request_is_refused_without_repeating_it(request_, served):
    with served.connect() as connection:
        connection.sendall(request_)
        found = everything(connection)

    assert found == b"" or parsed(found).status in (400, 403, 404, 505)
    assert found == b"" or parsed(found).body == b""


def test_a_client_that_sends_slowly_is_disconnected(served, monkeypatch):
    monkeypatch.setattr(server, "HEAD_SECONDS", 0.2)
    with served.connect() as connection:
        connection.sendall(b"G")
        stopped = threading.Event()

        def drip():
            with suppress(OSError):  # the connection is closed
                while not stopped.wait(0.02):
                    connection.sendall(b"X")

        thread = threading.Thread(target=drip)
        thread.start()
        found = everything(connection)
        stopped.set()
        thread.join()

    assert parsed(found).status == 408


def test_a_client_that_sends_nothing_is_disconnected(served, monkeypatch):
    monkeypatch.setattr(server, "HEAD_SECONDS", 0.1)
    with served.connect() as connection:
        assert everything(connection) == b""


def test_a_client_that_leaves_early_does_no_harm(served, capfd):
    with served.connect() as connection:
        connection.sendall(served.request("data"))
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # reset
    with served.connect() as connection:
        connection.sendall(b"GET /")

    assert served.ask("data").status == 200
    wait_for_all_requests()
    assert capfd.readouterr() == ("", "")


def wait_for_all_requests():
    """Wait until the server has done all that it does about a request."""

    def are_done():
        return not any("process_request_thread" in one.name for one in threading.enumerate())

    wait_until(are_done, "end of all requests")


def test_connections_beyond_the_limit_are_refused_until_others_end(served):
    with ExitStack() as listeners:
        for _ in range(MOST_CONNECTIONS):
            listener = listeners.enter_context(served.connect())
            listener.sendall(served.request("events"))
            assert listener.recv(1)  # its request is being answered

        assert served.ask("data").status == 503

    # The listeners have left, which the server notices when it next writes to them.
    for _ in range(2):
        served.live.reload()
    with ThreadPoolExecutor(8) as pool:
        statuses = [answered.status for answered in pool.map(served.ask, ["data"] * 8)]
    assert set(statuses) <= {200, 503}
    wait_until(lambda: served.ask("data").status == 200, "free connection")


def test_many_parallel_requests_get_their_own_answers(served):
    paths = [
        f"view?kind={kind}&max_depth={depth}" for kind in ("scope", "op") for depth in range(9)
    ]
    alone = {path: served.ask(path).body for path in paths}
    with (
        serve(lambda: tfprof.load("graph.pb", "run_meta_0")) as fresh,
        ThreadPoolExecutor(32) as pool,
    ):
        together = list(pool.map(lambda path: (path, fresh.ask(path).body), paths * 5))

    assert all(body == alone[path] for path, body in together)


def test_the_data_can_be_prepared_before_the_page_asks(served, monkeypatch):
    served.site.prepare()
    for name in ("data", "graph"):
        monkeypatch.setattr(content, name, lambda _: pytest.fail("computed again"))

        assert served.ask(name).status == 200


# Failures.


def test_a_defect_is_reported_on_the_terminal_and_not_to_the_browser(served, monkeypatch, capfd):
    def fail(*_):
        raise ZeroDivisionError("secret detail")

    monkeypatch.setattr(content, "view", fail)

    answered = served.ask("view?kind=scope")

    assert answered.status == 500
    assert answered.error == "The question cannot be answered; the terminal shows the cause."
    printed = capfd.readouterr().err
    assert "ZeroDivisionError: secret detail" in printed
    assert served.site.token not in printed
    assert served.ask("data").status == 200


def test_a_file_that_cannot_be_read_any_more_is_an_error_in_one_line(served, monkeypatch):
    def fail(*_):
        raise InputError("graph.pb", "has changed\nsince it was read.")

    monkeypatch.setattr(content, "view", fail)

    answered = served.ask("view?kind=scope")

    assert (answered.status, answered.error) == (500, "graph.pb: has changed since it was read.")


def test_nothing_is_logged(served, capfd):
    for path in ("", "data", "view?kind=scope", "view?kind=scop", "none"):
        served.ask(path)
        served.ask(path, Host="attacker.example")
    served.send(b"nonsense\r\n\r\n")

    wait_for_all_requests()
    assert capfd.readouterr() == ("", "")


def test_a_question_is_computed_once(served, monkeypatch):
    asked = []
    compute = content.view

    def counted(profile, kind, options):
        asked.append(kind)
        return compute(profile, kind, options)

    monkeypatch.setattr(content, "view", counted)
    with ThreadPoolExecutor(8) as pool:
        list(
            pool.map(served.ask, ["view?kind=scope&max_depth=3", "view?max_depth=3&kind=scope"] * 8)
        )

    assert asked == ["scope"]
    served.live.reload()
    served.ask("view?kind=scope&max_depth=3")
    assert asked == ["scope", "scope"]
