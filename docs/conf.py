"""Configuration of the site that `make docs` builds from the manual.

The pages are plain Markdown, which a repository browser shows as well. What only the site needs is
here: the navigation, an `index.html`, colours for the examples, and the reports of the gallery.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

from pygments.lexer import RegexLexer, bygroups
from pygments.token import Generic
from sphinx.application import Sphinx

MANUAL = Path(__file__).parent
sys.path.insert(0, str(MANUAL))

import gallery  # noqa: E402 -- beside this file

project = "tfprof"
extensions = ["myst_parser"]
root_doc = "README"  # its name in a repository browser
exclude_patterns = ["_build"]
highlight_language = "none"
smartquotes = False
myst_heading_anchors = 3

html_theme = "furo"
html_title = "tfprof"
html_static_path = ["_static"]
html_css_files = ["manual.css"]
html_copy_source = False
html_show_copyright = False
html_show_sphinx = False

# Captions of the navigation, and the pages below each.
SECTIONS = {
    "Tutorials": r"tutorial/.+",
    "How to": r"how-to/.+",
    "Reference": r"reference/.+",
    "Explanation": r"explanation/.+",
    "Gallery and benchmarks": r"[^/]+",
}


def setup(app: Sphinx) -> None:
    app.add_lexer("console", Commands)
    app.connect("source-read", add_navigation)
    app.connect("source-read", link_reports)
    app.connect("build-finished", write_index)
    app.connect("build-finished", write_reports)


class Commands(RegexLexer):
    """Commands after a prompt, and their output, in which `#` does not start a comment."""

    name = "console"
    tokens = {  # noqa: RUF012 -- Pygments declares it so
        "root": [
            (r"^(\$ |tfprof> )(.*\n)", bygroups(Generic.Prompt, Generic.Strong)),
            (r".*\n", Generic.Output),
        ]
    }


def add_navigation(_app: Sphinx, page: str, source: list[str]) -> None:
    """Turn the links of the home page, which lists every page, into the navigation."""
    if page == root_doc:
        pages = re.findall(r"\]\(([\w/-]+)\.md\)", source[0])
        trees = (
            toctree(caption, [page for page in pages if re.fullmatch(pattern, page)])
            for caption, pattern in SECTIONS.items()
        )
        source[0] += "\n".join(trees)


def toctree(caption: str, pages: list[str]) -> str:
    entries = "\n".join(f"{short_title(page)} <{page}>" for page in pages)
    return f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{entries}\n```\n"


def short_title(page: str) -> str:
    """The title of a page, without the words that its section has as its caption."""
    text = (MANUAL / f"{page}.md").read_text("utf-8")
    title = re.search(r"^# (?:How to )?(.+)$", text, re.MULTILINE)[1]
    return title[0].upper() + title[1:]


def write_index(app: Sphinx, error: Exception | None) -> None:
    if not error:
        shutil.copy(app.outdir / f"{root_doc}.html", app.outdir / "index.html")


def link_reports(_app: Sphinx, _page: str, source: list[str]) -> None:
    """Link each picture of a report to that view of the report, which only the site has."""
    source[0] = re.sub(
        rf"!\[(.+)\]\(((?:\.\./)?)(images/({'|'.join(gallery.ENTRIES)})-(\w+)\.png)\)",
        r"```{image} \2\3\n:alt: \1\n:target: \2gallery/\4.html#view=\5\n```",
        source[0],
    )


def write_reports(app: Sphinx, error: Exception | None) -> None:
    folder = app.outdir / "gallery"
    folder.mkdir(exist_ok=True)
    for name in () if error else gallery.ENTRIES:
        gallery.write(name, folder)
