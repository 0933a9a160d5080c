"""Records the profiles of TensorFlow's own `pprof_profiler` for the recorded models.

Needs TensorFlow, and the module from its sources, because its wheels do not contain it:

PYTHONPATH=tests python tests/parity/record_pprof_profiles.py PATH/TO/pprof_profiler.py
"""

from __future__ import annotations

import importlib.util
import json
import lzma
import sys
from types import ModuleType

from parity.test_recorded_pprof_profiles import PROFILES, RUNS, LoggedGraph, run_metadata


def main(path: str) -> None:
    original = loaded(path)
    found = []
    for model in RUNS:
        profiles = original.get_profiles(LoggedGraph(model), run_metadata(model))
        encoded = [(name, one.SerializeToString().hex()) for name, one in profiles.items()]
        found.append((model, encoded))
    PROFILES.write_bytes(lzma.compress(json.dumps(found).encode()))
    print("wrote", PROFILES)


def loaded(path: str) -> ModuleType:
    """The original module; the wheel has the package of its pprof messages elsewhere."""
    from tensorflow.tsl.profiler.protobuf import profile_pb2  # noqa: PLC0415 -- slow to import

    sys.modules["proto"] = ModuleType("proto")
    sys.modules["proto"].profile_pb2 = profile_pb2
    spec = importlib.util.spec_from_file_location("pprof_profiler", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main(sys.argv[1])
