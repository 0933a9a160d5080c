"""Only a browser on this machine that knows the token gets an answer."""

from __future__ import annotations

import pytest

import tfprof
from page_server import serve
from tfprof.web.access import is_token, new_token

HEADERS = {
    "Cache-Control": "no-store",
    "Connection": "close",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


@pytest.fixture
def served(files):  # noqa: ARG001 -- makes the folder of the files the current one
    with serve(lambda: tfprof.load("graph.pb", "run_meta_0")) as server:
        yield server


def test_the_page_is_at_the_address_with_the_token(served):
    answered = served.ask()

    assert (answered.status, answered.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert answered.body.startswith(b"<!DOCTYPE html>")


@pytest.mark.parametrize("path", ["", "data", "graph", "view?kind=scope", "view?kind=no", "none"])
def test_every_reply_has_the_headers_that_keep_it_private(path, served):
    headers = served.ask(path).headers

    assert headers | HEADERS == headers
    assert headers["Content-Security-Policy"].startswith("default-src 'none'")
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert headers.keys().isdisjoint(
        {"Server", "Date", "Set-Cookie", "Access-Control-Allow-Origin"}
    )


# The host.


@pytest.mark.parametrize(
    "host", ["127.0.0.1:{port}", "localhost:{port}", "localhost:9000", "127.0.0.1:1", "localhost"]
)
def test_this_machine_is_accepted_as_host_with_any_port(host, served):
    assert served.ask("data", Host=host.format(port=served.port)).status == 200


@pytest.mark.parametrize(
    "host",
    [
        *("attacker.example", "attacker.example:{port}", "localhost.attacker.example:{port}"),
        *("127.0.0.1.attacker.example:{port}", "LOCALHOST.", "0.0.0.0:{port}", "[::1]:{port}"),
        *("127.0.0.2:{port}", "localhost:", "localhost:x", "localhost:{port}:1", "a@localhost", ""),
        *("localhost:{port}, attacker.example", "localhost:{port}/", "127.1:{port}"),
    ],
)
def test_any_other_host_is_refused(host, served):
    refused(served.ask("data", Host=host.format(port=served.port)), 403)


def test_a_request_without_host_is_refused(served):
    refused(served.send(f"GET /{served.site.token}/ HTTP/1.1\r\n\r\n".encode()), 403)
    refused(served.send(f"GET /{served.site.token}/ HTTP/1.0\r\n\r\n".encode()), 403)


def test_a_request_with_two_hosts_is_refused(served):
    refused(served.ask("data", host="attacker.example"), 403)


# Other pages.


@pytest.mark.parametrize("host", ["127.0.0.1:{port}", "localhost:9000"])
def test_the_page_itself_may_ask(host, served):
    host = host.format(port=served.port)

    answered = served.ask("data", Host=host, Origin=f"http://{host}", Sec_Fetch_Site="same-origin")

    assert answered.status == 200


def test_an_address_that_was_typed_may_ask(served):
    assert served.ask("data", Sec_Fetch_Site="none").status == 200


@pytest.mark.parametrize(
    "origin",
    [
        *("http://attacker.example", "null", "", "http://127.0.0.1", "http://localhost:{port}"),
        *("https://127.0.0.1:{port}", "http://127.0.0.1:{port}/", "file://", "127.0.0.1:{port}"),
    ],
)
def test_another_origin_is_refused(origin, served):
    refused(served.ask("data", Origin=origin.format(port=served.port)), 403)


@pytest.mark.parametrize("site", ["cross-site", "same-site", "", "SAME-ORIGIN", "none, none"])
def test_a_request_from_another_site_is_refused(site, served):
    refused(served.ask("data", Sec_Fetch_Site=site), 403)


def test_one_wrong_origin_among_several_is_enough(served):
    origin = f"http://127.0.0.1:{served.port}"

    refused(served.ask("data", Origin=origin, origin="http://attacker.example"), 403)


# The token.


def test_a_token_cannot_be_guessed():
    tokens = {new_token() for _ in range(100)}

    assert len(tokens) == 100
    assert {len(token) for token in tokens} == {32}


@pytest.mark.parametrize("word", ["", "tok", "token1", "Token", "töken", "\udcff"])
def test_only_the_token_is_the_token(word):
    assert not is_token(word, "token")
    assert is_token("token", "token")


@pytest.mark.parametrize(
    "target",
    [
        *("/", "/data", "//data", "/wrong/data", "/{token}", "/{token}data", "{token}/data"),
        *("/{short}/data", "/{token}x/data", "/{swapped}/data", "/../{token}/data", "*"),
        *("http://127.0.0.1:{port}/{token}/data", "/%2f{token}/data", "/data?token={token}"),
        *("/./{token}/data", "/favicon.ico", "\\{token}\\data"),
    ],
)
def test_without_the_token_there_is_nothing(target, served):
    token = served.site.token
    words = {"token": token, "short": token[:-1], "swapped": token.swapcase()}

    refused(served.ask(target=target.format(port=served.port, **words)), 404)


@pytest.mark.parametrize(
    "path",
    [
        *("../data", "../../etc/passwd", "..%2f..%2fetc%2fpasswd", "%2e%2e/data", "/etc/passwd"),
        *(
            "graph.pb",
            "./graph.pb",
            "data/",
            "data/graph.pb",
            "//data",
            "data%00",
            "DATA",
            "%64ata",
        ),
        *("static/", "static/main.js", "..", ".", "file:///etc/passwd", "data;x", "data#x"),
    ],
)
def test_only_the_known_addresses_exist_below_the_token(path, served):
    refused(served.ask(path), 404)


# Methods.


@pytest.mark.parametrize(
    "method",
    ["POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE", "CONNECT", "get", "GETT"],
)
def test_only_get_is_allowed(method, served):
    answered = served.ask("data", method=method)

    refused(answered, 405)
    assert answered.headers["Allow"] == "GET"


def test_a_cross_origin_preflight_is_refused(served):
    answered = served.ask(
        "data",
        method="OPTIONS",
        Origin="http://attacker.example",
        Access_Control_Request_Method="GET",
        Access_Control_Request_Private_Network="true",
    )

    refused(answered, 403)


# Opening a browser.


def test_the_address_for_opening_a_browser_works_once(served):
    first = served.ask(target=f"/{served.site.entry}", Sec_Fetch_Site="none")
    second = served.ask(target=f"/{served.site.entry}", Sec_Fetch_Site="none")

    assert (first.status, first.headers["Location"]) == (303, f"/{served.site.token}/")
    refused(second, 404)


def refused(answered, status):
    """The reply has this status and reveals nothing else."""
    assert (answered.status, answered.body) == (status, b"")
    assert "Content-Type" not in answered.headers
