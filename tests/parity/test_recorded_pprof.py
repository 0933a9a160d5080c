"""The pprof files that TensorFlow 2.21's profiler wrote once: tfprof writes them to the byte."""

from __future__ import annotations

import gzip

from test_recorded import all_cases, answer, each_model

from tfprof.outputs import pprof


@each_model
def test_recorded_pprof_files_are_written_again(model):
    for case in all_cases(model, "pprof"):
        written = gzip.decompress(b"".join(pprof.encode(answer(model, case).view)))

        assert written == bytes.fromhex(case["pprof"]), case["id"]
