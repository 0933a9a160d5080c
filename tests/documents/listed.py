"""Builds models that reproduce a listing exactly.

Each row becomes an op with the row's own number. The part of a total that neither the row nor the
rows below it account for becomes further ops, which the filters of the command hide.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal

from documents.made import Model

_UNITS = {"sec": 10**6, "ms": 10**3, "us": 1, "MB": 10**6, "KB": 10**3, "B": 1}
_ROW = re.compile(r"(?P<indent> *)(?P<name>.+) \((?P<own>[^ /]+)/(?P<total>[^ /,]+)\)")
_OP_ROW = re.compile(r"(\S+) +(\S+) \(\S+, \S+\)(?:, +(\d+))?")
_COARSE = 10**6  # from here on, numbers are printed without their last four digits


@dataclass
class Listed:
    """A row of a listing and the rows below it."""

    name: str
    own: int
    total: int
    children: list[Listed] = field(default_factory=list)

    @property
    def rest(self) -> int:
        """The part of the total outside the row itself and the rows below it."""
        return self.total - self.own - sum(child.total for child in self.children)

    def walk(self, *above: str) -> Iterator[tuple[Listed, tuple[str, ...]]]:
        """Each row, this one first, with the names of the rows above it except the root."""
        yield self, above
        here = () if self.name == "_TFProfRoot" else (self.name,)
        for child in self.children:
            yield from child.walk(*above, *here)


def tree(listing: str) -> Listed:
    """The rows of a listing as a tree; each total is at least the sum of the totals below it."""
    rows = [found for line in listing.splitlines() if (found := _ROW.fullmatch(line))]
    path: list[Listed] = []
    for place, row in enumerate(rows):
        own = 0 if row["own"] == "--" else amount(row["own"])
        listed = Listed(row["name"], own, amount(row["total"]))
        if listed.total >= _COARSE:
            listed.total += len(rows) - place  # if two are printed alike, the first is larger
        del path[len(row["indent"]) // 2 :]
        if path:
            path[-1].children.append(listed)
        path.append(listed)
    _round_up(path[0])
    return path[0]


def _round_up(listed: Listed) -> None:
    for child in listed.children:
        _round_up(child)
    listed.total -= min(listed.rest, 0)


def amount(text: str) -> int:
    """The number in a text such as `3.74sec` or `64B`."""
    digits, unit = re.fullmatch(r"([\d.]+)(\D+)", text).groups()
    return int(Decimal(digits) * _UNITS[unit])


def scopes(listing: str, measure: str, below: int, under: str = "") -> Model:
    """A model whose scope view is `listing` if ops of less than `below` are hidden.

    If the command starts at a scope, pass it as `under`; the model then also has an op elsewhere.
    """
    model = Model()
    if under:
        model.add("elsewhere", **{measure: _COARSE})
    for row, _ in tree(listing).walk():
        prefix = under
        if row.name != "_TFProfRoot":
            model.add(row.name, **{measure: row.own})
            prefix = f"{row.name}/"
        for part, number in enumerate(parts(row.rest, below)):
            model.add(f"{prefix}rest_{part}", **{measure: number})
    return model


def calls(listing: str, measure: str, below: int = 10**18) -> Model:
    """A model whose code view is `listing` if library lines and small numbers are hidden."""
    model = Model()
    for place, (row, above) in enumerate(tree(listing).walk()):
        stack = above if row.name == "_TFProfRoot" else (*above, row.name)
        for part, number in enumerate(parts(row.rest, below)):
            call = f"library.py:{part}:call:none"
            model.add(f"op_{place}_{part}", **{measure: number}, code=(*stack, call))
        if not row.total:
            model.add(f"op_{place}", code=stack)
    return model


def kinds(listing: str, measure: str, total: int, exactly: dict[str, int] | None = None) -> Model:
    """A model whose op view starts like `listing` and adds up to `total`.

    `exactly` gives the numbers of kinds for which the rounded numbers do not yield the shares.
    """
    model = Model()
    rows = [found for line in listing.splitlines() if (found := _OP_ROW.match(line))]
    for kind, shown, count in (row.groups() for row in rows):
        number = (exactly or {}).get(kind, amount(shown))
        total -= number
        model.add(kind, kind, **{measure: number})
        for place in range(1, int(count or 1)):
            model.add(f"{kind}_{place}", kind)
    for part, number in enumerate(parts(total, amount(rows[-1][2]))):
        model.add(f"rest_{part}", f"Rest{part}", **{measure: number})
    return model


def parts(number: int, below: int) -> Iterator[int]:
    """`number` in parts, each less than `below`."""
    while number > 0:
        yield min(number, below - 1)
        number -= below - 1
