"""The fixture `open_report` notices everything that a report must not do."""

import pytest

from report_pages import wait_until

pytestmark = pytest.mark.browser

LAST = "console: all events before this one were noticed"


def noticed(open_report, page):
    """What was noticed of a page until now."""
    page.evaluate("text => console.log(text)", LAST.removeprefix("console: "))
    wait_until(page, "the last message", lambda: LAST in open_report.noticed)
    found = [*open_report.noticed]
    open_report.noticed.clear()
    assert found.pop() == LAST
    return found


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("console.log('a')", ["console: a"]),
        ("console.debug('a')", ["console: a"]),
        ("throw new Error('a')", ["error: a"]),
        ("Promise.reject(new Error('a'))", ["error: a"]),
        ("alert('a')", ["dialog: a"]),
        ("new Image().src = 'http://localhost:9/a'", ["request: http://localhost:9/a"]),
        ("new Image().src = 'other.png'", ["request: file://{folder}/other.png"]),
        ("new Image().src = 'data:image/png;base64,'", []),
        ("location.hash = 'view=scope'", []),
    ],
)
def test_an_event_is_noticed(open_report, tmp_path, code, expected):
    path = tmp_path / "page.html"
    path.write_text(f"<!DOCTYPE html><title>a</title><script>{code}</script>")

    open_report.allow("ERR_")  # the message of Chromium about a request that failed
    page = open_report(path)

    assert noticed(open_report, page) == [text.format(folder=tmp_path) for text in expected]


def test_what_the_policy_of_a_page_blocks_is_noticed(open_report, tmp_path):
    policy = "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'\">"
    path = tmp_path / "page.html"
    path.write_text(f"<!DOCTYPE html>{policy}<script>run()</script>")

    page = open_report(path)

    (found,) = noticed(open_report, page)
    assert "violates the following Content Security Policy directive" in found


def test_a_page_is_opened_with_a_width_a_theme_and_a_state(open_report, tmp_path):
    path = tmp_path / "page.html"
    path.write_text("<!DOCTYPE html><title>a</title>")

    page = open_report(path, width=800, theme="dark", state="view=scope")

    assert page.evaluate("innerWidth") == 800
    assert page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    assert page.evaluate("location.hash") == "#view=scope"


def test_what_a_test_allows_is_not_noticed(open_report, tmp_path):
    path = tmp_path / "page.html"
    path.write_text("<!DOCTYPE html><title>a</title>")
    page = open_report(path)
    open_report.allow("status of 400")
    page.evaluate("console.log('a status of 400'); console.log('a status of 500')")

    assert noticed(open_report, page) == ["console: a status of 500"]
