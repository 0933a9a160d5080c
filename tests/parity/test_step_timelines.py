"""The timeline of a step is the same as that of TensorFlow's Python code, byte for byte.

The timelines of the samples are recorded (`record_timelines.py`), so TensorFlow is not needed.
"""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import pytest

from sources.tf_files import content
from tfprof.formats import step_stats
from tfprof.formats.records import Records
from tfprof.outputs import step_timeline

SAMPLES = ("mlp_tiny/run_meta_1", "mlp_tiny/run_meta_9", "gpu_synth/run_meta_0")


def recording(sample: str) -> Path:
    """The file with the recorded timeline of a sample."""
    return Path(__file__).parent / "timelines" / f"{sample.replace('/', '_')}.json.xz"


def timeline(data: bytes, **options: bool) -> bytes:
    """The timeline that tfprof writes, which is valid JSON."""
    written = b"".join(step_timeline.encode(step_stats.decode(Records("r", data)), **options))
    assert json.loads(written)["traceEvents"]
    return written


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_sample_has_the_recorded_timeline(sample):
    assert timeline(content(sample)) == lzma.decompress(recording(sample).read_bytes())
