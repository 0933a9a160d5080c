"""The command `sql`: queries of the tables of a store."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfprof import api, atomic_files
from tfprof.errors import OptionError
from tfprof.fleet.sql_tables import SQL_TABLES
from tfprof.fleet.tables import SQL_TYPES
from tfprof.model.notes import names_of
from tfprof.model.stored_runs import QueryRows
from tfprof.outputs.alignment import aligned
from tfprof.outputs.query_rows import FORMATS

if TYPE_CHECKING:
    from tfprof.commands.command import Call

_PARQUET = "parquet"


def sql(call: Call) -> None:
    """Show or write the answer to a query; without a query, list the tables."""
    chosen, path = _format(call), call.value("outfile")
    profile = call.load()
    tables = api.sql_tables(profile)
    if chosen == _PARQUET:
        atomic_files.write(path, tables.parquet(call.query))
    else:
        pieces = FORMATS[chosen](tables.rows(call.query) if call.query else _columns())
        if not call.query and chosen == "table":
            pieces = _listed()
        if path:
            atomic_files.write(path, (piece.encode() for piece in pieces))
        else:
            call.show(pieces)
    # Other notes are about numbers that the query may not ask for; `tfprof info` lists them.
    call.note([note for note in profile.file_notes if not names_of(note)], profile)
    if path:
        call.say(f"wrote {path}")


def _format(call: Call) -> str:
    """The format of the answer, which the options must agree on."""
    chosen = str(call.value("format"))
    if call.value("json"):
        if "format" in call.given and chosen != "json":
            raise OptionError(f"Use -json or -format {chosen}, not both.")
        return "json"
    if chosen == _PARQUET and not (call.value("outfile") and call.query):
        raise OptionError("Parquet requires a query and --outfile FILE.")
    return chosen


def _columns() -> QueryRows:
    """The columns of all tables as rows."""
    rows = [
        (table, name, SQL_TYPES[field.kind], field.sentence)
        for table, format_ in SQL_TABLES.items()
        for name, field in format_.fields.items()
    ]
    names = ["table", "column", "type", "meaning"]
    return QueryRows(names, ["VARCHAR"] * len(names), iter([rows]))


def _listed() -> Iterator[str]:
    """All tables and their columns, for people."""
    for name, table in SQL_TABLES.items():
        yield f"{name}: {table.sentence}\n"
        rows = [
            (f"  {column}", SQL_TYPES[field.kind], field.sentence)
            for column, field in table.fields.items()
        ]
        yield from (f"{line}\n" for line in aligned(rows, left={0, 1, 2}))
        yield "\n"
