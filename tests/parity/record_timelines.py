"""Records the timelines of the samples by TensorFlow's own code; needs TensorFlow.

PYTHONPATH=tests python tests/parity/record_timelines.py
"""

from __future__ import annotations

import lzma

from parity.original import Original
from parity.test_step_timelines import SAMPLES, recording
from sources.tf_files import content


def main() -> None:
    with Original() as original:
        for name in SAMPLES:
            timeline = original.timeline(content(name), show_memory=True)
            recording(name).write_bytes(lzma.compress(timeline))
            print("wrote", recording(name))


if __name__ == "__main__":
    main()
