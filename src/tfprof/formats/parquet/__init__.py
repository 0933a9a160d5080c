"""Parquet files written and read with numpy alone.

`write` uses one encoding per kind of column, so that a page is an array or two:

| column | Parquet type | encoding |
|---|---|---|
| whole numbers | `INT64` | `DELTA_BINARY_PACKED` |
| flags | `BOOLEAN` | `PLAIN` |
| texts (`Strings`) and `Blobs` | `BYTE_ARRAY` | `DELTA_LENGTH_BYTE_ARRAY` |
| texts with few distinct values (`Coded`) | `BYTE_ARRAY` | `RLE_DICTIONARY` |

Packed numbers have a width of whole bytes, which is the same in a whole page. Pages are compressed
with gzip, whose checksum detects damage. A file has one row group, and no value is null.

Any Parquet reader reads these files. `read` reads only these: of the many encodings and types of
Parquet it knows the ones above. `docs/explanation/saved-profile.md` says why tfprof has a writer of
its own.
"""

from tfprof.formats.parquet.reading import Budget, ParquetError, read
from tfprof.formats.parquet.tables import Blobs, Column, Table
from tfprof.formats.parquet.writing import write

__all__ = ["Blobs", "Budget", "Column", "ParquetError", "Table", "read", "write"]
