"""Scan plans: which fields of a message to extract, compiled from a tree into flat arrays.

A plan maps field numbers to what is extracted:

    Plan({1: Rows("node", {1: Text("name"), 3: Inputs("input"), 5: Number("size")})})

The result is a set of tables. A table has one row per message or value, in file order, and the
columns named by the fields. Fields that are not in the plan, or have another wire type than the
plan expects, are skipped. Fields above 15 have longer tags and cannot be extracted.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple, TypeAlias

# What to do with a field: the lowest byte of an action, followed by a table, a column and a state.
# Letters, because compiled code can compare `ord("n")` as a constant number.
SKIP, REFUSED, NUMBER, NUMBER32, NUMBERS = map(ord, "-!nhl")
MESSAGE, ATTRIBUTE, SHAPE, SHAPES = map(ord, "mesr")
CHECKED, TEXT, NAME, BYTES, CODE, INPUT = map(ord, "atcbdi")

# Every plan has a table of distinct texts, and a table with a single row for the whole file.
TEXTS, ROOT = 0, 1
_TEXT_COLUMNS: Final = ("start", "end", "hash", "set", "code")

TAGS: Final = 128  # the number of one-byte tags
_MOST: Final = 255  # the limit for tables and for columns; states are limited to half of it


class Number(NamedTuple):
    """A number in a column; a short one uses only the lowest 32 bits."""

    column: str
    is_short: bool = False


class Numbers(NamedTuple):
    """A list of numbers, packed or not: one row each, in the column `value` of a table."""

    table: str


class Text(NamedTuple):
    """ASCII text, as the columns `…_start` and `…_end`."""

    column: str


class Name(NamedTuple):
    """Text up to its first colon, as the columns `…_start` and `…_end`."""

    column: str


class Bytes(NamedTuple):
    """Any bytes, as the columns `…_start` and `…_end`; if repeated, the scan gives up."""

    column: str


class Code(NamedTuple):
    """Repetitive text or bytes as a code: 1, 2, … in order of first use, 0 if missing."""

    column: str
    is_text: bool = True


class Codes(NamedTuple):
    """A list of repetitive texts: one row each, in the column `code` of a table."""

    table: str
    has_owner: bool = False


class Inputs(NamedTuple):
    """A list of inputs such as `conv:1`: one row each, with `start`, `end` and `slot`."""

    table: str


class Shape(NamedTuple):
    """A TensorShapeProto: 1 in the column `shape`, or 3 if its rank is unknown.

    Its dims are rows of the table `dims`, in the column `value`. With a `table`, the field is a
    list of shapes with one row each.
    """

    dims: str
    table: str = ""


class Checked(NamedTuple):
    """Text that is not extracted but must be ASCII."""


class Inside(NamedTuple):
    """A message whose fields belong to the enclosing row.

    With a `mark`, a bit in the column `marks` says that the message is present, and the scan gives
    up if it is repeated, which protobuf would merge. With `is_strict`, the scan gives up if the
    message has other fields.
    """

    fields: Fields
    mark: str = ""
    is_strict: bool = False


class Rows(NamedTuple):
    """Messages with one row each, in file order.

    The enclosing row has a column with the table's name that holds the first of its rows; with
    `has_owner`, the rows refer to the enclosing row in a column `owner` instead. With `has_place`,
    they have the `start` and `end` of the message. Map entries are strict: the scan gives up if
    they have other fields, because protobuf would drop such an entry.
    """

    table: str
    fields: Fields
    has_owner: bool = False
    has_place: bool = False
    is_strict: bool = False


class Attributes(NamedTuple):
    """A map of AttrValues from which the `wanted` keys are extracted, at most once per row.

    Each key has the tag that its value must start with, and what to extract from the value.
    """

    wanted: Mapping[bytes, tuple[int, Inside | Shape]]


# What is extracted from a field of a message.
Field: TypeAlias = (
    Number
    | Numbers
    | Text
    | Name
    | Bytes
    | Code
    | Codes
    | Inputs
    | Shape
    | Checked
    | Inside
    | Rows
    | Attributes
)
Fields: TypeAlias = Mapping[int, Field]


class Plan:
    """The arrays of a plan, as `scan` uses them."""

    def __init__(self, fields: Fields) -> None:
        self.tables: dict[str, int] = {"text": TEXTS, "": ROOT}
        self.columns: dict[str, int] = {}  # by table and name, such as `node.size`
        self.column_table = array("i")
        self.offsets: dict[int, int] = {}  # columns of row offsets, and the table they point into
        self.sets: dict[str, int] = {}  # sets of texts, by the column that holds their codes
        self.marks: dict[str, tuple[str, int]] = {}  # column and bit
        self.actions = array("i")  # by state and tag
        self.depth = 0  # of nested messages
        self.keys, self.key_start, self.key_lengths = bytearray(), array("i", [0]), 0
        self.key_tag, self.key_action = array("i"), array("i")
        self._links: dict[int, list[int]] = {}
        self._places: dict[int, int] = {}
        for name in _TEXT_COLUMNS:
            self._column(TEXTS, name)
        self._add_state(ROOT, fields, 1)
        # A new row starts with the row count of linked tables: (column, table, amount to subtract).
        # Subtracting 1 gives the latest row instead, the owner.
        self.links, self.link_start = array("i"), array("i", [0])
        for table in range(len(self.tables)):
            self.links.extend(self._links.get(table, []))
            self.link_start.append(len(self.links))
        self.place = array("i", [self._places.get(row, 0) for row in range(len(self.tables))])
        states = len(self.actions) // TAGS
        assert max(len(self.tables), len(self.columns), 2 * states) <= _MOST  # noqa: S101

    def _add_state(self, table: int, fields: Fields, depth: int, others: int = SKIP) -> int:
        """Add the state for reading the fields of a message of `table`."""
        state = len(self.actions) // TAGS
        self.depth = max(self.depth, depth)
        self.actions.extend([REFUSED] * 8 + [others] * (TAGS - 8))  # there is no field 0
        for number, field in fields.items():
            for wire_type, action in self._actions(table, field, depth):
                self.actions[state * TAGS + (number << 3 | wire_type)] = action
        return state

    def _actions(self, table: int, field: Field, depth: int) -> Iterable[tuple[int, int]]:
        """What to do with a field, by wire type."""
        if isinstance(field, Number):
            kind = NUMBER32 if field.is_short else NUMBER
            return [(0, _action(kind, self._column(table, field.column)))]
        if isinstance(field, Numbers):
            child = self._child(table, field.table)
            action = _action(NUMBERS, self._column(child, "value"), child)
            return [(0, action), (2, action)]
        return [(2, self._span_action(table, field, depth))]

    def _span_action(self, table: int, field: Field, depth: int) -> int:
        match field:
            case Inside(fields, mark, is_strict):
                column, bit = self._mark(table, mark) if mark else (0, 0)
                others = REFUSED if is_strict else SKIP
                state = self._add_state(table, fields, depth + 1, others)
                return _action(MESSAGE, column, bit, state)
            case Rows(name, fields, has_owner, has_place, is_strict):
                child = self._child(table, name, has_owner=has_owner)
                if has_place:
                    self._places[child] = self._pair(child)
                others = REFUSED if is_strict else SKIP
                state = self._add_state(child, fields, depth + 1, others)
                return _action(MESSAGE, 0, child, state)
            case Attributes(wanted):
                for key, (tag, value) in wanted.items():
                    self._add_key(key, tag, self._span_action(table, value, depth))
                return _action(ATTRIBUTE)
            case Shape(dims, name):
                owner = self._child(table, name) if name else table
                child = self._child(owner, dims)
                column, sizes = self._column(owner, "shape"), self._column(child, "value")
                return _action(SHAPES if name else SHAPE, column, child, sizes)
        return self._text_action(table, field)

    def _text_action(self, table: int, field: Field) -> int:  # noqa: PLR0911 -- a table
        match field:
            case Text(name):
                return _action(TEXT, self._pair(table, f"{name}_"))
            case Name(name):
                return _action(NAME, self._pair(table, f"{name}_"))
            case Bytes(name):
                return _action(BYTES, self._pair(table, f"{name}_"))
            case Code(name, is_text):
                # The lowest bit says that any bytes are allowed.
                return _action(CODE, *self._code(table, name), not is_text)
            case Codes(name, has_owner):
                child = self._child(table, name, has_owner=has_owner)
                column, _, texts = self._code(child, "code")
                return _action(CODE, column, child, texts)
            case Inputs(name):
                child = self._child(table, name)
                column = self._pair(child)
                self._column(child, "slot")
                return _action(INPUT, column, child)
        return _action(CHECKED)

    def _child(self, table: int, name: str, *, has_owner: bool = False) -> int:
        """The table `name`, whose rows belong to rows of `table`."""
        child = self.tables.setdefault(name, len(self.tables))
        if has_owner:
            self._links.setdefault(child, []).extend((self._column(child, "owner"), table, 1))
        else:
            column = self._column(table, name)
            self.offsets[column] = child
            self._links.setdefault(table, []).extend((column, child, 0))
        return child

    def _column(self, table: int, name: str) -> int:
        full = f"{list(self.tables)[table]}.{name}"
        if full not in self.columns:
            self.columns[full] = len(self.columns)
            self.column_table.append(table)
        return self.columns[full]

    def _pair(self, table: int, name: str = "") -> int:
        """The first of two adjacent columns, start and end."""
        first = self._column(table, f"{name}start")
        self._column(table, f"{name}end")
        return first

    def _mark(self, table: int, name: str) -> tuple[int, int]:
        """The column of a mark, and its bit."""
        column = self._column(table, "marks")
        full = list(self.columns)[column]
        bit = 1 << sum(of_column == full for of_column, _ in self.marks.values())
        self.marks[f"{list(self.tables)[table]}.{name}"] = full, bit
        return column, bit

    def _code(self, table: int, name: str) -> tuple[int, int, int]:
        """The column of a code, 0 for no table, and the set of its texts, shifted by one bit."""
        column = self._column(table, name)
        return column, 0, self.sets.setdefault(list(self.columns)[column], len(self.sets)) << 1

    def _add_key(self, key: bytes, tag: int, action: int) -> None:
        self.keys += key
        self.key_start.append(len(self.keys))
        self.key_lengths |= 1 << len(key)
        self.key_tag.append(tag)
        self.key_action.append(action)


def _action(kind: int, column: int = 0, table: int = 0, state: int = 0, extra: int = 0) -> int:
    return kind | table << 8 | column << 16 | (state | extra) << 24
