"""The packages of the extra `fleet`, which are imported only where they are used."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tfprof.errors import TfprofError


@contextmanager
def needed(package: str, use: str) -> Iterator[None]:
    """Import `package` in this context; if it is not installed, the error says what to do."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != package:
            raise
        raise TfprofError(f"{use} requires {package}: pip install 'tfprof[fleet]'.") from None
