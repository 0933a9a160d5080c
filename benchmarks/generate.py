"""Generates the files of a model of any size: a graph, one recorded step and an op log.

    python benchmarks/generate.py OUT_DIR --ops 1e5 [--text]

The same size and seed give the same bytes. Records are written one by one, so memory hardly grows
with the model.
"""

from __future__ import annotations

import argparse
import shutil
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import BinaryIO

import encoding
from towers import Model, Op

_VERSIONS = b"\x22\x03\x08\x9b\x12"  # versions { producer: 2331 }
_VERSIONS_TEXT = "versions {\n  producer: 2331\n}\n"


@dataclass(frozen=True)
class Files:
    """The paths of the files of a model; `graph_text` exists only if it was requested."""

    folder: Path

    @property
    def graph(self) -> Path:
        return self.folder / "graph.pb"

    @property
    def graph_text(self) -> Path:
        return self.folder / "graph.pbtxt"

    @property
    def run_meta(self) -> Path:
        return self.folder / "run_meta"

    @property
    def op_log(self) -> Path:
        return self.folder / "tfprof_log"


def generate(folder: Path, op_count: int, *, with_text: bool = False, seed: int = 0) -> Files:
    """Write the files of a model with `op_count` ops to `folder`."""
    model = Model.of_size(op_count, seed)
    folder.mkdir(parents=True, exist_ok=True)
    files = Files(folder)
    with ExitStack() as stack:
        writers: list[_Graph | _GraphText | _RunMetadata | _OpLog] = [
            _Graph(stack.enter_context(files.graph.open("wb"))),
            _RunMetadata(stack.enter_context(files.run_meta.open("wb")), seed),
            _OpLog(stack.enter_context(files.op_log.open("wb"))),
        ]
        if with_text:
            writers.append(_GraphText(stack.enter_context(files.graph_text.open("wb"))))
        for op in model.ops():
            for writer in writers:
                writer.add(op)
        for writer in writers:
            writer.finish()
    return files


class _Graph:
    """Writes a binary GraphDef."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def add(self, op: Op) -> None:
        self._file.write(encoding.framed(1, encoding.node(op)))

    def finish(self) -> None:
        self._file.write(_VERSIONS)


class _GraphText:
    """Writes a GraphDef as protobuf text."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def add(self, op: Op) -> None:
        self._file.write(encoding.node_text(op).encode())

    def finish(self) -> None:
        self._file.write(_VERSIONS_TEXT.encode())


class _RunMetadata:
    """Writes RunMetadata; buffers the entries in a file until their total length is known."""

    def __init__(self, file: BinaryIO, seed: int) -> None:
        self._file = file
        self._step = encoding.Step(seed)
        self._entries = TemporaryFile(dir=Path(file.name).parent)  # noqa: SIM115 -- see `finish`
        self._entries.write(encoding.framed(1, encoding.DEVICE.encode()))

    def add(self, op: Op) -> None:
        stats = self._step.stats(op)
        if stats is not None:
            self._entries.write(encoding.framed(2, stats))

    def finish(self) -> None:
        length = self._entries.tell()
        device = encoding.header(1, length)
        self._file.write(encoding.header(1, len(device) + length) + device)
        self._entries.seek(0)
        with self._entries:
            shutil.copyfileobj(self._entries, self._file)


class _OpLog:
    """Writes an OpLogProto."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._log = encoding.Log()

    def add(self, op: Op) -> None:
        self._file.write(encoding.framed(1, self._log.entry(op)))

    def finish(self) -> None:
        self._file.write(self._log.strings())


def op_count(text: str) -> int:
    """Parse a number of ops, such as `1e5` or `100000`."""
    count = float(text)
    if count != int(count):
        raise ValueError(f"{text} is not a whole number")
    return int(count)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, metavar="OUT_DIR")
    parser.add_argument("--ops", type=op_count, default=100_000, help="number of ops (1e5)")
    parser.add_argument("--text", action="store_true", help="write graph.pbtxt as well")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    try:
        files = generate(args.folder, args.ops, with_text=args.text, seed=args.seed)
    except ValueError as error:
        parser.error(str(error))
    for path in (files.graph, files.graph_text, files.run_meta, files.op_log):
        if path.exists():
            print(f"{path}  {path.stat().st_size / 2**20:.1f} MiB")


if __name__ == "__main__":
    main()
