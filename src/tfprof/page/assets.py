"""The script and style of the page.

The script is written as ES modules in `static/`. A page opened from disk cannot import modules from
other files, so they are linked into one: each module becomes a function that returns its exports.
Only simple forms are supported, which `docs/explanation/architecture.md` lists.
"""

from __future__ import annotations

import re
from base64 import b64encode
from functools import cache
from graphlib import CycleError, TopologicalSorter
from hashlib import sha256
from importlib.resources import files
from typing import NamedTuple

_STATIC = files(__package__) / "static"
_STYLES = ("vendor/uplot.css", "style.css")

_IMPORT = re.compile(
    r'^import (?:\{(?P<names>[^}]*)\}|\* as (?P<all>\w+)) from "\./(?P<path>[\w/.-]+)";\n',
    re.MULTILINE,
)
_EXPORT = re.compile(
    r"^export (?=(?:async function|function|class|const) (?P<name>\w+))", re.MULTILINE
)
_UNSUPPORTED = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)


class _Module(NamedTuple):
    """A module: the paths it imports, and its text as a function that returns its exports."""

    imports: tuple[str, ...]
    text: str


@cache
def script(entry: str) -> str:
    """The module `entry` and all modules that it imports, as one script."""
    return "".join(_module(path).text for path in _in_order(entry))


@cache
def style() -> str:
    """The style sheets: those of libraries, that of the whole page, then those of its views."""
    names = {file.name for file in _STATIC.iterdir() if file.name.endswith(".css")}
    return "".join(map(_text, (*_STYLES, *sorted(names.difference(_STYLES)))))


def source_hash(text: str) -> str:
    """The expression that permits an inline script or style in a Content-Security-Policy."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _in_order(entry: str) -> list[str]:
    """The modules that a module needs, each after those that it imports itself."""
    imports = {entry: _module(entry).imports}
    open_paths = [entry]
    while open_paths:
        for path in imports[open_paths.pop()]:
            if path not in imports:
                imports[path] = _module(path).imports
                open_paths.append(path)
    try:
        return list(TopologicalSorter(imports).static_order())
    except CycleError as error:
        raise ValueError(f"modules import each other: {' ← '.join(error.args[1])}") from None


@cache
def _module(path: str) -> _Module:
    text = _text(path)
    imports = tuple(match["path"] for match in _IMPORT.finditer(text))
    exports = [match["name"] for match in _EXPORT.finditer(text)]
    body = _EXPORT.sub("", _IMPORT.sub(_bound, text))
    if found := _UNSUPPORTED.search(body):
        raise ValueError(f"{path}: the linker does not support `{found[0]}`")
    name = _variable(path)
    returned = ", ".join(exports)
    return _Module(imports, f"const {name} = (() => {{\n{body}return {{ {returned} }};\n}})();\n")


def _bound(match: re.Match[str]) -> str:
    """An import as a constant."""
    what = match["all"] or "{" + match["names"].replace(" as ", ": ") + "}"
    return f"const {what} = {_variable(match['path'])};\n"


def _variable(path: str) -> str:
    return "$" + re.sub(r"\W", "_", path.removesuffix(".js"))


def _text(path: str) -> str:
    return (_STATIC / path).read_text("utf-8")
