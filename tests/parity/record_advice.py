"""Records the advice of TensorFlow's own profiler on the recorded models; needs TensorFlow.

PYTHONPATH=tests python tests/parity/record_advice.py
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from parity.original import Inputs, Original
from tfprof.advisor.registry import CLASSIC
from tfprof.formats.messages import message_class

HERE = Path(__file__).parent
ADVICE = HERE / "recorded_advice.json"


def files(model: Path) -> dict[str, Path | dict[int, Path]]:
    """The graph, the runs by step and the op log of a recorded model."""
    inputs = model / "inputs"
    steps = {int(path.stem.rpartition("_")[2]): path for path in inputs.glob("run_meta_*.gz")}
    return {
        "graph_path": inputs / "graph.pb.gz",
        "run_meta_path": dict(sorted(steps.items())),
        "op_log_path": inputs / "tfprof_log.gz",
    }


def main() -> None:
    found = {}
    with Original() as original:
        for model in sorted((HERE / "recorded").iterdir()):
            given = files(model)
            runs = {step: unpacked(path) for step, path in given["run_meta_path"].items()}
            inputs = Inputs(unpacked(given["graph_path"]), runs, unpacked(given["op_log_path"]))
            _, answer = original.advise(inputs, list(CLASSIC))
            message = message_class("tensorflow.tfprof.AdviceProto").FromString(answer)
            found[model.name] = {name: list(message.checkers[name].reports) for name in CLASSIC}
    ADVICE.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def unpacked(path: Path) -> bytes:
    with gzip.open(path) as file:
        return file.read()


if __name__ == "__main__":
    main()
