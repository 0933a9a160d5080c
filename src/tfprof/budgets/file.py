"""Budget files: TOML with a table for the model, and one for each scope and layer with budgets."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tfprof.budgets.budget import Budget, Place
from tfprof.budgets.forms import budget_of, metric_of
from tfprof.errors import InputError, nearest

DEFAULT_PATH = "tfprof.toml"

MODEL, SCOPE, LAYER = "model", "scope", "layer"
_TABLES = (MODEL, SCOPE, LAYER)
_MOST_BYTES = 1 << 22


def read(path: str) -> tuple[Budget, ...]:
    """The budgets of a file, in its order; an error names the file and the key."""
    return budgets_in(path, text_of(path))


def budgets_in(path: str, text: str) -> tuple[Budget, ...]:
    """The budgets of the text of a file."""
    budgets = tuple(_budgets(path, _parsed(path, text)))
    if not budgets:
        raise InputError(path, "contains no budgets; add some below [model], such as params.")
    return budgets


def text_of(path: str) -> str:
    """The text of a budget file."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except FileNotFoundError:
        advice = "`tfprof check FILES… --update` creates it, --budget names another."
        raise InputError(path, f"there is no such budget file; {advice}") from None
    except OSError as error:
        raise InputError(path, f"cannot be read: {error.strerror}.") from None
    if len(data) > _MOST_BYTES:
        raise InputError(path, f"is no budget file: it has more than {_MOST_BYTES:,} bytes.")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(path, f"is not UTF-8: byte {error.start:,}.") from None


def _parsed(path: str, text: str) -> dict[str, Any]:
    """The tables of a TOML text."""
    try:
        return tomllib.loads(text)
    except ValueError as error:
        raise InputError(path, f"is not valid TOML: {error}.") from None
    except RecursionError:
        raise InputError(path, "is not a budget file: its values are nested too deeply.") from None


def _budgets(path: str, tables: Mapping[str, Any]) -> Iterator[Budget]:
    """The budgets in the tables of a file."""
    for key, table in tables.items():
        if key not in _TABLES:
            raise InputError(path, f"[{quoted(key)}] is unknown. {nearest(key, _TABLES)}")
        _require_table(path, f"[{key}]", table)
        if key == MODEL:
            yield from _of_place(path, f"[{key}]", Place(), table)
            continue
        for name, inner in table.items():
            heading = f"[{key}.{quoted(name)}]"
            _require_table(path, heading, inner)
            yield from _of_place(path, heading, Place(key, name), inner)


def _of_place(path: str, heading: str, place: Place, table: Mapping[str, Any]) -> Iterator[Budget]:
    for key, value in table.items():
        where = f"{heading} {quoted(key)}"
        try:
            yield budget_of(path, where, place, metric_of(key), value)
        except ValueError as error:
            raise InputError(path, f"{where}: {error}") from None


def _require_table(path: str, heading: str, value: Any) -> None:
    if not isinstance(value, Mapping):
        raise InputError(path, f"{heading} must be a table of budgets, not {value!r:.80}.")


def quoted(key: str) -> str:
    """A key as it is written in TOML."""
    if key and key.isascii() and key.replace("_", "").replace("-", "").isalnum():
        return key
    return json.dumps(key, ensure_ascii=False).replace("\x7f", "\\u007f")
