"""The file of a saved profile: a zip archive of one Parquet file per table and a manifest.

Members are not compressed, since Parquet files already are. The manifest comes first, and a
file is recognised by it. `profile_tables.TABLES` has the tables.
"""

from __future__ import annotations

import io
import json
import struct
import zipfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, fields
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np

from tfprof.columns import Bools, Coded, Ints, Shape, Shapes, Strings, constant
from tfprof.errors import InputError, one_line
from tfprof.formats import parquet
from tfprof.formats.parquet import Blobs, ParquetError
from tfprof.formats.profile_tables import TABLES, Field, Kind
from tfprof.formats.recognise import PROFILE_MANIFEST

VERSION = 1

_THREADS = 4  # more would not help: one table has a third of the data

# A file may be larger than any protobuf message.
LARGEST_FILE = 1 << 40

Result = TypeVar("Result")
Column: TypeAlias = parquet.Column | Shapes
Table: TypeAlias = dict[str, Column]

# What a damaged archive raises.
_DAMAGE = (
    *(AttributeError, EOFError, LookupError, OSError, RuntimeError, TypeError, ValueError),
    *(struct.error, zipfile.BadZipFile),
)
_MOST_DIM = 2**63


@dataclass(frozen=True, slots=True)
class Facts:
    """What the manifest says about a whole profile; see `ProfileColumns`."""

    has_code: bool = False
    lacks_accelerator_time: bool = False
    lacks_host_allocations: bool = False
    counts_float_ops: bool = True
    has_zero_repeats: bool = False  # whether 0 repeats mean that an op never runs
    notes: tuple[str, ...] = ()  # remarks on the files it was made from
    subjects: tuple[str, ...] = ()  # what each note is about, `TIME|CODE`; empty for everything
    remedies: Mapping[str, str] = field(default_factory=dict)  # phrases by capability

    @classmethod
    def of(cls, manifest: Mapping[str, Any]) -> Facts:
        """The facts of a manifest; one that is missing has its default."""
        known = {part.name for part in fields(cls)}
        found = {name: value for name, value in manifest.items() if name in known}
        notes, remedies = found.pop("notes", []), found.pop("remedies", {})
        subjects = found.pop("subjects", [])
        flags = found.values()
        texts = [*notes, *subjects, *remedies.values()]
        _require(
            all(type(flag) is bool for flag in flags) and all(type(one) is str for one in texts),
            "the manifest has a value of another type than the format says",
        )
        _require(
            len(subjects) in (0, len(notes)),
            "the manifest has another number of notes and subjects",
        )
        return cls(**found, notes=tuple(notes), subjects=tuple(subjects), remedies=remedies)


@dataclass(frozen=True, slots=True, eq=False)
class SavedProfile:
    """The tables of a profile, and what the manifest says about it."""

    tables: Mapping[str, Table]
    facts: Facts

    def rows(self, table: str) -> int:
        """How many rows a table has."""
        return len(next(iter(self.tables[table].values())))

    # The columns of a table by their kinds.

    def numbers(self, table: str, column: str) -> Ints:
        return cast("Ints", self.tables[table][column])

    def flags(self, table: str, column: str) -> Bools:
        return cast("Bools", self.tables[table][column])

    def texts(self, table: str, column: str) -> Strings:
        return cast("Strings", self.tables[table][column])

    def words(self, table: str, column: str) -> Coded:
        return cast("Coded", self.tables[table][column])

    def shapes(self, table: str, column: str) -> Shapes:
        return cast("Shapes", self.tables[table][column])

    def blobs(self, table: str, column: str) -> Blobs:
        return cast("Blobs", self.tables[table][column])


def encode(profile: SavedProfile, writer: str) -> bytes:
    """The file; `writer` names the program that writes it."""
    manifest = {
        "format": "tfprof profile",
        "version": VERSION,
        "writer": writer,
        **asdict(profile.facts),
        "tables": {name: profile.rows(name) for name in TABLES},
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(_member(PROFILE_MANIFEST), json.dumps(manifest, indent=1))
        encoded = _in_threads(lambda name: _encoded(profile, name))
        for name, data in zip(TABLES, encoded, strict=True):
            archive.writestr(_member(f"{name}.parquet"), data)
    return out.getvalue()


def _in_threads(work: Callable[[str], Result]) -> Iterator[Result]:
    """`work` for each table, in order; compression runs in parallel."""
    with ThreadPoolExecutor(_THREADS) as pool:
        yield from pool.map(work, TABLES)


def _encoded(profile: SavedProfile, name: str) -> bytes:
    """The Parquet file of one table."""
    format_, columns = TABLES[name], profile.tables[name]
    table = {key: _as_written(columns[key]) for key in format_.fields}
    if format_.key:
        table = {format_.key: np.arange(profile.rows(name)), **table}
    return b"".join(parquet.write(table))


def _member(name: str) -> zipfile.ZipInfo:
    """A member without a date, so that equal profiles make equal files."""
    return zipfile.ZipInfo(name)


def _as_written(column: Column) -> parquet.Column:
    if isinstance(column, Shapes):
        return Coded(column.codes, Strings(json.dumps(shape) for shape in column.values))
    return column


def decode(path: str, data: bytes) -> SavedProfile:
    """The profile in a file, checked: every reference is to a row that is there."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            _require_stored(archive, len(data))
            facts = _facts(path, archive.read(PROFILE_MANIFEST))
            contents = {name: _content(archive, name) for name in TABLES}
        budget = parquet.Budget(len(data))
        decoded = _in_threads(lambda name: _table(contents[name], name, budget))
        tables = dict(zip(TABLES, decoded, strict=True))
        profile = SavedProfile(tables, facts)
        _check(profile)
    except InputError:
        raise
    except ParquetError as error:
        raise _damaged(path, str(error)) from None
    except _DAMAGE as error:
        raise _damaged(path, one_line(str(error) or type(error).__name__)) from None
    return profile


def _damaged(path: str, why: str) -> InputError:
    return InputError(path, f"is cut short or damaged: {why}; save it again or fetch it again.")


def _require_stored(archive: zipfile.ZipFile, size: int) -> None:
    """Refuse members that would unpack to more than the file has."""
    members = archive.infolist()
    is_stored = all(member.compress_type == zipfile.ZIP_STORED for member in members)
    _require(is_stored, "a member is compressed")
    _require(sum(member.file_size for member in members) <= size, "members overlap")


def _facts(path: str, data: bytes) -> Facts:
    manifest = json.loads(data)
    version = manifest.get("version")
    _require(type(version) is int, "the manifest has no version")
    if version > VERSION:
        raise InputError(
            path,
            f"has version {version} of the format, and this tfprof reads versions up to "
            f"{VERSION}: upgrade tfprof.",
        )
    return Facts.of(manifest)


def _content(archive: zipfile.ZipFile, name: str) -> bytes | None:
    """The Parquet file of a table; None if the file was written before the table was added."""
    member = f"{name}.parquet"
    is_older = TABLES[name].is_added and member not in archive.namelist()
    return None if is_older else archive.read(member)


def _table(data: bytes | None, name: str, budget: parquet.Budget) -> Table:
    if data is None:
        return {key: _EMPTY[field_.kind] for key, field_ in TABLES[name].fields.items()}
    found = parquet.read(data, budget)
    rows = len(next(iter(found.values()), ()))
    for key, field_ in TABLES[name].fields.items():
        if field_.missing is not None:
            found.setdefault(key, constant(field_.missing, rows))
        _require(key in found, f"the table {name} has no column {key}")
    return {key: _as_read(found[key], field_) for key, field_ in TABLES[name].fields.items()}


_KINDS: dict[Kind, type] = {
    Kind.NUMBER: np.ndarray,
    Kind.FLAG: np.ndarray,
    Kind.TEXT: Strings,
    Kind.WORD: Coded,
    Kind.SHAPE: Coded,
    Kind.BYTES: Blobs,
}


_EMPTY: dict[Kind, Column] = {
    Kind.NUMBER: np.zeros(0, np.int64),
    Kind.FLAG: np.zeros(0, np.bool_),
    Kind.TEXT: Strings(),
    Kind.WORD: Coded.of([]),
    Kind.SHAPE: Shapes.of([]),
    Kind.BYTES: Blobs(Strings()),
}


def _as_read(column: parquet.Column, field_: Field) -> Column:
    is_flag = isinstance(column, np.ndarray) and column.dtype == np.bool_
    _require(
        isinstance(column, _KINDS[field_.kind]) and is_flag == (field_.kind is Kind.FLAG),
        "a column has another type than the format says",
    )
    if field_.kind is Kind.SHAPE and isinstance(column, Coded):
        return Shapes(column.codes, tuple(_shape(text) for text in column.values))
    return column


def _shape(text: str) -> Shape:
    dims = json.loads(text)
    if dims is None:
        return None
    _require(isinstance(dims, list), "a shape is not a list")
    for dim in dims:
        is_number = type(dim) is int and -_MOST_DIM <= dim < _MOST_DIM
        _require(is_number, "a side of a shape is not a whole number")
    return tuple(dims)


def _require(holds: bool, trouble: str) -> None:
    if not holds:
        raise ValueError(trouble)


def _check(profile: SavedProfile) -> None:
    """Refuse numbers that the format rules out; they would be wrong answers or errors later."""
    for name, format_ in TABLES.items():
        for key, field_ in format_.fields.items():
            column = profile.tables[name][key]
            if field_.kind is Kind.NUMBER and isinstance(column, np.ndarray) and len(column):
                most = profile.rows(field_.table) - 1 if field_.table else field_.most
                _require(
                    (field_.least is None or int(column.min()) >= field_.least)
                    and (most is None or int(column.max()) <= most)
                    and not (field_.is_sorted and (column[1:] < column[:-1]).any()),
                    f"the column {key} of {name} has a number out of range",
                )
