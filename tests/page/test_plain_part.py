"""The part of a report that needs no script."""

import re
from html import unescape
from pathlib import Path

import tfprof

EXAMPLES = Path(__file__).parents[2] / "examples"


def text_of(html: str) -> str:
    """The text of a page without its scripts and styles."""
    without = re.sub(r"<(script|style)\b.*?</\1>", "", html, flags=re.DOTALL)
    return unescape(re.sub(r"<[^>]*>", " ", without)).replace("\N{NO-BREAK SPACE}", " ")


def test_numbers_layers_and_notes_are_readable_without_scripts():
    profile = tfprof.load(*sorted((EXAMPLES / "resnet32").glob("*.gz")))

    text = text_of(profile.report().to_html())

    assert "464,154" in text
    assert "53.91 G" in text
    assert re.search(r"unit_1_3 +139\.97 ms +9\.3\d%", text)
    assert all(note in text for note in profile.notes)


def test_a_title_from_a_file_name_is_text():
    profile = tfprof.load(EXAMPLES / "keras_cnn")

    html = profile.report(title="<img src=x onerror=alert(1)>").to_html()

    assert "<img" not in html
    assert "<title>&lt;img src=x onerror=alert(1)&gt; · tfprof</title>" in html
