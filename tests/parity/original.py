"""TensorFlow's own profiler in a separate process, because some questions crash it.

The worker imports TensorFlow once and forks for each question, so a crash ends only the fork and
every question is answered by a fresh profiler. Slowness is not a crash: a question without an
answer is an error.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, Self

IS_INSTALLED = find_spec("tensorflow") is not None and hasattr(os, "fork")

# An answer takes milliseconds; only one that never comes takes so long, also on a busy machine.
_MAX_SECONDS = 120
_MAX_WORKER_SECONDS = 2 * _MAX_SECONDS  # it imports TensorFlow first

# Signals that do not come from a crash, but from this limit, or a system that is out of memory.
_FROM_OUTSIDE = (b"SIGALRM", b"SIGKILL")


@dataclass(frozen=True, slots=True)
class Inputs:
    """The files of a profile as bytes; an empty graph means that there is none."""

    graph: bytes = b""
    run_meta: Mapping[int, bytes] = field(default_factory=dict)  # by step, in order
    op_log: bytes | None = None
    saved: bytes | None = None  # a ProfileProto instead of the other files


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer of the original; the table is None if it had nothing to show."""

    table: str | None
    message: bytes
    stderr: str


class Crashed(Exception):  # noqa: N818 -- an event, not a mistake of the caller
    """The original ended its process or threw a C++ exception."""


class Unanswered(Exception):  # noqa: N818 -- the same
    """The original did not answer, although it did not crash."""


class Original:
    """A worker that answers questions until it is closed."""

    def __init__(self) -> None:
        self._failure = ""
        self._folder = tempfile.mkdtemp()
        self._printed = tempfile.TemporaryFile()  # noqa: SIM115 -- `close` closes it
        self._worker = subprocess.Popen(
            [sys.executable, __file__, self._folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._printed,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        try:
            self._worker.communicate(timeout=_MAX_SECONDS)
        except subprocess.TimeoutExpired:
            self._worker.kill()
            self._worker.communicate()
        self._printed.close()
        shutil.rmtree(self._folder)

    def ask(self, inputs: Inputs, view: str, options: Mapping[str, Any]) -> Reply:
        """The table from its legend on, the message and the standard error."""
        message, report, stderr = self._request("profile", inputs, view, options)
        # The warning and the explanations before the legend are not part of the table.
        table = report.decode("utf-8", "ignore").partition("\nProfile:\n")[2] or None
        return Reply(table, message, stderr.decode("utf-8", "replace"))

    def timelines(self, inputs: Inputs, view: str, options: Mapping[str, Any]) -> dict[str, bytes]:
        """The timelines that it writes, by the suffix of their names."""
        files = json.loads(self._request("timeline", inputs, view, options)[0])
        return {suffix: text.encode() for suffix, text in files.items()}

    def advise(self, inputs: Inputs, checkers: Sequence[str]) -> tuple[str, bytes]:
        """The printed reports of its checkers, and the AdviceProto."""
        options = {name: {} for name in checkers}
        message, report, _ = self._request("advise", inputs, options=options)
        return report.decode("utf-8", "replace"), message

    def save(self, inputs: Inputs) -> bytes:
        """The ProfileProto that it saves for `inputs`."""
        return self._request("save", inputs)[0]

    def timeline(self, run_meta: bytes, **options: bool) -> bytes:
        """The timeline of a step by TensorFlow's Python code, not by its engine."""
        return self._request("step timeline", Inputs(run_meta={0: run_meta}), options=options)[0]

    def _request(
        self, task: str, inputs: Inputs, view: str = "", options: Mapping[str, Any] | None = None
    ) -> list[bytes]:
        header = {
            "task": task,
            "view": view,
            "options": dict(options or {}),
            "steps": list(inputs.run_meta),
        }
        files = [inputs.saved or b"", inputs.graph, inputs.op_log or b"", *inputs.run_meta.values()]
        question = json.dumps(header)
        if self._failure:  # hypothesis would ask again, to find a smaller example
            raise Unanswered(self._failure)
        try:
            _send(self._worker.stdin, [question.encode(), *files])
            if not select.select([self._worker.stdout], [], [], _MAX_WORKER_SECONDS)[0]:
                self._fail(f"no reply within {_MAX_WORKER_SECONDS} seconds to {question}")
            trouble, *answer = _receive(self._worker.stdout)
        except (EOFError, BrokenPipeError):
            self._fail(f"the worker ended instead of answering {question}")
        if trouble in _FROM_OUTSIDE:
            self._fail(f"{trouble.decode()} ended the process that answers {question}")
        if trouble:
            raise Crashed(trouble.decode())
        return answer

    def _fail(self, reason: str) -> NoReturn:
        size = os.fstat(self._printed.fileno()).st_size
        printed = os.pread(self._printed.fileno(), 4000, max(0, size - 4000))
        self._failure = f"{reason}; printed: {printed.decode(errors='replace')}"
        raise Unanswered(self._failure)


def _send(stream: BinaryIO, parts: list[bytes]) -> None:
    """Write the number of parts, then each part after its length."""
    stream.write(struct.pack("<I", len(parts)))
    for part in parts:
        stream.write(struct.pack("<I", len(part)))
        stream.write(part)
    stream.flush()


def _receive(stream: BinaryIO) -> list[bytes]:
    """The parts that `_send` wrote; raises EOFError if the other side has ended."""

    def number() -> int:
        data = stream.read(4)
        if len(data) < 4:
            raise EOFError
        return struct.unpack("<I", data)[0]

    return [stream.read(number()) for _ in range(number())]


def _serve(folder: Path) -> None:
    """Answer requests from the standard input until it is closed."""
    requests, replies = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # the engine prints to the standard output, which is used for the replies
    # Imported once, before the forks.
    from tensorflow.python.profiler import model_analyzer  # noqa: PLC0415
    from tensorflow.python.util import _pywrap_tfprof  # noqa: PLC0415

    with suppress(EOFError):
        while True:
            request = _receive(requests)
            _send(replies, _answer_in_fork(request, folder, _pywrap_tfprof, model_analyzer))


def _answer_in_fork(request: list[bytes], folder: Path, engine: Any, analyzer: Any) -> list[bytes]:
    """The error (or nothing), the engine's answer, its report and its standard error."""
    answer, report, trouble, stderr = (
        folder / name for name in ("answer", "report", "trouble", "stderr")
    )
    for path in folder.iterdir():
        path.unlink()
    process = os.fork()
    if process == 0:
        try:
            signal.alarm(_MAX_SECONDS)
            os.dup2(os.open(stderr, os.O_CREAT | os.O_WRONLY), 2)
            answer.write_bytes(_answer(request, report, engine, analyzer))
        except BaseException as error:  # noqa: BLE001 whatever it is, it goes to the other side
            trouble.write_text(f"{type(error).__name__}: {error}")
        finally:
            os._exit(0)
    _, status = os.waitpid(process, 0)
    if os.WIFSIGNALED(status):
        trouble.write_text(signal.Signals(os.WTERMSIG(status)).name)
    return [
        path.read_bytes() if path.exists() else b"" for path in (trouble, answer, report, stderr)
    ]


def _answer(request: list[bytes], report: Path, engine: Any, analyzer: Any) -> bytes:
    """Add the inputs as TensorFlow's `Profiler` does, then execute the request."""
    header, saved, graph, op_log, *run_metas = request
    asked = json.loads(header)
    if asked["task"] == "step timeline":
        return _step_timeline(run_metas[0], asked["options"])
    if saved:
        path = report.with_name("saved")
        path.write_bytes(saved)
        engine.ProfilerFromFile(str(path))
    else:
        engine.NewProfiler(graph, op_log)
    for step, run_meta in zip(asked["steps"], run_metas, strict=True):
        engine.AddStep(step, graph, run_meta, op_log)
    if asked["task"] == "save":
        return engine.SerializeToString()
    if asked["task"] == "advise":
        os.dup2(os.open(report, os.O_CREAT | os.O_WRONLY), 1)
        advice = analyzer._build_advisor_options(asked["options"])
        return engine.Profile(b"advise", advice.SerializeToString())
    kind = "timeline" if asked["task"] == "timeline" else "file"
    options = analyzer._build_options(asked["options"] | {"output": f"{kind}:outfile={report}"})
    message = engine.Profile(asked["view"].encode(), options.SerializeToString())
    if kind == "file":
        return message
    written = {path.name: path.read_text() for path in report.parent.glob(f"{report.name}_*")}
    return json.dumps(written).encode()


def _step_timeline(run_meta: bytes, options: dict[str, bool]) -> bytes:
    from tensorflow.core.protobuf.config_pb2 import RunMetadata  # noqa: PLC0415
    from tensorflow.python.client.timeline import Timeline  # noqa: PLC0415

    timeline = Timeline(RunMetadata.FromString(run_meta).step_stats)
    return timeline.generate_chrome_trace_format(**options).encode()


if __name__ == "__main__":
    _serve(Path(sys.argv[1]))
