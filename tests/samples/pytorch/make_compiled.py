"""Writes `compiled.json.gz` and `compiled.log`: the trace of a program, and its log."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

HERE = Path(__file__).parent
PROGRAM = HERE / "compiled_program.py"
ARTIFACTS = ("inductor_provenance_tracking_kernel_stack_traces", "fx_graph_cache_")
METRICS = "compilation_metrics"
FUNCTION = ("compile_id", "co_name", "co_filename", "co_firstlineno")


def run(folder: Path) -> None:
    """Run the program in a folder, with a new cache."""
    settings = {
        "INDUCTOR_PROVENANCE": "1",
        "TORCH_TRACE": str(folder / "log"),
        "TORCHINDUCTOR_CACHE_DIR": str(folder / "cache"),
    }
    command = [sys.executable, str(PROGRAM)]
    subprocess.run(command, cwd=folder, env=os.environ | settings, check=True)


def is_kept(event: dict[str, Any]) -> bool:
    """Whether an event is none of the calls inside PyTorch, which are most of a trace."""
    is_call = event.get("cat") == "python_function"
    return not is_call or event["name"].startswith(("nn.Module", PROGRAM.name, "cache"))


def short_record(line: str) -> str:
    """A record of a log if it is about kernels, without what else is in it; otherwise empty."""
    start, _, text = line.partition("] ")
    record = json.loads(text)
    if METRICS in record:
        record[METRICS] = {key: record[METRICS][key] for key in FUNCTION}
    elif not record.get("artifact", {}).get("name", "").startswith(ARTIFACTS):
        return ""
    return f"{start}] {json.dumps(record)}"


def short_payload(line: str) -> str:
    """The payload of a record, without the parts of a key, which are most of it."""
    payload = json.loads(line)
    payload.pop("components", None)
    return f"\t{json.dumps(payload)}"


def short_log(log: str) -> str:
    """The records of a log that are about kernels."""
    kept: list[str] = []
    is_payload_kept = False
    for line in log.splitlines():
        if not line.startswith("\t"):
            record = short_record(line)
            kept += [record] if record else []
            is_payload_kept = bool(record)
        elif is_payload_kept:
            kept.append(short_payload(line))
    return "\n".join(kept) + "\n"


def main() -> None:
    with TemporaryDirectory() as name:
        folder = Path(name)
        run(folder)

        def plain(text: str) -> str:
            return text.replace(str(HERE), "/home/user").replace(name, "/home/user")

        [log] = (folder / "log").glob("*.log")
        (HERE / "compiled.log").write_text(plain(short_log(log.read_text("utf-8"))), "utf-8")
        trace = json.loads((folder / "trace.json").read_text("utf-8"))
        trace["traceEvents"] = [event for event in trace["traceEvents"] if is_kept(event)]
        packed = gzip.compress(plain(json.dumps(trace)).encode(), mtime=0)
        (HERE / "compiled.json.gz").write_bytes(packed)


if __name__ == "__main__":
    main()
