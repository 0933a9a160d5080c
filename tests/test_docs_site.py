"""The manual as a site: `make docs`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from built_once import built_once

pytestmark = pytest.mark.dist

ROOT = Path(__file__).parent.parent
MANUAL = ROOT / "docs"
PAGES = sorted(page.relative_to(MANUAL) for page in MANUAL.rglob("*.md"))

# Attributes whose target a browser loads with the page; it follows other links only on a click.
LOADED = {"src", "srcset", "data", "poster", "background"}
IN_STYLES = re.compile(r"""(?:url\(|@import)\s*["']?([^"')\s;]+)""")
NAMESPACE = "http://www.w3.org/"  # of SVG and others: a name, which is not loaded
IN_SCRIPTS = re.compile(r"""["'`]((?:https?:)?//[\w.-]+[^"'`]*)["'`]""")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder with the built site."""
    pytest.importorskip("sphinx", reason="Sphinx is not installed: pip install -e '.[docs]'")
    return built_once(tmp_path_factory, "site", build)


def build(folder):
    makefile = (ROOT / "Makefile").read_text("utf-8")
    (options,) = re.findall(r"-m sphinx (.+) docs \$\(SITE\)", makefile)
    built = subprocess.run(
        [sys.executable, "-m", "sphinx", *options.split(), MANUAL, folder],
        env=os.environ | {"PYTHONWARNINGS": "ignore"},  # extensions use deprecated functions
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr


@pytest.fixture(scope="module")
def pages(site):
    """The pages of the site, read: their links, targets and text."""
    return {path.relative_to(site): read(path) for path in site.rglob("*.html")}


def test_the_site_has_every_page_in_its_navigation(pages):
    listed = pages[Path("index.html")].links

    assert len(PAGES) > 30
    for page in PAGES:
        built = page.with_suffix(".html")
        assert built in pages
        assert str(built) in listed or page == Path("README.md"), page


@pytest.mark.parametrize(
    ("page", "link"),
    [
        ("gallery.html", "gallery/resnet32.html#view=graph"),
        ("gallery.html", "gallery/large.html#view=overview"),
        ("how-to/compare.html", "../gallery/diff.html#view=layers"),
        ("tutorial/keras.html", "../gallery/transformer.html#view=timeline"),
    ],
)
def test_the_picture_of_a_report_links_to_that_view_of_it(page, link, pages):
    assert link in pages[Path(page)].links


def test_every_link_of_the_site_has_a_target(site, pages):
    missing = [
        (str(page), link)
        for page, parsed in pages.items()
        for link in parsed.links | parsed.loaded
        if not is_remote(link) and not has_target(site, page, link, pages)
    ]

    assert not missing


def test_the_site_loads_nothing_from_elsewhere(site, pages):
    loaded = {str(page): parsed.loaded for page, parsed in pages.items()}
    for style in site.rglob("*.css"):
        loaded[style.name] = set(IN_STYLES.findall(style.read_text("utf-8")))
    for script in site.rglob("*.js"):
        loaded[script.name] = set(IN_SCRIPTS.findall(script.read_text("utf-8")))

    assert len(loaded) > len(PAGES)
    assert not {name: remote for name, found in loaded.items() if (remote := remote_of(found))}


@pytest.mark.parametrize(
    "source",
    [
        '<script src="https://cdn.test/a.js"></script>',
        '<link rel="stylesheet" href="//fonts.test/a.css">',
        '<img src="http://images.test/a.png">',
        '<img srcset="a.png 1x, https://images.test/a.png 2x">',
        "<style>@import 'https://fonts.test/a.css';</style>",
        '<p style="background: url(https://images.test/a.png)">',
        "<script>fetch('https://tracker.test/')</script>",
    ],
)
def test_whatever_a_page_loads_from_elsewhere_is_found(source):
    assert remote_of(parse(source).loaded)


def test_a_link_to_another_site_is_not_loaded():
    assert not remote_of(parse('<a href="https://elsewhere.test">elsewhere</a>').loaded)


class Page(HTMLParser):
    """The links, the ids and everything that a browser loads with a page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.loaded: set[str] = set()
        self.ids: set[str] = set()
        self._inside = ""

    def handle_starttag(self, tag, attributes):
        self._inside = tag
        for name, value in attributes:
            if name == "id":
                self.ids.add(value)
            elif name == "href" and tag == "a":
                self.links.add(value)
            elif name == "style":
                self.loaded.update(IN_STYLES.findall(value))
            elif name in LOADED or name == "href":
                self.loaded.update(part.split()[0] for part in value.split(", ") if part)

    def handle_data(self, data):
        if self._inside == "style":
            self.loaded.update(IN_STYLES.findall(data))
        if self._inside == "script":
            self.loaded.update(IN_SCRIPTS.findall(data))

    def handle_endtag(self, _):
        self._inside = ""


def parse(source):
    page = Page()
    page.feed(source)
    return page


def read(path):
    return parse(path.read_text("utf-8"))


def is_remote(link):
    return bool(urlsplit(link).netloc) or urlsplit(link).scheme in {"http", "https", "mailto"}


def remote_of(links):
    return {link for link in links if is_remote(link) and not link.startswith(NAMESPACE)}


def has_target(site, page, link, pages):
    """Whether the file that a link points to exists, and the place in it."""
    parts = urlsplit(link)
    if parts.scheme == "data":
        return True
    target = (site / page.parent / unquote(parts.path)).resolve() if parts.path else site / page
    here = pages.get(target.relative_to(site))
    is_place = bool(parts.fragment) and "gallery/" not in parts.path  # not the state of a report
    return target.exists() and (not is_place or here is None or parts.fragment in here.ids)
