"""tfprof reproduces recorded pprof files of TensorFlow 2.21's profiler, byte for byte."""

from __future__ import annotations

import gzip

from test_recorded import all_cases, answer, each_model

from tfprof.outputs import pprof


@each_model
def test_recorded_pprof_files_are_reproduced(model):
    for case in all_cases(model, "pprof"):
        written = gzip.decompress(b"".join(pprof.encode(answer(model, case).view)))

        assert written == bytes.fromhex(case["pprof"]), case["id"]
