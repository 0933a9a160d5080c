"""Write op logs from Python: types and float ops for the ops of a model."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike, fspath
from typing import Self

from tfprof import atomic_files
from tfprof.errors import OptionError

_MAX_INT64 = 2**63 - 1


class OpLog:
    """Types and float ops for ops: `OpLog().add("pool/DW", types=["pool"]).write(path)`.

    Load the file as `op_log_path`; the types can then be matched by `account_type_regexes`.
    """

    def __init__(self) -> None:
        self._types: dict[str, dict[str, None]] = {}
        self._float_ops: dict[str, int] = {}

    def add(self, name: str, *, types: Iterable[str] = (), float_ops: int = 0) -> Self:
        """Add types to the op `name`, and set its float ops per run unless `float_ops` is 0."""
        if not name:
            raise OptionError("The name of an op is empty; an op log needs the name of each op.")
        if isinstance(types, str):
            raise OptionError(f"types must be a list: write types=[{types!r}].")
        if not 0 <= float_ops <= _MAX_INT64:
            raise OptionError(
                f"float_ops of `{name}` must be between 0 and {_MAX_INT64:,}, not {float_ops}."
            )
        self._types.setdefault(name, {}).update(dict.fromkeys(types))
        if float_ops:
            self._float_ops[name] = float_ops
        return self

    def write(self, path: str | PathLike[str]) -> None:
        """Write the file atomically."""
        if not self._types:
            raise OptionError("The op log is empty: add ops to it with add().")
        from tfprof.formats.messages import message_class  # noqa: PLC0415 -- only needed to write

        log = message_class("tensorflow.tfprof.OpLogProto")()
        for name, types in self._types.items():
            log.log_entries.add(name=name, types=types, float_ops=self._float_ops.get(name, 0))
        atomic_files.write(fspath(path), [log.SerializeToString()])

    def __len__(self) -> int:
        """The number of ops in the log."""
        return len(self._types)
