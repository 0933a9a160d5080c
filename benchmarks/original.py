"""Loads a model and asks questions with TensorFlow's own profiler, as its Python API does.

    python benchmarks/original.py JOB

Takes the same job as `ours.py`; requires TensorFlow.
"""

from __future__ import annotations

import ctypes
from pathlib import Path

from phases import Job, Phases


def main() -> None:
    job, phases = Job.given(), Phases()
    with phases.phase("import"):
        import tensorflow as tf  # noqa: F401, PLC0415 -- programs that use the profiler import it
        from tensorflow.core.profiler.tfprof_options_pb2 import OptionsProto  # noqa: PLC0415
        from tensorflow.python.util import _pywrap_tfprof as profiler  # noqa: PLC0415
    with phases.phase(job.load):
        profiler.NewProfiler(Path(job.graph).read_bytes(), Path(job.op_log).read_bytes())
        profiler.AddStep(0, b"", Path(job.run_meta).read_bytes(), b"")
    for question in job.questions:
        with phases.phase(question["task"]):
            options = OptionsProto(**question["options"])
            profiler.Profile(question["view"].encode(), options.SerializeToString())
    profiler.DeleteProfiler()
    ctypes.CDLL(None).fflush(None)  # so that its output comes before the report
    phases.report()


if __name__ == "__main__":
    main()
