"""Selects the recorded answers of TensorFlow's profiler that are kept in this repository.

    python tests/parity/record_selection.py FOLDER

FOLDER has, for each model, `MODEL/cases.jsonl.gz` (one case per line: the question, its files and
the answer of TensorFlow 2.21) and `MODEL/inputs/` (the files). The selection is written to
`recorded/` next to this script, in the same layout but compressed better: messages and pprof files
are stored as hexadecimal digits, so that xz finds what they have in common. All timelines are kept.
Timelines and pprof files have their own files.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import json
import lzma
import shutil
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).parent / "recorded"

# One case in this many is kept of each group; of small models all are.
EVERY = {
    "mlp_tiny": 1,
    "mlp_resvar": 1,
    "ps_worker": 1,
    "func_session": 1,
    "gpu_synth": 3,
    "keras_tf2": 5,
    "resnet32": 7,
    "attn_seq2seq": 7,
}

# The saved profiles of these are as large as all their other files. Small models have some, too.
WITHOUT_SAVED_PROFILE = ("resnet32", "attn_seq2seq")

WANTS = ("table", "message", "refusal", "survive")
OUTPUTS = ("file", "stdout", "none")

# These had a broken output option, which is missing in the recording. Without it they are valid
# questions, which are recorded elsewhere.
LOST_THEIR_MISTAKE = tuple(
    f"-bad-scope-{number}" for number in ("065", "066", "067", "073", "076", "077")
)

KEPT_KEYS = ("id", "want", "inputs", "view", "options", "table", "message")
TIMELINE_KEYS = ("id", "inputs", "view", "options", "timeline")
PPROF_KEYS = ("id", "inputs", "view", "options", "pprof")
PACKED_KEYS = ("message", "pprof")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the recorded cases are")
    folder = parser.parse_args().folder
    shutil.rmtree(RECORDED, ignore_errors=True)
    for model in EVERY:
        recorded = read(folder / model / "cases.jsonl.gz")
        cases = choose(model, recorded)
        timelines = [case for case in recorded if case["want"] == "timeline"]
        write(RECORDED / model / "cases.jsonl.xz", cases, KEPT_KEYS)
        write(RECORDED / model / "timelines.jsonl.xz", timelines, TIMELINE_KEYS)
        stacks = [case for case in recorded if case["want"] == "pprof" and "command" not in case]
        write(RECORDED / model / "pprof.jsonl.xz", stacks[:: EVERY[model]], PPROF_KEYS)
        for name in sorted({name for case in cases + timelines for name in files(case["inputs"])}):
            pack(folder / model / "inputs" / name, RECORDED / model / "inputs" / f"{name}.gz")
        print(f"{model}: {len(cases)} cases, {len(timelines)} of timelines")


def read(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def choose(model: str, cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Some cases of every group."""
    seen: Counter[str] = Counter()
    chosen = []
    for case in filter(is_kept, cases):
        if model in WITHOUT_SAVED_PROFILE and case["inputs"].get("profile"):
            continue
        if seen[case["group"]] % EVERY[model] == 0:
            chosen.append(case)
        seen[case["group"]] += 1
    return chosen


def is_kept(case: dict[str, Any]) -> bool:
    return (
        case["want"] in WANTS
        and "command" not in case
        and case["output"] in OUTPUTS
        and not case["id"].endswith(LOST_THEIR_MISTAKE)
    )


def files(inputs: dict[str, Any]) -> list[str]:
    """The names of the input files of a case."""
    single = [inputs.get(kind) for kind in ("graph", "op_log", "profile")]
    return [name for name in (*single, *(name for _, name in inputs.get("run_meta", ()))) if name]


def write(path: Path, cases: list[dict[str, Any]], keys: tuple[str, ...]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with lzma.open(path, "wt", preset=9 | lzma.PRESET_EXTREME, encoding="utf-8") as lines:
        for case in cases:
            kept = {key: case[key] for key in keys if key in case}
            for key in set(PACKED_KEYS) & kept.keys():
                kept[key] = zlib.decompress(base64.b64decode(kept[key])).hex()
            lines.write(json.dumps(kept, sort_keys=True) + "\n")


def pack(source: Path, target: Path) -> None:
    """Gzip a file, which may be gzipped already, reproducibly."""
    packed = source.with_name(f"{source.name}.gz")
    data = gzip.decompress(packed.read_bytes()) if packed.exists() else source.read_bytes()
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(gzip.compress(data, mtime=0))


if __name__ == "__main__":
    main()
