"""The fixture `open_report` notices everything that a report must not do."""

import pytest


@pytest.mark.parametrize(
    ("code", "noticed"),
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
def test_an_event_is_noticed(open_report, tmp_path, code, noticed):
    path = tmp_path / "page.html"
    path.write_text(f"<!DOCTYPE html><title>a</title><script>{code}</script>")

    page = open_report(path)
    page.wait_for_load_state("networkidle")

    expected = [text.format(folder=tmp_path) for text in noticed]
    found = [text for text in open_report.noticed if "ERR_" not in text]
    open_report.noticed.clear()
    assert found == expected


def test_what_the_policy_of_a_page_blocks_is_noticed(open_report, tmp_path):
    policy = "<meta http-equiv=Content-Security-Policy content=\"default-src 'none'\">"
    path = tmp_path / "page.html"
    path.write_text(f"<!DOCTYPE html>{policy}<script>run()</script>")

    open_report(path)

    (found,) = open_report.noticed
    open_report.noticed.clear()
    assert "violates the following Content Security Policy directive" in found


def test_a_page_is_opened_with_a_width_a_theme_and_a_state(open_report, tmp_path):
    path = tmp_path / "page.html"
    path.write_text("<!DOCTYPE html><title>a</title>")

    page = open_report(path, width=800, theme="dark", state="view=scope")

    assert page.evaluate("innerWidth") == 800
    assert page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    assert page.evaluate("location.hash") == "#view=scope"
