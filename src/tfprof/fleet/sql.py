"""SQL over a store: one statement that reads the documented tables, and nothing else."""

from __future__ import annotations

import re
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from tfprof.errors import OptionError, TfprofError, nearest, printable
from tfprof.fleet import sql_columns
from tfprof.fleet.queries import MEMORY, Database
from tfprof.fleet.row_index import StoreIndex
from tfprof.fleet.sql_tables import SQL_TABLES, VIEWED, views
from tfprof.fleet.tables import INNER
from tfprof.model.profile import ProfileColumns
from tfprof.model.stored_runs import QueryRows

_ROWS_AT_ONCE = 1000
_PIECE = 1 << 20

_ONLY_READS = "`sql` only reads: write one SELECT, DESCRIBE, SHOW, SUMMARIZE or EXPLAIN."
_NO_TABLE = re.compile(r"Table with name (.+?) does not exist")
_NO_COLUMN = re.compile(r'(?:Referenced column|have a column named) "(.+?)"')
_EXPLAIN = re.compile(r"\s*EXPLAIN\b(?:\s+ANALYZE\b)?", re.IGNORECASE)
# The functions of DuckDB that write logs; some versions write them to any file that is named.
_LOGGING = re.compile(r"\b(?:enable|disable|truncate)_(?:duckdb_)?log\w*\"?\s*\(", re.IGNORECASE)
_KIND_OF_ERROR = re.compile(r"^(?:[A-Z][A-Za-z]* )+Error: ")

# The errors of DuckDB that a query causes; others are about the files of the store.
_OF_QUERY = (
    *("ParserException", "SyntaxException", "BinderException", "CatalogException"),
    *("ConversionException", "OutOfRangeException", "TypeMismatchException"),
    *("InvalidTypeException", "InvalidInputException", "NotImplementedException"),
    *("PermissionException", "SequenceException", "ConstraintException", "TransactionException"),
)


class StoreTables:
    """The tables of a store for users; `SqlTables` describes the methods."""

    def __init__(
        self,
        database: Database,
        index: StoreIndex,
        columns: ProfileColumns,
        troubles: Mapping[str, str | None],
    ) -> None:
        """`troubles` has the collected files, and why some could not be read."""
        self._database, self._index, self._columns = database, index, columns
        self._troubles = troubles
        self._lock = threading.Lock()
        self._is_made = False
        self._of_thread = threading.local()

    def relation(self, query: str) -> Any:
        # A relation uses the connection that made it, also after this call.
        if not hasattr(self._of_thread, "cursor"):
            self._of_thread.cursor = self._cursor()
        return self._asked(lambda: self._of_thread.cursor.sql(self._checked(query)))

    def rows(self, query: str) -> QueryRows:
        cursor = self._asked(lambda: self._cursor().execute(self._checked(query)))
        names = [name for name, *_ in cursor.description]
        types = [str(one[1]) for one in cursor.description]
        batches = self._batches(cursor)
        # Most errors occur before the first rows, so that nothing of the answer is printed yet.
        first = next(batches, [])
        return QueryRows(names, types, chain([first], batches), is_plan=_is_explain(query))

    def parquet(self, query: str) -> Iterator[bytes]:
        text = self._checked(query)
        if _is_explain(query):
            raise OptionError("A plan cannot be written as Parquet: choose another format.")
        with tempfile.TemporaryDirectory(dir=self._database.scratch) as folder:
            path = Path(folder, "answer.parquet")
            target = f"TO {_quoted(str(path))} (FORMAT parquet)"
            copied = f"COPY (FROM query({_quoted(text)})) {target}"
            self._asked(lambda: self._cursor().execute(copied))
            with path.open("rb") as file:
                while piece := file.read(_PIECE):
                    yield piece

    def _cursor(self) -> Any:
        """A new connection, on which the tables exist; a connection is used by one thread."""
        with self._lock:
            if not self._is_made:
                self._make()
        return self._database.cursor()

    def _make(self) -> None:
        made = sql_columns.tables(self._columns, self._index, self._troubles)
        for name, (table, expressions) in made.items():
            self._database.add(name, expressions, **table)
        for name in VIEWED:
            self._database.rows(f"CREATE VIEW {INNER}.{name} AS FROM {self._database.files(name)}")
        for name, view in views().items():
            self._database.rows(f"CREATE VIEW {name} AS {view}")
        self._is_made = True

    def _checked(self, query: str) -> str:
        """The query, if it is one statement that only reads."""
        if not isinstance(query, str):
            raise OptionError(f"a query must be a string, not {query!r}.")
        text = query
        if _is_explain(query):
            text = _EXPLAIN.sub("", query, count=1)
        statements = self._asked(lambda: self._cursor().extract_statements(text))
        if [one.type.name for one in statements] != ["SELECT"] or _LOGGING.search(text):
            raise OptionError(_ONLY_READS)
        # DuckDB permits statements that write only at the top level: `WITH a AS (COPY …) FROM a`.
        bound = f"EXPLAIN FROM query({_quoted(text)})"
        self._asked(lambda: self._cursor().execute(bound), text)
        return query.rstrip("; \n\t")

    def _batches(self, cursor: Any) -> Iterator[list[tuple[Any, ...]]]:
        while rows := self._asked(lambda: cursor.fetchmany(_ROWS_AT_ONCE)):
            yield rows

    def _asked(self, ask: Callable[[], Any], query: str = "") -> Any:
        """What DuckDB returns; its errors become one line."""
        try:
            return ask()
        except TfprofError:
            raise
        except Exception as error:
            raise self._explained(error, query) from error

    def _explained(self, error: Exception, query: str) -> BaseException:
        """An error of DuckDB as one of tfprof's."""
        kind, message = type(error).__name__, str(error)
        if kind == "InterruptException":
            return KeyboardInterrupt()
        if kind == "OutOfMemoryException":
            return TfprofError(
                f"The query requires more than {MEMORY} of memory: ask for fewer rows or columns."
            )
        if kind not in _OF_QUERY or self._is_of_store(kind, message):
            return self._database.damaged(error)
        return OptionError(_wrong(kind, message, query))

    def _is_of_store(self, kind: str, message: str) -> bool:
        """Whether an error is about a file of the store that cannot be read."""
        return kind == "InvalidInputException" and self._database.address in message


def _wrong(kind: str, message: str, query: str) -> str:
    """What is wrong with a query, from the error of DuckDB."""
    if "must be at the top level" in message:
        return _ONLY_READS
    if kind == "PermissionException":
        return "A query cannot read other files: it asks the tables of the store."
    if found := _NO_TABLE.search(message):
        return f"Unknown table `{found[1]}`. {nearest(found[1], SQL_TABLES)}"
    if found := _NO_COLUMN.search(message):
        return f"Unknown column `{found[1]}`. {nearest(found[1], _columns_in(query), most=3)}"
    first = _KIND_OF_ERROR.sub("", printable(message.partition("\n")[0]))
    return f"The query cannot be answered: {first.rstrip('.!')}."


def _columns_in(query: str) -> list[str]:
    """The columns of the tables that a query names, or of all tables."""
    words = set(re.findall(r"\w+", query.lower()))
    chosen = [name for name in SQL_TABLES if name in words] or list(SQL_TABLES)
    return list(dict.fromkeys(one for name in chosen for one in SQL_TABLES[name].fields))


def _is_explain(query: str) -> bool:
    return _EXPLAIN.match(query) is not None


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
