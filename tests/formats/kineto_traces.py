"""Small Kineto traces, and their columns as plain values."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields
from math import isfinite
from pathlib import Path
from random import Random
from typing import Any

from tfprof.columns import Coded
from tfprof.formats import kineto
from tfprof.formats.content import Content
from tfprof.formats.kineto import plain, reading
from tfprof.formats.kineto.columns import Trace
from tfprof.formats.kineto.damage import DamagedError
from tfprof.formats.kineto.envelope import Found, standardised

SAMPLES = sorted((Path(__file__).parent.parent / "samples" / "h200").glob("[dg]*[0-9t].json.gz"))


def event(name: str = "aten::mm", **more: Any) -> dict[str, Any]:
    """An event with a duration, of which `more` replaces or adds members."""
    usual = {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 2, "ts": 1.5, "dur": 2.25}
    return usual | more


def trace_of(*events: dict[str, Any] | str, **header: Any) -> bytes:
    """A trace with these events, which may be JSON already."""
    listed = ",\n".join([one if isinstance(one, str) else json.dumps(one) for one in events])
    start = "".join(f"{json.dumps(key)}: {json.dumps(value)},\n" for key, value in header.items())
    return f'{{"schemaVersion": 1,\n{start}"traceEvents": [{listed}]\n}}\n'.encode()


def read(data: bytes) -> Trace:
    return kineto.read(Content.of_bytes("trace.json", data))


def rows(table: Any) -> list[dict[str, Any]]:
    """The rows of a table of a trace; values that are missing are left out."""
    columns = {
        field.name: list(map(column.__getitem__, range(len(table))))
        if isinstance(column := getattr(table, field.name), Coded)
        else column.tolist()
        for field in fields(table)
    }
    return [
        {name: column[row] for name, column in columns.items() if column[row] not in (-1, "")}
        for row in range(len(table))
    ]


# Comparing both readers.

_JSON = {"input_dims", "input_types", "concrete_inputs", "grid", "block"}


def in_pieces(data: bytes, size: int) -> Iterator[bytes]:
    return (data[at : at + size] for at in range(0, len(data), size))


def contents(trace: Trace) -> dict[str, Any]:
    """All values of a trace; texts that are JSON are decoded, because both readers may space it."""
    found: dict[str, Any] = {
        name: getattr(trace, name)
        for name in ("header", "base_ns", "events", "damaged_events", "clamped_events")
    }
    found["is_complete"] = trace.is_complete
    for name in ("slices", "collectives", "configurations", "memory", "flows", "threads"):
        table = getattr(trace, name)
        for field in fields(table):
            column = getattr(table, field.name)
            if isinstance(column, Coded):
                texts = list(column.values)
                is_json = name == "collectives" or field.name in _JSON
                values = [_decoded(text) if is_json else text for text in texts]
                found[f"{name}.{field.name}"] = [values[code] for code in column.codes.tolist()]
            else:
                found[f"{name}.{field.name}"] = column.tolist()
    return found


def _decoded(text: str) -> Any:
    try:
        return repr(
            json.loads(
                standardised(text),
                strict=False,
                parse_float=lambda number: float(number) if isfinite(float(number)) else None,
                parse_constant=lambda _: None,
            )
        )
    except (ValueError, RecursionError):
        return text


def outcome(found: Found) -> tuple[dict[str, Any], bool]:
    return contents(found.trace), found.is_whole


def plainly(data: bytes) -> Any:
    """What the reader with the `json` module reads."""
    try:
        return outcome(plain.read(data))
    except DamagedError:
        return DamagedError


def scanned(data: bytes, size: int) -> Any:
    """What the compiled scanner reads in pieces of that size."""
    try:
        return outcome(reading.streaming.read(in_pieces(data, size)))
    except DamagedError:
        return DamagedError


# Damage.

FRAGMENTS = (
    *(b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"NaN", b"-inf", b"nan", b"-", b"1e5", b"."),
    *(b"\x00", b"\xff", b"\xe9", b"\n", b"null", b'\\u00e9"', b'{"ph": "X"', b"]}", b'], "a'),
    *(b"0", b"17", b"99999999999999999999", b'"args": {}', b'"ts": 1, ', b"[[[["),
)


def damaged(data: bytes, random: Random) -> bytes:
    """The data with a few places changed, removed or filled in."""
    for _ in range(random.randint(1, 4)):
        at = random.randrange(len(data) + 1)
        end = at + random.choice([0, 0, 1, 1, 5, 60])
        data = data[:at] + random.choice([b"", *FRAGMENTS]) + data[end:]
    return data if random.random() < 0.8 else data[: random.randrange(len(data) + 1)]
