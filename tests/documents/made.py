"""Writes the files of a small model, op by op, for which a command prints a given listing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Self

from google.protobuf import text_format

from model_files import GraphDef, OpLogProto, RunMetadata, add_node

CPU = "/job:localhost/replica:0/task:0/cpu:0"


class Model:
    """A builder of a graph, one recorded step and an op log."""

    def __init__(self) -> None:
        self._graph = GraphDef()
        self._run = RunMetadata()
        self._log = OpLogProto()
        self._devices = {}
        self._strings = {}

    def add(
        self,
        name: str,
        kind: str = "Op",
        *,
        inputs: Sequence[str] = (),
        shape: Sequence[int] | None = None,
        micros: int = 0,
        size: int = 0,
        device: str = CPU,
        float_ops: int = 0,
        code: Sequence[str] = (),
    ) -> Self:
        """Add an op; without time and bytes it did not run.

        `code` is its call stack, outermost first, each call as printed in a listing.
        """
        add_node(self._graph, name, kind, inputs, shape=shape)
        if micros or size:
            self._add_run(name, micros, size, device)
        if float_ops or code:
            entry = self._log.log_entries.add(name=name, float_ops=float_ops)
            for call in code:
                file, line, function, text = map(_whole, call.split(":", 3))
                entry.code_def.traces.add(
                    file_id=self._string(file),
                    lineno=int(line),
                    function_id=self._string(function),
                    line_id=self._string("" if text == "none" else text),
                )
        return self

    def write(self, folder: Path) -> None:
        """Write `graph.pbtxt`, `run_meta` and `tfprof_log` to a folder."""
        for text, number in self._strings.items():
            self._log.id_to_string[number] = text
        (folder / "graph.pbtxt").write_text(text_format.MessageToString(self._graph), "utf-8")
        (folder / "run_meta").write_bytes(self._run.SerializeToString())
        (folder / "tfprof_log").write_bytes(self._log.SerializeToString())

    def _add_run(self, name: str, micros: int, size: int, device: str) -> None:
        if device not in self._devices:
            self._devices[device] = self._run.step_stats.dev_stats.add(device=device)
        entry = self._devices[device].node_stats.add(
            node_name=name, all_start_micros=1, op_end_rel_micros=micros
        )
        if size:
            entry.memory.add(allocator_name="cpu", total_bytes=size)

    def _string(self, text: str) -> int:
        return self._strings.setdefault(text, len(self._strings) + 1)


def _whole(word: str) -> str:
    """A word that is printed like this one: a word that ends in dots was longer."""
    return word.removesuffix("...") + "_and_more" if word.endswith("...") else word
