"""What a scan takes from a message, said as a tree of fields and laid out as flat arrays.

A plan says what each field of a message gives, by its number:

    Plan({1: Rows("node", {1: Text("name"), 3: Inputs("input"), 5: Number("size")})})

A table has a row for each message or value it is made of, in the order of the file, and the columns
that the fields name. Fields that a plan does not name are stepped over, and so are those whose wire
type is not that of the plan. Nothing else can be said of fields above 15, which have longer tags.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple, TypeAlias

# What is done with a field, in the lowest byte of an action; above it come a table, a column and a
# state. Letters, as the compiler takes them for numbers.
SKIP, REFUSED, NUMBER, NUMBER32, NUMBERS = map(ord, "-!nhl")
MESSAGE, ATTRIBUTE, SHAPE, SHAPES = map(ord, "mesr")
CHECKED, TEXT, NAME, BYTES, CODE, INPUT = map(ord, "atcbdi")

# The table of distinct texts, which every plan has, and the one row for the whole file.
TEXTS, ROOT = 0, 1
_TEXT_COLUMNS: Final = ("start", "end", "hash", "set", "code")

TAGS: Final = 128  # of one byte
_MOST: Final = 255  # tables and columns, and half as many states


class Number(NamedTuple):
    """A number, into a column; of a short one the lowest 32 bits count."""

    column: str
    is_short: bool = False


class Numbers(NamedTuple):
    """A list of numbers, packed or not: a row each, in the column `value` of a table."""

    table: str


class Text(NamedTuple):
    """ASCII text, as the columns `…_start` and `…_end`."""

    column: str


class Name(NamedTuple):
    """Text that counts as far as its first colon, as the columns `…_start` and `…_end`."""

    column: str


class Bytes(NamedTuple):
    """Any bytes, as the columns `…_start` and `…_end`; stated twice, they are for protobuf."""

    column: str


class Code(NamedTuple):
    """Text that repeats, or any bytes that do: 1 and up by first use, 0 where there is none."""

    column: str
    is_text: bool = True


class Codes(NamedTuple):
    """A list of texts that repeat: a row each, in the column `code` of a table."""

    table: str
    has_owner: bool = False


class Inputs(NamedTuple):
    """A list of inputs such as `conv:1`: a row each, with `start`, `end` and `slot`."""

    table: str


class Shape(NamedTuple):
    """A TensorShapeProto: in the column `shape` 1, or 3 where its rank is unknown.

    Its dims are rows of the table `dims`, in the column `value`. With a table of its own, such
    shapes are a list and have a row each.
    """

    dims: str
    table: str = ""


class Checked(NamedTuple):
    """Text that is not wanted, but must be ASCII."""


class Inside(NamedTuple):
    """A message whose fields belong to the row around it.

    With a mark there is a bit in the column `marks` where it is there. Twice, it is for protobuf,
    which would make one message of the two; and so it is where it `is_strict` and has other fields.
    """

    fields: Fields
    mark: str = ""
    is_strict: bool = False


class Rows(NamedTuple):
    """Messages that are a row each, in the order of the file.

    The row around them has in a column of the table's name where its own rows begin; or, with
    `has_owner`, they have in the column `owner` the row around them. With `has_place` they have
    `start` and `end` of the message. The entries of a map are strict: with other fields they are
    for protobuf, which would leave them out.
    """

    table: str
    fields: Fields
    has_owner: bool = False
    has_place: bool = False
    is_strict: bool = False


class Attributes(NamedTuple):
    """A map of AttrValues, of which some are wanted by their keys, once a row.

    Each has the tag that its value must have to be read, and what that is.
    """

    wanted: Mapping[bytes, tuple[int, Inside | Shape]]


# What a field of a message gives.
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
    """The arrays of a plan; see `scan` for how they are used."""

    def __init__(self, fields: Fields) -> None:
        self.tables: dict[str, int] = {"text": TEXTS, "": ROOT}
        self.columns: dict[str, int] = {}  # by table and name, as `node.size`
        self.column_table = array("i")
        self.offsets: dict[int, int] = {}  # the table whose rows a column counts
        self.sets: dict[str, int] = {}  # of texts, by the column that has their codes
        self.marks: dict[str, tuple[str, int]] = {}  # column and bit
        self.actions = array("i")  # by state and tag
        self.depth = 0  # of messages within messages
        self.keys, self.key_start, self.key_lengths = bytearray(), array("i", [0]), 0
        self.key_tag, self.key_action = array("i"), array("i")
        self._links: dict[int, list[int]] = {}
        self._places: dict[int, int] = {}
        for name in _TEXT_COLUMNS:
            self._column(TEXTS, name)
        self._add_state(ROOT, fields, 1)
        # How a row begins: with how many rows another table has, less 1 for the last of them.
        self.links, self.link_start = array("i"), array("i", [0])
        for table in range(len(self.tables)):
            self.links.extend(self._links.get(table, []))
            self.link_start.append(len(self.links))
        self.place = array("i", [self._places.get(row, 0) for row in range(len(self.tables))])
        states = len(self.actions) // TAGS
        assert max(len(self.tables), len(self.columns), 2 * states) <= _MOST  # noqa: S101

    def _add_state(self, table: int, fields: Fields, depth: int, others: int = SKIP) -> int:
        """The state in which the fields of a message of `table` are read."""
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
                # An odd number is for what may be any bytes.
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
        """The table `name`, whose rows those of `table` hold."""
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
        """The first of two columns, start and end."""
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
        """The column of a code, no table, and the set of its texts."""
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
