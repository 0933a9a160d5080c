"""An op log written from Python: types and float ops for the ops of a model."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike, fspath
from typing import Self

from tfprof.errors import OptionError
from tfprof.outputs.registry import write_file

_LARGEST = 2**63 - 1  # that the file holds


class OpLog:
    """What a user says of ops: `OpLog().add("pool_logit/DW", types=["pool_logit"]).write(path)`.

    The file is an input like any other, `op_log_path`; its types can be accounted by.
    """

    def __init__(self) -> None:
        self._types: dict[str, dict[str, None]] = {}
        self._float_ops: dict[str, int] = {}

    def add(self, name: str, *, types: Iterable[str] = (), float_ops: int = 0) -> Self:
        """Give the op `name` types, and float ops for one run of it; what it had stays."""
        if not name:
            raise OptionError("An op log needs the name of each op.")
        if isinstance(types, str):
            raise OptionError(f"types is a list; write types=[{types!r}].")
        if not 0 <= float_ops <= _LARGEST:
            raise OptionError(f"float_ops of `{name}` are from 0 to {_LARGEST:,}, not {float_ops}.")
        self._types.setdefault(name, {}).update(dict.fromkeys(types))
        if float_ops:
            self._float_ops[name] = float_ops
        return self

    def write(self, path: str | PathLike[str]) -> None:
        """Write the file; it appears whole or not at all."""
        if not self._types:
            raise OptionError("The op log says nothing yet; add ops to it.")
        from tfprof.formats.messages import message_class  # noqa: PLC0415 -- who writes needs it

        log = message_class("tensorflow.tfprof.OpLogProto")()
        for name, types in self._types.items():
            log.log_entries.add(name=name, types=types, float_ops=self._float_ops.get(name, 0))
        write_file(fspath(path), [log.SerializeToString()])

    def __len__(self) -> int:
        """How many ops it speaks of."""
        return len(self._types)
