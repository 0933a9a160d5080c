"""The errors of programs for TensorFlow's profiler if TensorFlow is not installed."""

from __future__ import annotations

import subprocess
import sys

import pytest

import tfprof

CALLS = [
    "tfprof.profile()",
    "tfprof.Profiler()",
    "tfprof.write_op_log(None, '.')",
    "tfprof.MetadataCaptureHook('.')",
    "tfprof.ProfileContext('.').__enter__()",
]

PROGRAM = """
import sys

sys.modules["tensorflow"] = None

import tfprof

for call in sys.argv[1:]:
    try:
        exec(call)
    except tfprof.CaptureError as error:
        print(call, error)
"""


def test_without_tensorflow_each_call_says_how_to_install_it():
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, *CALLS], capture_output=True, text=True, check=True
    )

    lines = ran.stdout.splitlines()
    assert [line.partition(" Profiling a running program")[0] for line in lines] == CALLS
    assert all("pip install 'tfprof[tensorflow]'" in line for line in lines)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(("",), "needs a folder"), (("d", range(101)), "at most 100 steps")],
)
def test_a_context_rejects_invalid_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        tfprof.ProfileContext(*arguments)
