"""The pprof files that TensorFlow 2.21's profiler wrote once: tfprof writes them to the byte."""

from __future__ import annotations

import gzip
import json
import lzma

from test_recorded import RECORDED, answer, each_model

from tfprof.outputs import pprof


@each_model
def test_recorded_pprof_files_are_written_again(model):
    with lzma.open(RECORDED / model / "pprof.jsonl.xz", "rt", encoding="utf-8") as lines:
        for case in map(json.loads, lines):
            written = gzip.decompress(b"".join(pprof.encode(answer(model, case).view)))

            assert written == bytes.fromhex(case["pprof"]), case["id"]
